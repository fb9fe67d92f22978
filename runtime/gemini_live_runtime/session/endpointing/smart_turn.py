"""Tell the end of a turn by the model smart-turn.

It comes in the package pipecat-ai (BSD-2-Clause); only its file and onnxruntime are used, nothing of the package is
imported. numpy is imported with the first prediction: sessions without sound do without it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.installation import install_command


class SmartTurn:
    """`EndOfTurnModel` by smart-turn, for speech in many languages; takes one core."""

    def __init__(self, path: str | Path = "") -> None:
        """Find the model; `path` is a file in place of the package's.

        Raises `AgentError` when the model or onnxruntime is missing.
        """
        if find_spec("onnxruntime") is None:
            raise AgentError(
                "SmartTurn needs onnxruntime", remedy=f"Run {install_command('turns')}", field="end_of_turn_model"
            )
        self._path = Path(path) if path else _bundled()
        if not self._path.is_file():
            raise AgentError(
                f"SmartTurn has no model file {str(path)!r:.200}",
                remedy="Give the path of an ONNX file",
                field="path",
                value=str(path),
            )
        self._session: Any = None

    def predict(self, pcm: bytes) -> float:
        """Return the probability that the speaker has finished; see `EndOfTurnModel`."""
        import numpy as np

        from gemini_live_runtime.session.endpointing.log_mel import log_mel

        if self._session is None:
            runtime: Any = import_module("onnxruntime")
            options = runtime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            self._session = runtime.InferenceSession(
                str(self._path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        features = log_mel(np.frombuffer(pcm, dtype="<i2") / 32768)
        (output,) = self._session.run(None, {"input_features": features[None]})
        return float(np.asarray(output).reshape(-1)[0])


def _bundled() -> Path:
    package = find_spec("pipecat")
    folders = [] if package is None else list(package.submodule_search_locations or ())
    data = [Path(folder, "audio/turn/smart_turn/data") for folder in folders]
    found = [path for folder in data for path in folder.glob("smart-turn-v3*-cpu.onnx")]
    if not found:
        raise AgentError(
            "SmartTurn needs the model of pipecat-ai",
            remedy=f"Run {install_command('turns')}",
            field="end_of_turn_model",
        )
    return max(found)
