"""A writer that keeps what was posted, in order, and fails when told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.session.ports.messages import ContextNote, ContextRole


def closed() -> ConnectionClosedError:
    return ConnectionClosedError("The connection ended", close_code=1006)


def notes(*texts: str, role: ContextRole = "model") -> tuple[ContextNote, ...]:
    return tuple(ContextNote(text, role) for text in texts)


class RecordingWriter:
    """Writer that records posts in `posted` as pairs of kind and content.

    `failing` maps a kind to the exception that posting it raises.
    """

    def __init__(self) -> None:
        self.posted: list[tuple[str, Any]] = []
        self.failing: dict[str, GeminiLiveError] = {}
        self.reasons: list[str] = []

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.posted]

    def _post(self, kind: str, what: Any) -> None:
        if kind in self.failing:
            raise self.failing[kind]
        self.posted.append((kind, what))

    def send_audio(self, pcm: bytes) -> None:
        self._post("audio", pcm)

    def send_text(self, text: str) -> None:
        self._post("text", text)

    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        self._post("video", data)

    def send_context(
        self, texts: Sequence[str], role: ContextRole = "model", prompt: bool = False, reason: str = ""
    ) -> None:
        self._post("context", (role, list(texts), prompt))
        self.reasons.append(reason)

    def prompt_model(self, reason: str = "") -> None:
        self._post("prompt", None)
        self.reasons.append(reason)

    def update_instruction(self, text: str, reason: str = "") -> None:
        self._post("instruction", text)
        self.reasons.append(reason)

    def activity_start(self) -> None:
        self._post("activity_start", None)

    def activity_end(self) -> None:
        self._post("activity_end", None)

    def send_tool_answers(self, answers: Sequence[Any]) -> None:
        self._post("answers", list(answers))
