"""Evaluate the recogniser on synthetic speech, covered and uncovered sentences.

`python -m tests.support.recogniser_evaluation [VOICE ...]` says every phrase and every uncovered sentence in each voice
and prints the counts; the tests take a part of it. Nothing here was used to fit the weights: slot values, uncovered
sentences and one voice (flite:rms) differ from those of tests/bench/fit_recogniser.py.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

from tests.support.synthetic_speech import say

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.local.default_parts import DefaultParts
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.parts import Dialogue, Recogniser, Reply
from gemini_live_runtime.local.recognition.recogniser import PocketsphinxRecogniser
from gemini_live_runtime.local.scripts.grammar import Grammar
from gemini_live_runtime.local.scripts.script import bundled_script

VOICES = ("espeak:en-us", "espeak:en-us+f3", "flite:rms")
UNCOVERED = """
the cat slept on the warm radiator all afternoon
can somebody bring me a glass of water
which planet is closest to the sun
please turn the radio down a little
he forgot his umbrella at the office
how many legs does a spider have
we are leaving for the mountains tomorrow
draw a circle around the correct answer
my phone fell into the swimming pool
i need a new pair of winter boots
what did the teacher say about the exam
they built a bridge across the river
give the dog something to eat
is the library open on saturday
nobody knows where the treasure is hidden
switch the heating on at six in the morning
the soup tastes better with more salt
have you ever been to the opera
she painted the kitchen door bright yellow
where can i park my car around here
tell my brother that dinner is ready
the airplane landed two hours late
add some pepper and stir it slowly
why is the sky blue during the day
this elevator goes only to the third floor
remember to lock the bicycle
compare the prices of both hotels
who wrote this beautiful song
take the second street on the left
the museum is closed for repairs
""".strip().split("\n")


@dataclass
class Counts:
    """Sentence counts: covered (right, lost, mistaken) and not (refused, accepted).

    Of those that are right some are asked about before they are acted on.
    """

    right: int = 0
    asked: int = 0
    lost: int = 0
    wrong: int = 0
    refused: int = 0
    accepted: int = 0

    @property
    def covered(self) -> int:
        """Covered sentences that were said."""
        return self.right + self.lost + self.wrong


def covered(grammar: Grammar, voice: str, start: int, stride: int) -> list[str]:
    """Return one of `stride` shares of the phrases, with slot values of the voice.

    A phrase's share depends on its words alone: further phrases leave the others where they are.
    """
    rng = random.Random(f"evaluation-{voice}")
    rules = dict(grammar.rules)
    return [
        " ".join(rng.choice(rules[p.strip("<>")]) if p.startswith("<") else p for p in alternative)
        for alternative in grammar.alternatives
        if crc32(" ".join(alternative).encode()) % stride == start
    ]


def concierge() -> ScriptedDialogue:
    """Return the dialogue of the concierge with its tools, as a session declares them."""
    script = bundled_script("concierge")
    dialogue = ScriptedDialogue(script)
    dialogue.declare({call.tool: {} for intent in script.intents for call in intent.calls})
    return dialogue


Make = Callable[[Dialogue], Recogniser]
"""Function that makes a recogniser for a dialogue."""


def by_phrases(dialogue: Dialogue) -> Recogniser:
    """Return the recogniser that knows the dialogue's words only."""
    return PocketsphinxRecogniser(dialogue)


def by_default(dialogue: Dialogue) -> Recogniser:
    """Return the recogniser that the embedded server has here."""
    return DefaultParts().recogniser(dialogue, ())


async def evaluate(voices: Sequence[str] = VOICES, stride: int = 1, make: Make = by_phrases) -> dict[str, Counts]:
    """Return the counts by voice.

    With a `stride` each voice says another share of the sentences. Words that get the same answer are right.
    """
    dialogue = concierge()
    ear = make(dialogue)
    counts = {voice: Counts() for voice in voices}
    for index, (voice, count) in enumerate(counts.items()):
        for sentence in covered(dialogue.grammar, voice, index % stride, stride):
            recognition = await ear.recognise(say(voice, sentence))
            heard = recognition.text.lower() if recognition.is_doubtful else recognition.text
            is_right = heard == sentence or (heard != "" and _answer(dialogue, heard) == _answer(dialogue, sentence))
            count.right += is_right
            count.asked += recognition.is_doubtful
            count.lost += heard == ""
            count.wrong += heard != "" and not is_right
        for sentence in UNCOVERED[index % stride :: stride]:
            heard = (await ear.recognise(say(voice, sentence))).text
            count.refused += heard == ""
            count.accepted += heard != ""
    return counts


def _answer(dialogue: Dialogue, text: str) -> Reply | None:
    return dialogue.preview(text, is_exact=True)


@dataclass(frozen=True, slots=True)
class Foreign:
    """Counts of sentences that the dialogue does not understand.

    `unheard` became no words, `asked` were asked about, `acted` would have called a tool, the others were answered.
    """

    said: int
    unheard: int
    asked: int
    acted: int


async def count_foreign(voices: Sequence[str] = VOICES, make: Make = by_phrases) -> Foreign:
    """Say the uncovered sentences and return what would have become of them."""
    dialogue = concierge()
    ear = make(dialogue)
    heard = [await ear.recognise(say(voice, sentence)) for voice in voices for sentence in UNCOVERED]
    taken = [one.text for one in heard if one.text and not one.is_doubtful]
    replies = [reply for text in taken if (reply := _answer(dialogue, text)) is not None]
    return Foreign(
        len(heard),
        sum(not one.text for one in heard),
        sum(one.is_doubtful for one in heard),
        sum(bool(reply.calls) for reply in replies),
    )


if __name__ == "__main__":
    for make in (by_default, by_phrases):
        for name, result in run_virtual(evaluate(sys.argv[1:] or VOICES, make=make)).items():
            print(make.__name__, name, result)
