"""The bundled end-of-turn model: its features and its file."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.endpointing import smart_turn
from gemini_live_runtime.session.endpointing.log_mel import RATE, log_mel
from gemini_live_runtime.session.endpointing.smart_turn import SmartTurn

ORT = "onnxruntime"


def tone(hertz: float, seconds: float = 8.0) -> Any:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE)


@pytest.mark.parametrize(("low", "high"), [(200, 400), (1000, 2000), (3000, 6000)])
def test_a_higher_tone_is_in_a_higher_band(low: float, high: float) -> None:
    bands = [int(log_mel(tone(hertz))[:, 400].argmax()) for hertz in (low, high)]
    assert bands[0] < bands[1]


def test_a_tone_of_1000_hertz_is_in_the_band_where_the_scale_turns_logarithmic() -> None:
    # 15 of the 45.245 mels below 8 kHz, spread over 81 steps.
    assert int(log_mel(tone(1000))[:, 400].argmax()) == pytest.approx(15 / 45.245 * 81 - 1, abs=1)


def test_loudness_makes_no_difference_and_the_range_is_80_db() -> None:
    quiet, loud = log_mel(tone(440) * 0.01), log_mel(tone(440))
    assert np.allclose(quiet, loud, atol=0.01)
    assert loud.max() - loud.min() == pytest.approx(2.0)


def test_short_sound_has_silence_in_front_and_of_long_sound_the_end_counts() -> None:
    short = log_mel(tone(440, 1.0))
    assert short.shape == (80, 800)
    assert short[:, 100].max() < short[:, 790].max()
    longer = np.concatenate([tone(2000, 5.0), tone(440)])
    assert np.allclose(log_mel(longer), log_mel(tone(440)))


def test_the_model_gets_the_features_and_its_answer_is_the_probability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    class Session:
        def __init__(self, path: str, **options: Any) -> None:
            seen.append(path)

        def run(self, names: None, inputs: dict[str, Any]) -> list[Any]:
            seen.append(inputs["input_features"].shape)
            return [np.array([[0.75]], dtype=np.float32)]

    fake = SimpleNamespace(InferenceSession=Session, SessionOptions=SimpleNamespace)
    monkeypatch.setitem(sys.modules, ORT, fake)  # type: ignore[arg-type]
    monkeypatch.setattr(smart_turn, "find_spec", lambda name: object())
    (tmp_path / "model.onnx").write_bytes(b"")
    model = SmartTurn(tmp_path / "model.onnx")
    assert (model.predict(bytes(3200)), model.predict(bytes(3200))) == (0.75, 0.75)
    assert seen == [str(tmp_path / "model.onnx"), (1, 80, 800), (1, 80, 800)]


def test_the_newest_model_of_the_package_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "audio" / "turn" / "smart_turn" / "data"
    data.mkdir(parents=True)
    for name in ("smart-turn-v3.1-cpu.onnx", "smart-turn-v3.2-cpu.onnx", "smart-turn-v3.2-gpu.onnx"):
        (data / name).write_bytes(b"")
    package = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(smart_turn, "find_spec", lambda name: package)
    assert SmartTurn()._path.name == "smart-turn-v3.2-cpu.onnx"


def test_without_the_package_or_the_file_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smart_turn, "find_spec", lambda name: None if name == "pipecat" else object())
    with pytest.raises(AgentError, match="needs the model of pipecat-ai"):
        SmartTurn()
    with pytest.raises(AgentError, match="Give the path of an ONNX file"):
        SmartTurn(tmp_path / "none.onnx")
