"""Keep what the embedded model has said, and let it speak fast.

Conversations say the same clauses again, and none of them listens to the model's sound.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import pytest

from gemini_live_runtime.local.speech.espeak import EspeakChild, EspeakSpeech
from gemini_live_runtime.local.speech.voices import EspeakVoice

FASTER = 4
"""Factor by which the model speaks faster: a session does work for each piece of its sound."""

_synthesise = EspeakSpeech._clause
_spoken: dict[tuple[str, EspeakVoice], bytes] = {}


@cache
def _speech() -> EspeakSpeech:
    """Return the voice of all conversations.

    espeak-ng's library takes a third of the time of a program that is started for each clause. Its process ends with
    this one.
    """
    return EspeakSpeech(EspeakChild() if find_spec("espeakng_loader") else None)


def _clause(_: EspeakSpeech, clause: str, voice: EspeakVoice) -> bytes:
    """Return the clause as PCM, from an earlier conversation if it was said there."""
    if (clause, voice) not in _spoken:
        pcm = _synthesise(_speech(), clause, voice)
        _spoken[clause, voice] = pcm[: len(pcm) // FASTER & ~1]
    return _spoken[clause, voice]


@pytest.fixture(autouse=True)
def fast_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Synthesise a clause once for all conversations, and shorten what was said."""
    monkeypatch.setattr(EspeakSpeech, "_clause", _clause)
