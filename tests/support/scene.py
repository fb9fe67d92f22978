"""Hold the conversation of the README's pictures with the concierge, in real time.

What is said comes from a WAV file, the answers from the embedded server. Needs flite and the extra `local`.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import tempfile
import time
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gemini_live_runtime.engine import launch
from gemini_live_runtime.engine.link import Link
from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleSettings

SCENE = (
    (1.0, "what is the weather in Lisbon"),
    (8.0, "tell me a story"),
    (5.5, "book a table"),
    (3.5, "for eight people"),
    (3.5, "at seven"),
)
"""Seconds of silence, then what is said."""

LAST_WORDS = "eight or more"
"""End of the last answer."""

_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


@asynccontextmanager
async def scene(size: tuple[int, int]) -> AsyncIterator[ConsoleApp]:
    """Begin the conversation on a screen of `size` cells."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _speak(folder / "scene.wav", folder)
        spec = EngineSpec(
            session_id=new_session_id(time.time()),
            audio="files",
            input=str(folder / "scene.wav"),
            output=str(folder / "answers.wav"),
            data_dir=name,
        )

        # A process of its own: taking a picture must not hold up the call.
        engine = launch.start_engine(spec)

        async def source() -> Link:
            return await launch.connect(spec.session_id, engine=engine)

        app = ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False))
        try:
            async with app.run_test(size=size):
                yield app
        finally:
            engine.process.terminate()
            await asyncio.to_thread(engine.process.wait, 20)


def is_connected(app: ConsoleApp) -> bool:
    """Return True when the conversation has begun."""
    return bool(app.store.view.blocks)


def is_answered(app: ConsoleApp) -> bool:
    """Return True when the last answer has arrived; it may still be spoken."""
    return any(LAST_WORDS in block.text for block in app.store.view.blocks)


def picture(app: ConsoleApp) -> str:
    """Return the screen as SVG."""
    svg = app.export_screenshot(title="gemini-live-tui demo")
    # The font is fetched from outside by the original; the reader's own monospace does.
    return _FONT.sub("", svg)


def _speak(path: Path, folder: Path) -> None:
    """Write one WAV file of the whole scene."""
    with wave.open(str(path), "wb") as out:
        for number, (pause, text) in enumerate(SCENE):
            part = folder / f"{number}.wav"
            subprocess.run(["flite", "-voice", "slt", "-t", text, "-o", str(part)], check=True)
            with wave.open(str(part)) as read:
                if number == 0:
                    out.setparams(read.getparams())
                out.writeframes(bytes(int(pause * read.getframerate()) * 2))
                out.writeframes(read.readframes(read.getnframes()))
