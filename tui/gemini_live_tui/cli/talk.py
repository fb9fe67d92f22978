"""A conversation without a screen: the engine in this process, WAV files as devices, text or JSON lines out."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime.errors import UsageError
from gemini_live_tui.cli.options import DEVICE_OPTIONS, SESSION_OPTIONS, Sound, config_options, spec_of
from gemini_live_tui.config import load

if TYPE_CHECKING:
    from gemini_live_runtime import events as ev
    from gemini_live_runtime.engine.host import InProcessEngine
    from gemini_live_runtime.engine.spec import EngineSpec
    from gemini_live_runtime.session.runner import LiveSession

IDLE_S = 1.0
"""How long nothing may happen before a conversation counts as over, in seconds."""


@click.command()
@click.argument("agent", default="")
@click.option(
    "--mic", type=click.Path(path_type=Path), metavar="FILE", help="WAV file that is spoken into the session."
)
@click.option("--speaker", type=click.Path(path_type=Path), metavar="FILE", help="WAV file the answer is written to.")
@click.option(
    "--text", "texts", multiple=True, metavar="TEXT", help="Text to type, once the last turn is over. Repeatable."
)
@click.option(
    "--until-idle", is_flag=True, help="End when the microphone file is read and nothing is going on for 1 s."
)
@click.option("--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Fail after S seconds.")
@click.option("--plain", "form", flag_value="plain", default="plain", help="Print lines of text (the default).")
@click.option("--json", "form", flag_value="json", help="Print events as JSON lines.")
@click.option("--devices", is_flag=True, help="Use the sound devices instead of files.")
@click.option("--fast", is_flag=True, help="On the embedded server: do not wait for real time.")
@click.option("--script", metavar="FILE", help="Dialogue of the embedded server.")
@config_options(SESSION_OPTIONS, DEVICE_OPTIONS)
def talk(
    agent: str,
    mic: Path | None,
    speaker: Path | None,
    texts: tuple[str, ...],
    until_idle: bool,
    timeout: float,
    form: str,
    devices: bool,
    fast: bool,
    script: str | None,
    flags: dict[str, Any],
) -> int:
    """Hold a conversation without a screen.

    AGENT is a bundled name, MODULE:ATTR or FILE.py:ATTR (default: the configured one). Without --mic, --text and
    --until-idle, lines typed on standard input are sent one by one. The exit code is 0 when the conversation ended
    well, 1 when it failed or took longer than --timeout, 2 when it could not begin.
    """
    from gemini_live_tui.cli.start import chosen_backend, key_found

    if timeout <= 0:
        raise UsageError(f"--timeout is {timeout:g}, it must be above 0", field="timeout", value=timeout)
    if devices and (mic or speaker):
        raise UsageError("Give --devices or WAV files, not both", field="devices")
    if devices and fast:
        raise UsageError("--fast cannot hurry sound devices", remedy="Leave out --devices or --fast", field="fast")
    loaded = load(flags=flags)
    backend = chosen_backend(loaded.config)
    if not loaded.config.backend and backend == "gemini" and not key_found(loaded.config):
        backend = "local"
    kind = "devices" if devices else "files" if mic or speaker else "none"
    sound = Sound(kind=kind, input=str(mic or ""), output=str(speaker or ""), text=kind != "devices" and mic is None)
    spec = spec_of(
        loaded, agent=agent or loaded.config.agent, backend=backend, sound=sound, script=script or "", fast=fast
    )
    interactive = not (mic or texts or until_idle or devices)
    main = _Conversation(spec, deque(texts), until_idle or bool(texts or mic), timeout, form, interactive).run()
    if fast:
        from gemini_live_runtime.clock import run_virtual

        return run_virtual(main)
    return asyncio.run(main)


class _Conversation:
    """One headless session: prints events, types texts when their turn has come, knows when it is over."""

    def __init__(
        self, spec: EngineSpec, texts: deque[str], until_idle: bool, timeout: float, form: str, interactive: bool
    ) -> None:
        self._spec = spec
        self._texts = texts
        self._until_idle = until_idle
        self._timeout = timeout
        self._form = form
        self._interactive = interactive
        self._session: LiveSession | None = None
        self._made = asyncio.Event()
        self._count = 0

    async def run(self) -> int:
        """Hold the conversation; the exit code."""
        from gemini_live_runtime.engine.assemble import make_session
        from gemini_live_runtime.engine.host import in_process

        def factory(*arguments: Any) -> LiveSession:
            self._session = make_session(*arguments)
            self._made.set()
            return self._session

        engine = in_process(self._spec, factory)
        printing = asyncio.create_task(self._print(engine))
        deciding = asyncio.create_task(self._decide(engine))
        try:
            async with asyncio.timeout(self._timeout):
                code = await engine.wait()
        except TimeoutError:
            await engine.hang_up("the time was up")
            code = 1
            print(f"gemini-live-tui: Not over after {self._timeout:g} s. Give more with --timeout.", file=sys.stderr)
        except asyncio.CancelledError:
            await engine.hang_up("interrupted")
            raise
        finally:
            deciding.cancel()
            await asyncio.gather(deciding, return_exceptions=True)
        failed = await printing
        return code or (1 if failed else 0)

    async def _print(self, engine: InProcessEngine) -> bool:
        """Print events as they come; whether one of them means that the conversation failed."""
        from gemini_live_runtime import events as ev
        from gemini_live_runtime.engine.link import Bye, LinkClosed

        failed = False
        write = self._writer()
        try:
            while True:
                message = await engine.link.receive()
                if isinstance(message, Bye):
                    return failed
                if isinstance(message, ev.Event):
                    write(message)
                    payload = message.payload
                    if isinstance(payload, ev.ConnectionClosed) and not payload.requested:
                        failed = True
                        engine.host.hang_up(payload.sentence)
        except LinkClosed:
            return failed

    def _writer(self) -> Callable[[ev.Event], None]:
        if self._form == "json":
            return lambda event: print(event.to_line(), flush=True)
        from gemini_live_runtime.journal.plain import PlainWriter

        writer = PlainWriter()

        def write(event: ev.Event) -> None:
            for line in writer.feed(event):
                print(line, flush=True)

        return write

    async def _decide(self, engine: InProcessEngine) -> None:
        """Type the next text when nothing is going on; hang up once nothing has been for a while."""
        if self._interactive:
            await self._read_lines(engine)
            return
        if not self._until_idle:
            return
        while self._session is None:
            await self._made.wait()
        while self._texts:
            await self._session.until_quiet(0.0)
            await self._type(engine, self._texts.popleft())
            await self._session.until_busy()
        await self._session.until_quiet(IDLE_S, microphone_too=True)
        engine.host.hang_up("nothing more to say")

    async def _read_lines(self, engine: InProcessEngine) -> None:
        """Send standard input line by line, until its end."""
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            if line.strip():
                await self._type(engine, line.strip())
        self._interactive, self._until_idle = False, True
        await self._decide(engine)

    async def _type(self, engine: InProcessEngine, text: str) -> None:
        from gemini_live_runtime.commands import Command, SendText

        self._count += 1
        await engine.link.send(Command(f"talk-{self._count}", SendText(text=text)))
