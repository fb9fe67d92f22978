"""Take the README's animated picture of a real conversation.

Run `python -m tests.support.take_animation docs/console-animated.svg [FOLDER]`; the folder gets the single frames, one
for each second. It takes about forty seconds: it is real time.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from pathlib import Path

from tests.support.scene import is_answered, is_connected, picture, scene
from tests.support.svg_animation import Frame, animate

SIZE = (104, 33)
EVERY_S = 1.0
AFTER_S = 6.0
"""Seconds of the last answer that are shown."""

LAST_S = 4.0
"""Seconds for which the last frame stays."""


async def take() -> list[Frame]:
    """Hold the conversation and return its frames."""
    pictures: list[tuple[float, str]] = []
    end = float("inf")
    async with scene(SIZE) as app:
        while not is_connected(app):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        while time.monotonic() < end:
            pictures.append((time.monotonic(), picture(app)))
            if end == float("inf") and is_answered(app):
                end = time.monotonic() + AFTER_S
            await asyncio.sleep(EVERY_S)
    times = [at for at, _ in pictures]
    stays = [*(after - at for at, after in itertools.pairwise(times)), LAST_S]
    return [Frame(svg, round(seconds, 2)) for (_, svg), seconds in zip(pictures, stays, strict=True)]


def main(target: Path, folder: Path | None) -> None:
    """Write the animation, and its frames if there is a folder for them."""
    frames = asyncio.run(take())
    for number, frame in enumerate(frames if folder else ()):
        assert folder is not None
        (folder / f"{number:02d}.svg").write_text(frame.svg, "utf-8")
    target.write_text(animate(frames, poster=len(frames) - 1), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
