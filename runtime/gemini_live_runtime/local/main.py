"""Run the embedded server as a program."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.local.default_parts import DefaultParts
from gemini_live_runtime.local.faults import faults_named, listing
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.server import LocalServer
from gemini_live_runtime.threads import start_daemon_thread


def run(options: ServerOptions, *, exit_with_parent: bool = False, lazy: bool = False) -> int:
    """Serve until a signal or the end of standard input; return the exit code.

    Prints one JSON line when ready: with recogniser and speech loaded, unless `lazy`. Raises `GeminiLiveError` for a
    script, host or port that cannot be used.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(_serve(options, DefaultParts(options.script), exit_with_parent, lazy))
    return 0


async def _serve(options: ServerOptions, parts: DefaultParts, exit_with_parent: bool, lazy: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: ctrl+c raises KeyboardInterrupt instead.
            loop.add_signal_handler(name, stop.set)
    if exit_with_parent:
        # The end of a pipe is found only by reading, which cannot be cancelled: hence a daemon thread.
        start_daemon_thread(lambda: _wait_for_end(loop, stop), "standard input")
    server = LocalServer(options, parts)
    url = await server.start()
    if not lazy:
        # Some clients give a first answer five seconds, which a busy machine needs for loading the parts.
        await parts.warm_up()
    ready = {
        "url": url,
        **({"token": options.token} if options.token else {}),
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
    """Parse `arguments` and serve; bad ones give a message and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m gemini_live_runtime.local",
        description="A Live server for the embedded model: no key, no network. Prints one JSON line with its url.",
        epilog=f"faults:\n{listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--script", type=Path, help="dialogue file (default: one that names your tools)")
    parser.add_argument("--go-away-after", type=float, metavar="S", help="announce the end of a connection after S s")
    parser.add_argument("--fault", default="", metavar="NAME[,NAME]", help="simulate these faults, see below")
    parser.add_argument("--fault-seed", type=int, metavar="N", help="simulate faults at random, drawn by this seed")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input does")
    parser.add_argument("--private", action="store_true", help="admit only clients with the token that is printed")
    parser.add_argument("--lazy", action="store_true", help="load recogniser and speech when they are first needed")
    given = parser.parse_args(arguments)
    try:
        options = ServerOptions(
            script=given.script,
            host=given.host,
            port=given.port,
            go_away_after=given.go_away_after,
            faults=faults_named(given.fault),
            fault_seed=given.fault_seed,
            token=os.urandom(32).hex() if given.private else "",
        )
        return run(options, exit_with_parent=given.exit_with_parent, lazy=given.lazy)
    except GeminiLiveError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 0
