"""Keep what the embedded model has said, for the conversations that say it again."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.speech.espeak import EspeakSpeech
from gemini_live_runtime.local.speech.voices import EspeakVoice

_synthesise = EspeakSpeech._clause
_spoken: dict[tuple[str, EspeakVoice], bytes] = {}


def _clause(speech: EspeakSpeech, clause: str, voice: EspeakVoice) -> bytes:
    """Return the clause as PCM, from an earlier conversation if it was said there."""
    if (clause, voice) not in _spoken:
        _spoken[clause, voice] = _synthesise(speech, clause, voice)
    return _spoken[clause, voice]


@pytest.fixture(autouse=True)
def keep_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run espeak-ng once for a clause: conversations begin with the same ones."""
    monkeypatch.setattr(EspeakSpeech, "_clause", _clause)
