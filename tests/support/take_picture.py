"""Take a still picture of a real conversation on the embedded server.

Run `python -m tests.support.take_picture docs/console.svg`. It takes about half a minute: it is real time.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.support.scene import is_answered, picture, scene


async def take(target: Path) -> None:
    """Hold the conversation and save the screen in the middle of its last answer."""
    async with scene((120, 36)) as app:
        while not is_answered(app):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        await asyncio.sleep(3)
        target.write_text(picture(app), "utf-8")


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
