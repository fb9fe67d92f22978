"""Compare what was said aloud with a question, and with the words for yes and no.

Only whole sentences of a closed list are an answer: "yes, but later" is neither yes nor no.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from gemini_live_runtime.records import record

MAX_PREAMBLE = 5
"""Words that a model may say before the question."""

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"['\u2019\u02bc`\u00b4]")

_YES = """
en: yes; yes please; yes yes; yes sure; yes okay; yes do it; yes do that; yes please do; yes go ahead
en: yes of course; yeah; yep; yup
en: sure; sure go ahead; please do; please go ahead; go ahead; do it; of course; absolutely; certainly
en: that would be great
de: ja; ja bitte; ja gern; ja gerne; ja sicher; ja klar; ja ja; ja mach das; ja machen sie das; ja tu das; jawohl
de: gern; gerne
de: einverstanden; in ordnung; natürlich; selbstverständlich
fr: oui; oui oui; oui merci; oui s'il vous plaît; oui s'il te plaît; oui d'accord; oui bien sûr; oui vas-y
fr: oui allez-y; ouais
fr: d'accord; vas-y; allez-y; bien sûr; volontiers
es: sí; sí sí; sí por favor; sí claro; sí hazlo; sí hágalo; sí adelante; sí gracias; claro; claro que sí
es: de acuerdo; adelante; por supuesto
it: sì; sì sì; sì grazie; sì per favore; sì certo; sì va bene; sì fallo; sì lo faccia; certo; d'accordo; va bene
it: volentieri; certamente
nl: ja graag; ja hoor; ja doe maar; graag; doe maar; akkoord
pt: sim; sim sim; sim por favor; sim claro; sim pode; com certeza; por favor sim
"""

_NO = """
en: no; no no; no thanks; no thank you; no please don't; no don't; no do not; no don't do it; no not now; no stop
en: no cancel; nope
en: don't; do not; don't do it; please don't; please do not; not now; rather not; better not; stop; cancel
en: cancel it; never
de: nein; nein nein; nein danke; nein bitte nicht; nein lieber nicht; nein jetzt nicht; nee; lieber nicht
de: bitte nicht; jetzt nicht; nicht jetzt; stopp; abbrechen
fr: non; non non; non merci; non surtout pas; non pas maintenant; surtout pas; pas maintenant; arrête; arrêtez
fr: annule; annulez
es: no gracias; no por favor; no ahora no; no lo hagas; no lo haga; mejor no; ahora no; cancela; cancele; para
it: no grazie; no per favore; no non farlo; no non lo faccia; meglio di no; non adesso; non ora; annulla; fermati; fermo
nl: nee nee; nee dank je; nee dank u; nee bedankt; liever niet; niet doen; nu niet
pt: não; não não; não obrigado; não obrigada; não por favor; agora não; melhor não; cancele
"""

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
)


def spoken_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as they compare: without case, accents and signs."""
    plain = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", text).casefold())
    return tuple(_WORD.findall("".join(sign for sign in plain if not unicodedata.combining(sign))))


def _sentences(table: str) -> frozenset[tuple[str, ...]]:
    lines = (line.partition(":")[2] for line in table.strip().splitlines())
    return frozenset(spoken_words(sentence) for line in lines for sentence in line.split(";"))


@record
class AnswerWords:
    """Tables of words, made for the first question that a voice may answer."""

    yes: frozenset[tuple[str, ...]]
    """Sentences that are a yes, as words."""
    no: frozenset[tuple[str, ...]]
    answering: frozenset[str]
    """Words that answer by themselves: before a question they could turn its answers round."""
    digits: Mapping[str, frozenset[str]]
    """Digits of each word for a number."""


@cache
def answer_words() -> AnswerWords:
    """Return the tables."""
    yes, no = _sentences(_YES), _sentences(_NO)
    digits: dict[str, frozenset[str]] = {}
    for line in _NUMBERS:
        for number, word in enumerate(spoken_words(line)):
            digits[word] = digits.get(word, frozenset()) | {str(number)}
    return AnswerWords(yes, no, frozenset(sentence[0] for sentence in yes | no if len(sentence) == 1), digits)


def answer_of(text: str) -> bool | None:
    """Return True for a sentence that is a yes, False for a no, None for any other."""
    words = spoken_words(text)
    return True if words in answer_words().yes else False if words in answer_words().no else None


def has_asked(said: str, question: str) -> bool:
    """Return True when the last words said are those of the question.

    At most `MAX_PREAMBLE` others precede them. With more than one, none may be an answer: "to refuse, say yes" is no
    preamble. A small number may be said as a word and written in digits.
    """
    heard, wanted = spoken_words(said), spoken_words(question)
    preamble = len(heard) - len(wanted)
    if not (wanted and 0 <= preamble <= MAX_PREAMBLE):
        return False
    if preamble > 1 and not answer_words().answering.isdisjoint(heard[:preamble]):
        return False
    return all(map(_is_same, heard[preamble:], wanted))


def _is_same(one: str, other: str) -> bool:
    digits = answer_words().digits
    return one == other or other in digits.get(one, ()) or one in digits.get(other, ())
