"""Make the default parts: scripted dialogue, Moonshine, pocketsphinx, espeak-ng.

Each is imported when it is needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.local.parts import Dialogue, Recogniser, Speech
from gemini_live_runtime.local.scripts.script import bundled_names, bundled_script, load_script
from gemini_live_runtime.local.scripts.script_types import Script

LOCAL_PREFIX = "local-"
"""Prefix of model names that name a bundled script or the server's own."""

DEFAULT_SCRIPT = "neutral"
"""Script for other models: it names the client's own tools."""


class DefaultParts:
    """`Parts` for a script file or the bundled scripts.

    Raises `ConfigError` for an unusable file.
    """

    def __init__(self, script: Path | None = None) -> None:
        self.own = load_script(script) if script is not None else None
        """The script of the file, if any."""

    def dialogue(self, model: str) -> Dialogue:
        """Return a dialogue that plays `script(model)`."""
        from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue

        return ScriptedDialogue(self.script(model))

    def script(self, model: str) -> Script:
        """Return the script of `local-NAME`, the server's own for other models.

        Raises `KeyError` for an unknown `NAME`.
        """
        if model.startswith(LOCAL_PREFIX):
            return self._script(model.removeprefix(LOCAL_PREFIX))
        return self.own or self._script(DEFAULT_SCRIPT)

    def _script(self, name: str) -> Script:
        return self.own if self.own is not None and self.own.name == name else bundled_script(name)

    def recogniser(self, dialogue: Dialogue, tools: Collection[str]) -> Recogniser:
        """Return a recogniser of what `dialogue` understands.

        Raises `MissingExtraError` when neither of its models is installed.
        """
        from gemini_live_runtime.local.recognition.dialogue_recogniser import DialogueRecogniser
        from gemini_live_runtime.local.recognition.recogniser import PocketsphinxRecogniser, has_pocketsphinx
        from gemini_live_runtime.local.recognition.transcriber import shared_transcriber

        transcriber = shared_transcriber()
        if transcriber is None:
            return PocketsphinxRecogniser(dialogue)
        phrases = PocketsphinxRecogniser(dialogue) if has_pocketsphinx() else None
        return DialogueRecogniser(dialogue, transcriber, phrases)

    def speech(self) -> Speech:
        """Return espeak-ng."""
        from gemini_live_runtime.local.speech.espeak import EspeakSpeech

        return EspeakSpeech()

    async def warm_up(self) -> None:
        """Load what a first turn needs: script, recogniser with its models, speech.

        A part that cannot be loaded is left out: the turn that needs it reports why.
        """
        dialogue = self.dialogue("")
        with contextlib.suppress(Exception):
            from gemini_live_runtime.local.recognition.recogniser import shared_engine
            from gemini_live_runtime.local.recognition.transcriber import shared_transcriber

            if (transcriber := shared_transcriber()) is not None:
                transcriber.warm()
            engine = shared_engine()
            await engine.run(engine.prepare, dialogue.grammar, dialogue.pronunciations)
            engine.warm(dialogue.samples)
        with contextlib.suppress(Exception):
            speech = self.speech()
            async for _ in speech.speak("Ready.", ""):
                pass
            await speech.close()

    def known_models(self) -> tuple[str, ...]:
        """Return the known model names that begin with `local-`."""
        own = () if self.own is None else (self.own.name,)
        return tuple(f"{LOCAL_PREFIX}{name}" for name in sorted({*bundled_names(), *own}))

    def recogniser_or_reason(self, *, is_tried: bool = False) -> bool | str:
        """Return True, or why there is no recogniser.

        With `is_tried` Moonshine's model is loaded, a quarter of a second; without it its files are looked for.
        """
        from gemini_live_runtime.local.recognition.recogniser import shared_engine
        from gemini_live_runtime.local.recognition.transcriber import shared_transcriber

        transcriber = shared_transcriber()
        if transcriber is None:
            # Only the engine: a recogniser would load its models, half a second that is not needed yet.
            return _or_reason(shared_engine)
        return _or_reason(transcriber.load) if is_tried else True

    def speech_or_reason(self) -> bool | str:
        """Return True, or why there is no speech synthesis."""
        return _or_reason(self.speech)


def _or_reason(make: Callable[[], Any]) -> bool | str:
    try:
        make()
    except GeminiLiveError as error:
        return str(error)
    return True
