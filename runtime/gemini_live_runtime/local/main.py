"""The embedded server as a program: `serve-local`, and `python -m gemini_live_runtime.local`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gemini_live_runtime.errors import GeminiLiveError, UsageError
from gemini_live_runtime.local.default_parts import DefaultParts
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.server import LocalServer


@dataclass(frozen=True, slots=True)
class MainOptions:
    """Of the program. `exit_with_parent`: end when standard input does."""

    server: ServerOptions
    exit_with_parent: bool = False


def run(options: MainOptions) -> int:
    """Serve until a signal, printing one JSON line when ready; return the exit code. Raises `GeminiLiveError`."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    parts = DefaultParts(options.server.script)
    asyncio.run(_serve(options, parts))
    return 0


async def _serve(options: MainOptions, parts: DefaultParts) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: ctrl+c raises KeyboardInterrupt instead.
            loop.add_signal_handler(name, stop.set)
    if options.exit_with_parent:
        # A pipe's end is seen by reading it, which cannot be cancelled: a thread that nobody waits for.
        threading.Thread(target=_wait_for_end, args=(loop, stop), daemon=True).start()
    server = LocalServer(options.server, parts)
    url = await server.start()
    ready = {
        "url": url,
        "models": parts.known_models(),
        "recogniser": parts.recogniser_or_reason(),
        "speech": parts.speech_or_reason(),
    }
    try:
        print(json.dumps(ready), flush=True)
        await stop.wait()
    finally:
        await server.stop()


def _wait_for_end(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    with contextlib.suppress(OSError, ValueError):
        while sys.stdin.buffer.read(65536):
            pass
    with contextlib.suppress(RuntimeError):  # The loop has ended by itself.
        loop.call_soon_threadsafe(stop.set)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse `arguments` and serve; bad ones end in a sentence and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m gemini_live_runtime.local",
        description="A Live server for the embedded model: no key, no network. Prints one JSON line with its url.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--script", type=Path, help="dialogue file (default: the concierge)")
    parser.add_argument("--go-away-after", type=float, metavar="S", help="announce the end of a connection after S s")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input does")
    given = parser.parse_args(arguments)
    try:
        return run(
            MainOptions(options_of(given.host, given.port, given.script, given.go_away_after), given.exit_with_parent)
        )
    except GeminiLiveError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 0


def options_of(host: str, port: int, script: Path | None, go_away_after: float | None) -> ServerOptions:
    """Checked options; raises `UsageError`."""
    if not 0 <= port <= 65535:
        raise UsageError(f"Port {port} does not exist", remedy="Use 0 to 65535", field="port", value=port)
    if go_away_after is not None and not 0 < go_away_after < float("inf"):
        raise UsageError(
            f"--go-away-after {go_away_after} is no time", remedy="Give seconds above 0", field="go-away-after"
        )
    return ServerOptions(script=script, host=host, port=port, go_away_after=go_away_after)
