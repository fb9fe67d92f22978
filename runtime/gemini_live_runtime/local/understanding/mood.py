"""Tell requests from sentences that only speak of a thing.

"Would a salad be extra?", "suppose I pay it all", "my friend says the soup is good" and "I'll do it myself" ask for
nothing. Neither does a remark such as "great, it's raining" after a question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from gemini_live_runtime.local.language.idioms import in_plain_words
from gemini_live_runtime.local.language.openings import OPENINGS
from gemini_live_runtime.local.language.polite_conditions import POLITE_CONDITION
from gemini_live_runtime.local.language.vocabulary import EVERYDAY_WORDS, asks, base_forms
from gemini_live_runtime.local.language.words import parse_number


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _not_after(*words: str) -> str:
    return "".join(rf"(?<!\b{word} )" for word in words)


_PRONOUN = "(?:i|we|you|it|he|she|they|that|this|there)"
_NUMBER = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty"
    r"|ninety)\b"
)
_OK = "(?:possible|ok|okay|all right|alright|fine|doable)"

_PERSON = (
    "(?:boss|chief|wife|husband|partner|son|daughter|mother|father|mum|mom|dad|parents|kids?|child|children|friends?"
    "|brother|sister|uncle|aunt|cousin|nephew|niece|neighbou?rs?|colleagues?|doctor|guests?|man|men|woman|women|lady"
    "|ladies|guys?|people|person|manager|waiter|concierge|driver|technician|landlord|girlfriend|boyfriend)"
)

_OPENING = r"(?:(?:ok|okay|yes|right|so|well|alright|fine|wait|hold on|hang on|and|but|sure|all right) )*"
_AT_WORK = (
    "(?:restarting|rebooting|resetting|testing|checking|doing|trying|unplugging|plugging|switching|turning|unpacking)"
)
"""Verbs of what people say that they are doing themselves."""

_ASKING = _any_of(
    rf"^(?:should|must|am|had|ought|has|shall(?! we (?:say|make)\b)) (?:{_PRONOUN}|the|my|your)\b",
    r"^have (?:i|we|they|you(?! got\b))\b",
    rf"^would (?!.*\b(?:be {_OK}|work|do|suit)\b|you\b|(?:some|any)(?:one|body)\b|(?:it|that) be too much\b)",
    rf"^(?:can|could) (?!{_PRONOUN}\b|some|any|my\b|our\b|the\b)\w+ be\b",
    r"^would you (?:have|eat|drink|take|choose|pick|go for|prefer|order|recommend)\b",
    r"^(?:is|are) there (?:a|an|any|some) .*\b(?:in|near|on|by|behind|next to) (?:the|here|my|this)\b",
    r"^any (?!chance\b|time\b|of\b)\w+(?: \w+)?$",
    rf"(?<!^) or (?:do|should|shall|is|are|must) {_PRONOUN}\b",
    # "Eighty is what I can pay" tells, and asks nothing.
    r"(?:"
    + _not_after("knows", "is", "are")
    + r"\bwhat|\b(?:is|are) what (?!i\b|we\b))"
    + r"(?! (?:about|else|the|a)\b| (?:i|we) (?:want|wanted|need|would|ordered|asked|said)\b)\b",
    r"\bwhy(?! (?:not|do(?:es)? not)\b)\b",
    r"\bhow(?! (?:about|ever)\b| (?:soon|quickly) can\b)\b",
    _not_after("bit", "part", "point", "stage") + r"\b(?:where|which|whose)\b|^who\b",
    r"\bwhen (?:is|does|do|will|are|can|did|should|was)\b",
    r"^(?:can|could|does|do|should|may|would) (?:one|people|others|guests|customers)\b|\bfor (?:whom|who)$",
    r"\b(?:tell|telling)(?: me| us)?(?: more| something| a bit)? about\b",
    _not_after("wondering", "wonder", "check", "see") + r"\bwhether\b",
    # "isn't it?", but not "that is it".
    "(?<!^)" + _not_after("that", "this", "here") + rf"\b(?:is|are|was|does|did|have|has)(?: not)? {_PRONOUN}$",
    # "and the fish, how is it?"
    "(?<!^)"
    + _not_after("that", "this", "here")
    + r"\b(?:is|are|was|does|has|how (?:is|are|much|long|big|does)[\w ]{0,12}?) (?:it|that|they|this|those|these)\b"
    + rf"(?! (?:{_OK}|work|suit|you)\b)",
)
"""Questions that want to know something."""

_SUPPOSING = _any_of(
    _not_after("i") + r"\bsuppose\b",
    r"\b(?:i|we) would (?!like|love|want|need|appreciate|prefer|rather|be)\w+ .*\bif\b",
    r"\b(?:supposing|imagine|pretend|hypothetically|theoretically|wish (?:i|we)|maybe not|or not)\b",
    r"\b(?:some|one) day\b|\bmight\b(?! (?:i|we|as well)\b)|\bwould (?:hate|never|not)\b"
    r"|\bwould be (?:silly|stupid|foolish|crazy|mad|rude|wrong|pointless)\b",
    r"\bafter (?:i|we) (?!did\b|had\b|was\b|were\b|\w+ed\b)",
    r"\b(?:(?:can|could) (?:i|we)|possible to) (?:still )?\w+ .*\blater\b",
    r"\band (?:i|we) (?:will not|would (?!like|love|want|need)|will be)\b",
    _not_after("me", "us", "up", "know", "say", "shout", "buzz", "ring")
    + r"\b(?:once|when|whenever|as soon as) (?:i|we|he|she|they|it|my \w+|our \w+|the \w+) (?!can\b)",
    _not_after("see", "check", "wondering", "wonder", "know", "out", "test") + rf"\bif (?!{POLITE_CONDITION})",
    _not_after("i", "we", "it", "that", "this", "you")
    + r"(?<!^)\bwould (?!(?:not )?(?:you|like|love|be|do|go|hit|suit|work|also|please|rather|prefer|want|really|some"
    + r"|need|appreciate)\b)",
)
"""Conditions and thoughts."""

_OF_OTHERS = _any_of(
    _not_after("i")
    + r"\b(?:said|says|reads|told (?:me|us|him|her|them)|tells|thinks|reckons|recommends|recommended|heard|claims"
    + r"|claimed|suggested|promised)\b(?! to\b| (?:he|she|they) (?:will|would|want|wants|like)\b)",
    rf"^(?:(?:and|but|so|well|because) )?(?:my|our|his|her|their|the|some) {_PERSON} "
    r"(?!and (?:i|me|my)\b|(?:says|said) (?:she|he|they) (?:will|would|wants?)\b"
    r"|(?:also |really |just )?(?:wants?|needs?|fancy|fancies)\b"
    r"|(?:would|will|is going to) (?:like|love|have)\b|is having\b|is (?:not )?(?:coming|joining)\b)",
    r"\bwho (?:was|were|is|has|had)\b",
    r"\b(?:guy|man|woman|lady|bloke|couple|customer|person|people|family) "
    r"(?:behind|next to|over there|in front|beside)\b",
    r"\b(?:let me|(?:do you )?want me to) (?:just )?(?:restart|reboot|reset|test|check|try|do|cancel|pay|book)\b",
    r"\btell (?:my|our|the) \w+",
    r"\byou (?:should|could|would|might) (?:not )?have \w+",
    r"\bnext table\b|\byou (?:charged|forgot|brought|gave|took)\b",
    r"\bmy (?:son|daughter|wife|husband|train|flight|room|bus|friend) (?:is|was|arrives|leaves|comes)\b",
    r"\b(?:my|the) \w+ (?:can |could |will |would )?pays?\b",
    r"\b(?:friends?|brothers?|sisters?|colleagues?|neighbou?rs?|uncle|aunt|cousin|boss) (?:had |has |have |will )?"
    r"(?:booked|ordered|cancel|cancels|cancelled|canceled|restarted)\b",
)
"""Words and deeds of others."""

_TAKEN_BACK = _any_of(
    r"\b(?:anything|everything|everyone|all) (?:but|except|besides)\b",
    r"\b(?:maybe|perhaps|or) not$",
    r"\b(?:joking|kidding|pulling your leg|(?:only|just) testing)\b",
    r"\b(?:people|they|some) say\b|\bi (?:hear|heard|read)\b(?! you\b)",
    r"\b(?:he|she|they|it|you) (?:said|says|told|thinks|claims|claimed)\b(?! to\b)",
    r"^(?:suppose|supposing|imagine|what if)\b|^(?:(?:and|but|so|well) )?were (?:i|we|he|she|it|they|the|my)\b",
    rf"\blet us (?:say|suppose|assume)\b|\b(?:until|unless) {_PRONOUN}\b|\bbefore you\b|^should {_PRONOUN} .*\bthen\b",
    rf"^(?:(?:oh|well|yes) )*(?:oh sure|yeah right|yeah sure(?= \w))\b(?! {_PRONOUN} (?:can|could|will)\b)"
    r"(?!.*\bplease\b)",
    r"^oh (?:lovely|great|good|brilliant|wonderful|fantastic|joy) "
    r"(?!(?:it|that|everything) (?:is|has|works|did)\b|.*\b(?:please|i|we|you|give|bring|book|thanks)\b)",
    r"\b(?:what|how) do you mean\b|\b(?:as if|made of money|work(?:s|ed)? wonders)\b",
    r"\bjust what (?:i|we) (?:needed|wanted)$|\bhow (?:lovely|nice|wonderful|kind|convenient|thoughtful|generous)$",
    r"\b(?:but|and|only|just) (?:only )?(?:after|before) (?:i|we|my|the)\b|\bonly (?:when|once) (?:i|we|my|the)\b",
    r"\bthat (?:always|never) |\bwho (?:needs|wants|cares)\b",
    r"\b(?:pity|shame|too bad) (?:that )?(?:i|we|you|it|the|my)\b",
    r"\b(?:in (?:your|my) dreams|dream on|fat chance|pigs (?:might )?fly|hell freezes|you wish)\b|\b(?:eh|huh)$",
    r"\bwhen (?:i am|we are) (?:at work|working|away|asleep|busy|abroad|driving)\b",
    r"\bwould (?:be|have been) (?:nice|lovely|great|good|tempting|tasty|delicious)\b.*\bbut "
    r"(?:i|we|my|our|it|that|this|not|no)\b(?! (?:would|will|can|could) )",
    r"\bbut (?:i|we) (?:should not|must not|better not|had better not|are allergic|am allergic)\b|\bon a diet\b",
    r"\b(?:i|we) would (?!like|love)\w+ .*\bbut\b|\bwould agree if\b|\bbut (?:i|we) (?:can not|am not|are not)\b",
    r"\bbut (?:he|she|they|it|(?:the|my|our|his|her) \w+) (?:is|are|has|will|can|does|do|would|could) not\b",
    r"\b(?:says|said|reads|writes) (?:my|our|the|his|her|a|an)\b",
    _not_after("it", "this", "that", "i", "we") + r"\bcan wait$",
)
"""Words that take the rest of the sentence back, or show that it is not meant."""

_LETS_WAIT = (
    "can", "could", "will", "would", "not", "to", "i", "we", "you", "can it", "could it", "will it", "does it",
    "let it", "make it", "can that", "me", "him", "her", "long", "the",
)  # fmt: skip
"""Words before a "wait" that holds nothing up: "it can wait", "how long is the wait"."""

_OFF = (
    "(?:never ?mind|forget (?:it|that|about (?:it|that))|leave (?:it|that)(?: be)?|do not(?: bother| do (?:it|that))?"
    "|(?:scrap|scratch|cancel|stop|drop|skip|undo) (?:it|that)|stop|nothing|not now|not yet|no|better not|rather not"
    rf"|{_not_after(*_LETS_WAIT)}wait"
    "|wait no|no way|no chance|(?:certainly|of course|absolutely|definitely|maybe|perhaps) not"
    "|not (?:me|us|today|tonight|likely|a chance|on your life|this time))"
)
_CALLED_OFF = re.compile(
    rf"\b(?:{_OFF}|on second thoughts?)(?: (?:please|thanks|thank you|then|for now|after all|actually|sorry))*$"
)
"""Words at the end of a sentence that call off the rest of it."""

_CORRECTED = re.compile(r"(?<!^)\b(?:no|oh) (?:hold on|hang on|wait|sorry|actually|rather|i mean|make (?:it|that))\b")
"""Words behind which stands what is meant instead."""

_SPOKEN_OF = _any_of(
    _not_after("for", "by", "to", "of") + r"\b(?:myself|ourselves|himself|herself|themselves|yourself|yourselves)\b",
    rf"(?:^(?:(?:but|and|so|well|no|oh) )*(?:i|we) have |\b(?:i|we) have (?:got|already|just|only) )"
    rf"(?:(?:got|already|just|only) )*(?:(?:an?|the|my|our|some|\d+)\b|{_NUMBER})"
    r"(?!.*\b(?:please|want|need|would like)\b)",
    rf"^{_OPENING}(?:(?:i am|we are|it is|(?:he|she) is) (?:now |just |already |busy )*)?{_AT_WORK} "
    rf"(?:it|that|this|the \w+|my \w+)\b(?!.*\b(?:please|{_PRONOUN} (?:can|could|would))\b)",
    rf"^{_OPENING}(?:i am|we are|it is|he is|she is) (?:now |just |already |busy )*{_AT_WORK}\b(?!.*\bplease\b)",
    r"\b(?:i|we|they) (?:(?:both|all|also|really|quite|do|always|only) )*like\b|^(?:(?:yes|ok|oh|well) )*i know$",
    r"^(?:it|that|this) is (?:an?|the|some|my) (?!yes\b|deal\b|date\b|emergency\b|matter\b|(?:\w+ )?(?:\d|"
    + _NUMBER
    + r"))\w+",
    r"^(?:both|all|some|none|most) of (?:us|you|them) (?:are|is|were|have)\b",
    r"\b(?:i|we|he|she|they) (?:have to|has to|needs? to|must|(?:have |has )?got to)"
    r" (?:be (?:there|here|home|back|at|in|out|somewhere)|leave(?! (?:an?|him|her|it|my|our|word)\b)"
    r"|arrive|catch|check (?:in|out)|go (?:to|home|out))\b",
    rf"\bmake (?:the|my|our|that|this) \w+ (?!an?\b|that\b|it\b|into\b|for\b|please\b|\d|{_NUMBER})\w+",
    _not_after("as")
    + r"\b(?:always|usually|normally|nowadays|these days|every (?:day|night|morning)|drink .* at home)\b",
    r"\bright (?:next|by|in|on|behind|opposite|beside|across|over)\b",
    r"\b(?:except|excluding|apart from|other than|rather than)\b",
    _not_after("how", "what", "reminded", "reminder", "me", "just")
    + rf"\b(?:about (?!right\b|\d|an?\b|half\b|quarter\b|noon\b|now\b|it$|{_NUMBER})|between\b)",
    r"\b(?:is|are) (?:a lot|(?:far )?too (?:many|much|early|late|few)|plenty)\b",
    r"^\w+ is (?:my|our|his|her)\b|\bsmell|^there (?:is|was)\b(?!.*\bof us\b)",
    r"^(?:so )?that (?:is|was|makes) (?:one|two|three|four|five|six|\d+)\b(?!.*\bplease\b)",
)
"""Habits, and things done by others, left out, told about, noticed or counted again."""

_WISHES = _any_of(
    r"\b(?:please|(?:can|could|may|might) (?:i|we|you)|(?:will|would) you|(?:i|we) (?:will|would like)|want|need)\b",
    r"\b(?:give|bring|add|order|get|take|book|set|make|put|reserve|call|test|restart)\b",
    r"\b(?:i (?:agree|accept|understand)|agreed|deal|urgent|emergency|works|working|go ahead)\b",
)
"""Words of an open wish: it stays one beside a question."""

_IN_GENERAL = _any_of(
    r"^(?:(?:and|but|so|well|no) )*(?:what if|suppose|supposing|imagine|in case)\b"
    r"|\bif (?:i|we) (?:had|was|were|get|got)\b",
    r"^(?:who|whose)\b|\b(?:nobody|no one) .*\b(?:has|had)\b|\bif (?:somebody|someone|anybody|anyone)\b",
    r"^(?:do|does|did|is|are|how|what|why|when|(?:can|could)(?! (?:you|i|we|some\w+)\b))\b(?! not\b)"
    r"(?=.*\b(?:people|your|you ever|ever|usually|somebody|others|nurses|doctors)\b)"
    r"(?!.*\b(?:my|i have|i am|for me)\b)",
)
"""Suppositions, and questions about people in general."""

_WELL = "(?:fine|ok|okay|all right|alright|good|working|back|fixed|sorted|better|normal|gone|over)"
_OVER = re.compile(
    r"\b(?:was|were|had|went|stopped|did not)\b.*\b(?:yesterday|last (?:night|week|month|year|time)|ago|earlier|before"
    r"|this morning|the other day|on \w+day)\b.*"
    rf"(?:\b(?:it|that|everything|all|they|i) (?:is|are|am|feels?|seems?) (?:(?:all|much|quite|now|just) )?{_WELL}"
    r"|\b(?:it|that|everything) (?:works|does)|\bnow (?:it|that|everything) (?:works|does))"
    r"(?: (?:now|again|today|fine|though|actually|thanks|thank you))*"
    r"(?: (?:and|but|so))*"
    r"(?:$| (?:i|we) (?:am |are |do )*(?:only |just |not )*(?:want|wanted|would like|wonder\w*|curious)\b)"
)
"""Words of what was wrong, and is so no longer."""

_IN_THE_PAST = re.compile(
    r"\b(?:was|were|had|went|stopped|did not|kept)\b(?=.* (?:yesterday|last (?:night|week\w*|month|year|time)"
    r"|the (?:other day|day before)|on \w+day|(?:days?|weeks?|hours?) ago)\b)"
    r"|^(?:yesterday|last (?:night|week\w*|month|year|time)|the other day)\b"
    r".*\b(?:was|were|had|went|stopped|did not|kept)\b"
)
_AT_PRESENT = frozenset({
    "now", "today", "still", "since", "again", "is", "are", "am", "has", "have", "does", "do", "can", "keeps", "seems",
    "works", "until", "ever",
})  # fmt: skip
"""Words that tell of the present, too."""

_PRAISES = frozenset({
    "good", "great", "fine", "perfect", "lovely", "nice", "ok", "okay", "sure", "right", "alright", "wonderful",
    "brilliant", "super", "excellent", "splendid", "cool", "correct",
})  # fmt: skip
_CONSENT = frozenset({
    "yes", "yeah", "yep", "please", "agree", "agreed", "deal", "confirm", "send", "go", "do", "cancel",
})  # fmt: skip
_FEW = 3


def only_speaks(words: Sequence[str], *, is_question: bool = False) -> bool:
    """Return True for plain words that ask for nothing to be done.

    With `is_question` they end with a question mark.
    """
    text = " ".join(words)
    if asks(words) or (is_question and (text.endswith(" right") or _is_short(words))):
        return True
    return calls_off(words) or any(
        rule.search(text) for rule in (_ASKING, _SUPPOSING, _OF_OTHERS, _TAKEN_BACK, _SPOKEN_OF)
    )


def calls_off(words: Sequence[str]) -> bool:
    """Return True when the end of a sentence calls off what stands before it."""
    before = _before_call_off(words)
    return before is not None and not OPENINGS.issuperset(before)


def is_call_off(words: Sequence[str]) -> bool:
    """Return True for "never mind" and "oh, forget it", with nothing else before."""
    before = _before_call_off(words)
    return before is not None and OPENINGS.issuperset(before)


def _before_call_off(words: Sequence[str]) -> list[str] | None:
    text = " ".join(words)
    found = _CALLED_OFF.search(text)
    return None if found is None else text[: found.start()].split()


def takes_back(words: Sequence[str], *, is_question: bool = False) -> bool:
    """Return True when a part of the sentence makes nothing of the others.

    A question with "right?" at its end only asks whether it is so.
    """
    if is_question and words and words[-1] in ("right", "correct"):
        return True
    return calls_off(words) or _TAKEN_BACK.search(" ".join(words)) is not None


def is_over(words: Sequence[str]) -> bool:
    """Return True for "it was slow yesterday, but it's fine today"."""
    return _OVER.search(" ".join(words)) is not None


def is_of_the_past(words: Sequence[str]) -> bool:
    """Return True for "it was slow yesterday", which says nothing of today."""
    return _AT_PRESENT.isdisjoint(words) and _IN_THE_PAST.search(" ".join(words)) is not None


def is_general(words: Sequence[str]) -> bool:
    """Return True for "what if I had a fever?" and "do people ask that?"."""
    return _IN_GENERAL.search(" ".join(words)) is not None


def corrects(words: Sequence[str]) -> bool:
    """Return True when the end of a sentence corrects its beginning."""
    return _CORRECTED.search(" ".join(words)) is not None


def is_of_others(words: Sequence[str]) -> bool:
    """Return True for words and deeds of others, and for what is taken back."""
    return takes_back(words) or _OF_OTHERS.search(" ".join(words)) is not None


def asks_besides(words: Sequence[str]) -> bool:
    """Return True when a sentence asks a question, beside other things."""
    text = " ".join(words)
    return asks(words) or " what about " in text or _ASKING.search(text) is not None


def is_open_wish(words: Sequence[str]) -> bool:
    """Return True when a clause asks for something in so many words."""
    return _WISHES.search(" ".join(words)) is not None


def is_remark(words: Sequence[str], known: Collection[str] = ()) -> bool:
    """Return True for "great, it's raining": praise of a thing that is no consent.

    `known` are words that a script names: they may belong to a consent.
    """
    words = [word for word in in_plain_words(words) if word]
    if _PRAISES.isdisjoint(words) or not _CONSENT.isdisjoint(words) or is_open_wish(words):
        return False
    return any(word in EVERYDAY_WORDS and base_forms(word).isdisjoint(known) for word in words)


def _is_short(words: Sequence[str]) -> bool:
    """Return True for "fish?" and "more coffee?", without number or wish."""
    is_counted = any(parse_number([word], 0) is not None for word in words)
    if len(words) < _FEW and "please" not in words and "yes" not in words:
        return not is_counted
    return len(words) <= _FEW and not is_counted and not is_open_wish(words)
