"""Tell words that carry meaning from those that any sentence has.

Words are compared by their base form: `timers`, `raining` and `booking` are `timer`, `rain` and `book`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from gemini_live_runtime.local.language import everyday_words
from gemini_live_runtime.local.language.openings import OPENINGS
from gemini_live_runtime.local.language.words import parse_number, typos

_ENDINGS = {"'s": "is", "n't": "not", "'ll": "will", "'re": "are", "'ve": "have", "'d": "would", "'m": "am"}
_SPOKEN_FORMS = {
    "cannot": "can not", "can't": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
    "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "im": "i am", "ive": "i have",
    "whats": "what is", "hows": "how is", "whos": "who is", "thats": "that is", "let's": "let us",
    "lets": "let us", "gonna": "going to", "wanna": "want to", "gotta": "got to", "gimme": "give me", "lemme": "let me",
    "shan't": "shall not", "ain't": "is not", "y'all": "you all", "dunno": "do not know", "kinda": "kind of",
    "d'you": "do you", "y'know": "you know", "ya": "you", "em": "them", "u": "you", "pls": "please", "plz": "please",
    "thx": "thanks", "tmrw": "tomorrow", "abt": "about", "poss": "possible", "ur": "your",
    "ppl": "people", "aight": "all right", "wtf": "what", "tonite": "tonight",
    "theres": "there is", "hes": "he is", "shes": "she is", "wheres": "where is", "youre": "you are",
    "theyre": "they are", "weve": "we have", "youve": "you have", "theyve": "they have", "youll": "you will",
    "theyll": "they will", "itll": "it will", "thatll": "that will", "thatd": "that would", "couldnt": "could not",
    "wouldnt": "would not", "shouldnt": "should not", "wasnt": "was not", "arent": "are not", "werent": "were not",
    "nah": "no", "ta": "thanks", "havent": "have not", "hasnt": "has not", "aint": "is not",
}  # fmt: skip
_AFTER_ID = frozenset({"like", "love", "rather", "say", "prefer", "appreciate", "want", "be", "go", "need"})
_AFTER_ILL = frozenset({
    "have", "take", "pay", "get", "be", "do", "try", "go", "need", "come", "call", "ring", "say", "give", "just",
    "wait", "order", "hold", "stay", "hang", "keep", "leave", "text", "email", "send", "speak", "see", "let",
    "tell", "pop",
})  # fmt: skip
_AMBIGUOUS = {"id": ("i would", _AFTER_ID), "ill": ("i will", _AFTER_ILL)}
"""Words that are written without an apostrophe only before some others."""

_COMMON = """
id back another afraid
name names called
change move push switch swap shift bring forward earlier case prefer preferably ideally sometime somewhere oops whoops
all both every each whole better best around everyone everybody everything ever
feel feeling feels felt seem seems seemed become getting week weeks night nights days rather instead bad badly
a an the this that these those some any each such i me my mine myself you your yours yourself he him his she
her hers it its itself we us our ours they them their theirs one ones someone somebody anyone anybody
something anything is am are was were be been being do does did done doing have has had having will would
shall should can could may might must ought let lets and or but so because as if then than though although
while when where what which who whom whose why how there here of to in on at by for from with without about
into onto over under up down out off through during before after around near between against please thanks
thank kindly sorry pardon excuse hello hi hey yo dear sir madam mate love honey buddy pal um uh er erm hmm hm
oh ah well ok okay right like actually really just only quite very rather pretty bit little lot too also even
still again maybe perhaps possibly probably simply quickly quick real basically honestly anyway else more most
much many kind sort sure fine good great nice lovely perfect cool wonderful old new whole yes yeah yep yup aye
certainly definitely absolutely course now today tonight tomorrow later soon moment minute second currently
want wants wanted need needs wish wonder wondering hope know knows think guess suppose mean meant say says
said tell talk speak ask asking give get got getting go goes going come comes coming make makes making take
takes taking put see look looks looking find help try trying use possible able chance mind bother happen keep
keeps kept start started thing things stuff way time times day
"""

COMMON_WORDS = frozenset(_COMMON.split())
"""Words that any sentence may have: they neither make a meaning nor stand against one."""

EVERYDAY_WORDS = frozenset(everyday_words.EVERYDAY.split()) - COMMON_WORDS
"""Words that stand against a meaning only where a script names them."""

PAST = frozenset(everyday_words.PAST.split())
"""Words that tell of the past, or of a condition."""

WEIGHING = frozenset({
    "that", "so", "very", "really", "too", "particularly", "especially", "terribly", "quite", "even", "super",
    "overly", "remotely", "hugely",
})  # fmt: skip
"""Words between `not` and what it denies that only weigh it."""

OPINIONS = tuple(
    (who, *what.split()) for who in ("i", "we") for what in ("love", "hate", "enjoy", "miss", "like the", "prefer the")
)
"""Phrases that tell what is thought of a thing, and ask for nothing."""

ASKING_IF = frozenset({"me", "us", "know", "see", "check", "out", "wonder", "wondering", "sure", "say", "ask"})
"""Words before an "if" that asks: "tell me if it rains"."""

_ASKING = re.compile(
    r"(?:which|whose?|whom|where|when (?!you\b)|does|did|was|were|has)\b|why (?!do(?:es)? not\b)|how (?!about\b)"
    r"|what (?!about\b|(?:i|we) (?:want|need|would)\b)"
    r"|do (?!me\b|us\b|you (?:mind|think|have|do)\b|not\b|that\b|it\b|the\b|a\b)"
    r"|is (?!there\b|it (?:possible|ok|okay|all right|alright)\b)|are (?!there\b|you able\b)"
)

OTHERS = frozenset(everyday_words.OTHERS.split())
"""Words for persons who are spoken of."""

TELLING = PAST | frozenset(everyday_words.TELLING.split())
"""Words of stories and conditions, which ask for nothing."""

NEGATIONS = frozenset({"not", "never", "no", "nobody", "nothing", "without", "already", "yesterday", "ago", "stop"})
"""Words that turn a request round, or say that it was in the past."""

HESITATIONS = frozenset({"um", "uh", "er", "erm", "uhm", "umm"})
"""Sounds between words."""

FILLERS = frozenset(everyday_words.FILLERS.split())
"""Words that are no text by themselves, as in "write something down for me"."""

_HESITATIONS = re.compile(
    r"(?:hang|hold) on|(?:just )?(?:wait|one|a) (?:a |one )?(?:moment|minute|second|sec|mo)\b|wait\b"
    r"|(?:i am )?not sure|(?:i )?do not (?:know|want|think)|(?:i have )?no idea"
    r"|let me (?:think|see)|never ?mind|forget it|give me a\b"
    r"|(?:what|when|where|why|how|who|which)\b|rather not|i would rather|nothing\b|none of your|mind your own"
    r"|(?:is|are|am|can|could|will|would|do|does|did|should|shall|may|has|have)"
    r" (?:i|you|he|she|it|they|we|there|that|this|anyone|anybody|somebody|someone|people|callers|messages?)\b"
    r"|(?:i am|it is) (?:working|not|fine|ok|okay|busy|thinking)\b"
    r"|(?:can|could|will|is|are|does|do) not (?:you|he|she|it|they)\b|(?:no )?do not bother"
    r"|(?:actually |no |oh )*(?:never ?mind|forget (?:it|that)|leave it|no (?:message|need|thanks))"
    r"|i (?:never|do not|will not) (?:leave|send|do|like) (?:any )?(?:messages?|voicemails?|notes?)\b"
    r"|i will (?:try|ring|call|phone)\b|put me through|connect me|let me (?:speak|talk)"
    r"|(?:no |oh |wait |actually |sorry )*(?:scratch|scrap|cancel|drop|skip|delete|undo)"
    r" (?:it|that|this|(?:the|my) message)\b"
    r"|(?:no |oh |wait |actually |sorry |please )*do not "
    r"(?:tell|write|say|pass|leave|send|take|note|put|record|hang)\b"
    r"|(?:actually |well |no |oh |so |but )*(?:i have (?:got )?|there is )nothing\b|(?:reads|says|said)\b"
    r"|i see(?: how it is)?$|(?:fine )?be like that\b|(?:whatever|sigh|charming|typical|seriously|how rude|great|nice)$"
    r"|(?:oh |well |what )*(?:that is )?(?:a )?(?:pity|shame|relief|dear me|dear)$"
    r"|(?:i have |i )?changed my mind\b|(?:since|till|until) when\b|ready$"
    r"|you (?:are|can|could|have|sound|said)\b|come again|say (?:that )?again"
    r"|repeat\b|speak up|wrong number|that is (?:all|it|fine)$|who\b|this is (?:ridiculous|stupid|silly)"
    r"|(?:me|us) (?:who|what|when|where|why|how)\b|(?:please )?tell me\b|let me know\b|if i (?:left|leave|gave)"
    r"|.*\b(?:will|would|does|can) (?:he|she|they)(?: \w+)? (?:get|read|hear|see) (?:it|this|that|my)\b"
    r"|(?:(?:oh|well|hmm|hm|ah|um|uh|er|so|right|not really|really) ?)+$"
    r"|(?:(?:oh|well|hmm|hm|ok|okay|yes|yeah|right|fine|sure) )*(?:(?:it|that) (?:is|was|will do)|fair enough|got it"
    r"|will do|no (?:problem|worries)|if you say so|understood|sounds (?:good|fine|great)|i (?:suppose|guess)(?: so)?)$"
    r"|.*\bi (?:suppose|guess)$"
    r"|(?:sorry|pardon|excuse me|yes|no|yeah|nope|ok|okay|hello|hi|thanks|thank you|bye|goodbye|stop)$"
)

_NO_NAMES = re.compile(r".*(?:ing|ed|n't|less|ful|ous)|.*[^aeioul]ly")
_NAMES_ALIKE = frozenset(everyday_words.NAMES_ALIKE.split())
NEVER_NAMES = frozenset(everyday_words.NO_NAMES.split())
"""Words such as days and languages, which are written like names."""


PARTS_OF_NAMES = frozenset({"de", "da", "di", "la", "le", "van", "von", "der", "den", "bin", "al", "del", "dos"})
"""Words of names that are written in lower case."""

_SHORTEST_WITH_TYPOS, _TWO_TYPOS = 5, 10
"""Letters from which on a word may have one typing error, and two."""


DENIALS = frozenset({"not", "never", "no", "nobody", "nothing", "without"})
"""Negations of what follows them."""


DENYING = frozenset({"not", "never"})
"""Words that deny a phrase that follows them."""


def expand_in_place(word: str, before: str, after: str) -> list[str]:
    """Return `word` written out; `before` and `after` tell "ill" from "i'll"."""
    if word == "its" and (not before or before in OPENINGS):
        return ["it", "is"]
    meant, verbs = _AMBIGUOUS.get(word, ("", frozenset()))
    return meant.split() if after in verbs else expand((word,))


def expand(words: Sequence[str]) -> list[str]:
    """Return words with contractions and spoken forms written out."""
    expanded: list[str] = []
    for word in words:
        if word in _SPOKEN_FORMS:
            expanded += _SPOKEN_FORMS[word].split()
            continue
        if word.endswith("ish") and parse_number([word.removesuffix("ish")], 0) is not None:
            expanded += [word.removesuffix("ish"), "ish"]
            continue
        for ending, meant in _ENDINGS.items():
            if word.endswith(ending) and len(word) > len(ending):
                expanded += [word.removesuffix(ending), meant]
                break
        else:
            expanded.append(word)
    return expanded


@lru_cache(maxsize=4096)
def base_forms(word: str) -> frozenset[str]:
    """Return forms of which `word` may be a plural or a present participle."""
    forms = {word}
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        forms.add(word[:-1])
        if word.endswith("ies"):
            forms.add(f"{word[:-3]}y")
        elif word.endswith("es"):
            forms.add(word[:-2])
    if len(word) > 5 and word.endswith("ing"):
        stem = word[:-3]
        forms |= {stem, f"{stem}e"}
        if re.search(r"([b-df-hj-np-tv-z])\1$", stem):
            forms.add(stem[:-1])
    return frozenset(forms)


def plainly(words: Sequence[str]) -> list[str]:
    """Return words without those that only weigh a negation: "not that urgent"."""
    last, plain = len(words) - 1, list[str]()
    for at, word in enumerate(words):
        if not (word in WEIGHING and at < last and plain[-1:] == ["not"]):
            plain.append(word)
    return plain


def is_same(word: str, meant: str) -> bool:
    """Return True when `word` is `meant` or a form of it."""
    return word == meant or meant in base_forms(word)


@lru_cache(maxsize=16_384)
def is_mistyped(word: str, meant: str) -> bool:
    """Return True when an unknown `word` may be `meant` with a typing error.

    What was `deleted` is no `delete`.
    """
    if len(meant) < _SHORTEST_WITH_TYPOS or word in (f"{meant}d", f"{meant}ed"):
        return False
    edits = typos(word, meant)
    return edits is not None and edits <= (2 if len(meant) >= _TWO_TYPOS else 1)


def asks(words: Sequence[str]) -> bool:
    """Return True for a question that wants to know something, and nothing done.

    "Could you" and "do you have" ask for a thing.
    """
    at = next((at for at, word in enumerate(words) if word not in OPENINGS), len(words))
    return _ASKING.match(" ".join(words[at:])) is not None


def is_name_like(word: str) -> bool:
    """Return False for words that are hardly a person's name, such as `returning`."""
    return word in _NAMES_ALIKE or not (word in NEVER_NAMES or _NO_NAMES.fullmatch(word))


def as_name(words: Sequence[str]) -> str:
    """Return a name with capitals: "Priya" for "priya"."""
    return " ".join(word.capitalize() if word.islower() and word not in PARTS_OF_NAMES else word for word in words)


def is_no_text(words: Sequence[str]) -> bool:
    """Return True for words that hesitate, ask or decline: no text to keep."""
    return FILLERS.issuperset(words) or _HESITATIONS.match(" ".join(words)) is not None
