"""Keep what the embedded model has said, and let it speak fast.

Conversations say the same clauses again, and none of them listens to the model's sound.
"""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.speech.espeak import EspeakSpeech
from gemini_live_runtime.local.speech.voices import EspeakVoice

FASTER = 4
"""Factor by which the model speaks faster: a session does work for each piece of its sound."""

_synthesise = EspeakSpeech._clause
_spoken: dict[tuple[str, EspeakVoice], bytes] = {}


def _clause(speech: EspeakSpeech, clause: str, voice: EspeakVoice) -> bytes:
    """Return the clause as PCM, from an earlier conversation if it was said there."""
    if (clause, voice) not in _spoken:
        pcm = _synthesise(speech, clause, voice)
        _spoken[clause, voice] = pcm[: len(pcm) // FASTER & ~1]
    return _spoken[clause, voice]


@pytest.fixture(autouse=True)
def fast_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run espeak-ng once for a clause, and shorten what it said."""
    monkeypatch.setattr(EspeakSpeech, "_clause", _clause)
