"""Start an engine process and connect to it.

The engine is started first and found later: `start_engine` returns as soon as the process exists, so that the console
can paint meanwhile, and `connect` polls the socket, since the engine cannot call back. The process is in a session of
its own (no terminal's hang-up reaches it), imports nothing from the working folder (`-P`) except an agent, and its
output goes to a file until it captures its output itself; from that file comes the reason when it dies before it
listens.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import paths
from gemini_live_runtime.engine.registry import (
    OUTPUT_FILE,
    SPEC_FILE,
    engine_folder,
    is_alive,
    list_engines,
    remove_folder,
)
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.engine.socket_link import SocketLink

CONNECT_S = 20.0
"""Seconds for an engine to begin to listen."""

_OUTPUT_CHARS = 2000
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])


@record
class EngineProcess:
    """Started engine, perhaps not ready yet; it outlives this object and this process."""

    session_id: str
    folder: Path
    process: subprocess.Popen[bytes]

    def startup_output(self) -> str:
        """Return the engine's output before it could send events, sanitised."""
        from gemini_live_runtime.redactor import redactor
        from gemini_live_runtime.text import sanitise

        try:
            text = (self.folder / OUTPUT_FILE).read_text("utf-8", "replace")
        except OSError:
            return ""
        return redactor.text(sanitise(text)).strip()[-_OUTPUT_CHARS:]


def start_engine(
    spec: EngineSpec, *, root: Path | None = None, program: Sequence[str] = (), where: Path | None = None
) -> EngineProcess:
    """Start the engine of `spec` as a process and return at once.

    Its working folder is `where`, if that exists, else that of this process. `program` replaces `python -P -m
    gemini_live_runtime.engine`; the spec's file is its last argument. Raises `EngineError` when it cannot be started,
    or an engine of that session runs already.
    """
    folder = engine_folder(spec.session_id, root)
    list_engines(root)  # removes the folders of dead engines, perhaps one of this session
    if is_alive(folder):
        raise EngineError(f"An engine {spec.session_id} is running already", field="session id")
    # Imported here: a console imports this module before it paints.
    from gemini_live_runtime.wire.credentials import held_secrets, hold_secrets

    # Not by the environment, which other processes of this user can read, and children inherit.
    hold_secrets()
    try:
        paths.own_folder(folder.parent, create=True)
        paths.own_folder(folder, create=True)
        paths.write_private(folder / SPEC_FILE, spec.to_json())
        output = paths.open_private(folder / OUTPUT_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            process = subprocess.Popen(
                [*(program or (sys.executable, "-P", "-m", "gemini_live_runtime.engine")), str(folder / SPEC_FILE)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=_environment(),
                cwd=where if where is not None and where.is_dir() else None,
                **_detached(),
            )
        finally:
            os.close(output)
    except OSError as error:
        remove_folder(folder)
        raise EngineError(
            f"The engine cannot be started: {error.strerror or error}",
            remedy="Set XDG_RUNTIME_DIR to a writable folder of your own",
            field="runtime folder",
            value=str(folder),
        ) from None
    _hand_over(process, held_secrets())
    return EngineProcess(spec.session_id, folder, process)


def _hand_over(process: subprocess.Popen[bytes], secrets: dict[str, str]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as pipe:  # an engine that dies at once reads nothing
        pipe.write(json.dumps(secrets).encode() + b"\n")


def take_secrets() -> None:
    """Hold the secrets that the starter of this engine wrote to its standard input.

    Standard input is empty from then on.
    """
    from gemini_live_runtime.wire.credentials import SECRET_VARIABLES, hold

    with contextlib.suppress(OSError, ValueError, AttributeError):
        if not stat.S_ISFIFO(os.fstat(0).st_mode):
            return
        with open(0, "rb", closefd=False) as pipe:
            given = json.loads(pipe.readline())
        hold({name: given[name] for name in SECRET_VARIABLES if isinstance(given.get(name), str)})
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)


async def connect(
    session_id: str, *, timeout: float = CONNECT_S, engine: EngineProcess | None = None, root: Path | None = None
) -> SocketLink:
    """Return a link to the engine of `session_id`, once it listens.

    `engine` is the process that was started for it. Raises `EngineError` for an unknown engine, one that died (with its
    output), or one that does not listen within `timeout` seconds.
    """
    # Imported here: a console starts its engine, then paints, then connects.
    from gemini_live_runtime.engine.socket_link import SocketLink

    folder = engine.folder if engine is not None else engine_folder(session_id, root)
    loop = asyncio.get_running_loop()
    deadline, step = loop.time() + timeout, 0.01
    while True:
        try:
            return await SocketLink.connect(folder)
        except OSError:
            pass
        if engine is not None and engine.process.poll() is not None:
            output = engine.startup_output()
            if not is_alive(folder):  # else it is that of another engine of the same session
                remove_folder(folder)
            raise EngineError(
                f"The engine ended before it could be reached (exit code {engine.process.returncode})"
                + (f": {output}" if output else ""),
                field="session id",
                value=session_id,
            )
        if engine is None and not is_alive(folder):
            raise EngineError(
                f"There is no engine {session_id}", remedy="List engines with: gemini-live-tui ps", field="session id"
            )
        if loop.time() >= deadline:
            raise EngineError(
                f"The engine {session_id} did not answer within {timeout:.0f} s",
                remedy="Look at it with: gemini-live-tui ps",
                field="session id",
            )
        await asyncio.sleep(step)
        step = min(step * 1.5, 0.05)


def _environment() -> dict[str, str]:
    """Return this environment with this package on PYTHONPATH.

    The engine removes the addition with `drop_addition`.
    """
    environment = dict(os.environ)
    before = environment.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join([_MARK, _PACKAGE_ROOT, *([before] if before else [])])
    return environment


_MARK = os.path.join(_PACKAGE_ROOT, ".engine")


def drop_addition() -> None:
    """Restore the PYTHONPATH that the engine's starter had, for its child processes."""
    parts = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if parts[:2] == [_MARK, _PACKAGE_ROOT]:
        if parts[2:]:
            os.environ["PYTHONPATH"] = os.pathsep.join(parts[2:])
        else:
            del os.environ["PYTHONPATH"]
        sys.path[:] = [entry for entry in sys.path if entry != _MARK]


def _detached() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
