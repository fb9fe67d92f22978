"""The parts that this package brings: scripted dialogue, pocketsphinx, espeak-ng. Imported when needed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.local.parts import Dialogue, Recogniser, Speech
from gemini_live_runtime.local.script import bundled_names, bundled_script, load_script
from gemini_live_runtime.local.script_types import Script

LOCAL_PREFIX = "local-"
"""A model name that begins so names a bundled script, or the one the server was started with."""

DEFAULT_SCRIPT = "concierge"


class DefaultParts:
    """`parts.Parts` over a script file, or over the bundled scripts. Raises `ConfigError` for an unusable file."""

    def __init__(self, script: Path | None = None) -> None:
        self._scripts: dict[str, Script] = {}
        self.own = load_script(script) if script is not None else None
        """The script of the file."""
        if self.own is not None:
            self._scripts[self.own.name] = self.own

    def dialogue(self, model: str) -> Dialogue:
        """A dialogue after `script(model)`."""
        from gemini_live_runtime.local.dialogue import ScriptedDialogue

        return ScriptedDialogue(self.script(model))

    def script(self, model: str) -> Script:
        """The script `local-NAME` names, the server's own for every other model; `KeyError` for an unknown `NAME`."""
        if model.startswith(LOCAL_PREFIX):
            return self._script(model.removeprefix(LOCAL_PREFIX))
        return self.own or self._script(DEFAULT_SCRIPT)

    def _script(self, name: str) -> Script:
        if name not in self._scripts:
            self._scripts[name] = bundled_script(name)
        return self._scripts[name]

    def recogniser(self, dialogue: Dialogue, tools: Collection[str]) -> Recogniser:
        """A recogniser for what `dialogue` understands."""
        from gemini_live_runtime.local.recogniser import PocketsphinxRecogniser

        return PocketsphinxRecogniser(dialogue)

    def speech(self) -> Speech:
        """espeak-ng."""
        from gemini_live_runtime.local.speech import EspeakSpeech

        return EspeakSpeech()

    def known_models(self) -> tuple[str, ...]:
        """Names that begin with `local-` and exist."""
        return tuple(f"{LOCAL_PREFIX}{name}" for name in sorted({*bundled_names(), *self._scripts}))

    def recogniser_or_reason(self) -> bool | str:
        """True, or why nothing can be recognised."""
        from gemini_live_runtime.local.recogniser import shared_engine

        # A recogniser begins to load its models when it is made: half a second that nobody has asked for yet.
        return _or_reason(shared_engine)

    def speech_or_reason(self) -> bool | str:
        """True, or why nothing can be said."""
        return _or_reason(self.speech)


def _or_reason(make: Callable[[], Any]) -> bool | str:
    try:
        make()
    except GeminiLiveError as error:
        return str(error)
    return True
