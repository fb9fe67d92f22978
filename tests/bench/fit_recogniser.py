"""Fit the weights of local/recognition/rejection.py and print them.

Run `python -m tests.bench.fit_recogniser`.

Tuning material only: none of its sentences is in tests/support/recogniser_evaluation.py. Takes some ten minutes.
"""

from __future__ import annotations

import random

import numpy as np
from tests.support.synthetic_speech import say

from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.recognition.recogniser import Engine
from gemini_live_runtime.local.scripts.grammar import Grammar
from gemini_live_runtime.local.scripts.script import bundled_script

VOICES = ("espeak:en-us", "espeak:en-us+f3", "espeak:en-gb", "flite:slt")
OTHER = """
please open the garage door
where did you park the bicycle yesterday
the quick brown fox jumps over the lazy dog
my sister lives in a small village near the sea
can you order a pizza with extra cheese
turn off the lights in the bedroom
play some jazz music in the kitchen
how tall is the highest mountain in the world
who won the football match last night
translate this sentence into french
what is the capital of australia
the train leaves from platform nine
send an email to my boss
call a taxi to the airport
what is the square root of two hundred
read me the news from this morning
open the window because it is too hot in here
i think we should paint the wall green
my computer does not start any more
when does the supermarket close on sunday
how do i cook rice
give me directions to the train station
the children are playing in the garden
increase the volume by ten percent
show me pictures of cute dogs
is there a pharmacy around here
what is the meaning of life
buy two tickets for the concert
tell me about the history of rome
what is the price of gold today
how many people live in london
book a flight to new york for monday
what is the fastest way to paris
cancel my subscription to the newspaper
set the temperature to twenty degrees
start the washing machine
make me a sandwich please
wake up the neighbours
delete all my photographs
remind the driver about the keys
which movies are running tonight
what are my chances of winning
do you believe in ghosts
how old are you
where were you born
i lost my wallet on the bus
the doctor said i should rest
she sells sea shells on the sea shore
we need more chairs for the party
the meeting was very boring today
can you help me with my homework
it was a bright cold day in april
please lock the front door
find a recipe for apple pie
how far is it to the moon
what does this word mean
count the number of red cars
sing a song for me
write a letter to the president
the battery is almost empty
yesterday we went swimming in the lake
i would like to rent a car for three days
what is wrong with the printer
check the oil and the tires
there is a spider in the bathroom
my grandmother makes the best soup
never look a gift horse in the mouth
good luck with your exam
thank goodness it is friday
see the doctor about your knee
"""
LOSS = 0.015
"""Share of rightly recognised phrases that the threshold may refuse on this material."""


def sample(grammar: Grammar, rng: random.Random) -> list[str]:
    """Return a sentence for every alternative, two for those with slots."""
    rules = dict(grammar.rules)
    sentences = []
    for alternative in grammar.alternatives:
        slotted = any(part.startswith("<") for part in alternative)
        sentences += [
            " ".join(rng.choice(rules[p.strip("<>")]) if p.startswith("<") else p.strip("[]") for p in alternative)
            for _ in range(2 if slotted else 1)
        ]
    return sentences


def logistic(x: np.ndarray, y: np.ndarray, ridge: float = 0.05) -> np.ndarray:
    """Fit a logistic regression; return its weights and bias.

    Newton's method on standardised columns.
    """
    mean, spread = x.mean(0), x.std(0)
    z = np.c_[(x - mean) / spread, np.ones(len(x))]
    w = np.zeros(z.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-z @ w))
        step = z.T @ (p - y) + ridge * w
        w -= np.linalg.solve((z * (p * (1 - p))[:, None]).T @ z + ridge * np.eye(len(w)), step)
    weights = w[:-1] / spread
    return np.append(weights, w[-1] - weights @ mean)


def main() -> None:
    """Decode everything, fit, print."""
    script = bundled_script("concierge")
    dialogue = ScriptedDialogue(script)
    engine = Engine()
    covered = sample(dialogue.grammar, random.Random(1))
    rows, good = [], []
    heard = {True: 0, False: 0}
    right = 0
    for voice in VOICES:
        for is_covered, sentences in ((True, covered), (False, OTHER.split("\n"))):
            for sentence in filter(None, sentences):
                opinion = engine.decode(say(voice, sentence), dialogue.grammar, dialogue.pronunciations)
                heard[is_covered] += 1
                matches = opinion.text == sentence
                right += is_covered and matches
                # A phrase taken for another one is neither: the words are wrong, but something was said.
                if opinion.evidence is not None and matches == is_covered:
                    rows.append(opinion.evidence.values())
                    good.append(is_covered)
        print(voice, heard, f"right before rejection {right / heard[True]:.3f}", flush=True)
    x, y = np.array(rows), np.array(good, float)
    fitted = logistic(x, y)
    total = x @ fitted[:-1] + fitted[-1]
    threshold = np.quantile(total[y == 1], LOSS)
    fitted[-1] -= threshold
    print("WEIGHTS =", tuple(round(float(value), 2) for value in fitted[:-1]), "BIAS =", round(float(fitted[-1]), 2))
    accepted = int((total[y == 0] >= threshold).sum())
    print(f"refused of the other sentences: {1 - accepted / heard[False]:.3f}; of the right phrases: {LOSS}")


if __name__ == "__main__":
    main()
