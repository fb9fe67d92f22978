"""Take the README's picture of a real conversation on the embedded server.

Run `python -m tests.support.take_picture docs/console.svg`. The conversation is spoken from a WAV file. Needs flite and
the extra `local`; takes about half a minute, it is real time.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

from gemini_live_runtime.engine.assemble import make_session
from gemini_live_runtime.engine.host import in_process
from gemini_live_runtime.engine.link import Link
from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleSettings

SCENE = (
    (1.0, "what is the weather in Lisbon"),
    (8.0, "tell me a story"),
    (5.5, "book a table for four people at seven"),
    (5.0, "count to twenty"),
)
"""Seconds of silence, then what is said."""

LAST_WORDS = "twelve"


def spoken(path: Path, folder: Path) -> None:
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


async def take(target: Path) -> None:
    """Hold the conversation and save the screen in the middle of its last answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spoken(folder / "scene.wav", folder)
        spec = EngineSpec(
            session_id=new_session_id(time.time()),
            audio="files",
            input=str(folder / "scene.wav"),
            output=str(folder / "answers.wav"),
            data_dir=name,
        )

        async def source() -> Link:
            return in_process(spec, make_session).link

        app = ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False))
        async with app.run_test(size=(120, 36)) as pilot:
            while not any(LAST_WORDS in block.text for block in app.store.view.blocks):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            await asyncio.sleep(1.5)
            await pilot.pause()
            svg = app.export_screenshot(title="gemini-live-tui demo")
            # The font is fetched from outside by the original; the reader's own monospace does.
            target.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
