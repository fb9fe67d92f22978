"""Run programs that a person has listed, for a model that is not trusted.

This is no sandbox: a program has the rights of the user who runs the engine. What the model decides is which listed
program runs, in which listed folder, and the arguments where its entry has a place for them. There is no shell, and the
environment has neither keys nor anything else of the engine's.

A program leads a process group of its own, which ends as a whole: with the program, when the call is cancelled or takes
too long, and when the engine dies.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from gemini_live_runtime.errors import UsageError, WorkspaceError
from gemini_live_runtime.paths import expand_user
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise, sanitise_line
from gemini_live_runtime.threads import start_daemon_thread
from gemini_live_runtime.tools.group_guard import GroupGuard

ARGUMENTS, OPTIONS = "{args}", "{options}"
"""Elements of a command in whose place the model's arguments come; those of `OPTIONS` may begin with a dash."""

HEAD = 8 * 1024
TAIL = 24 * 1024
"""Bytes of the output's begin and end that are kept."""

MARGIN = 4 * 1024
"""Bytes beyond these within which the cut is moved to the end of a line, since it could halve a secret."""

MAX_ARGUMENTS = 50
MAX_ARGUMENT = 1000
MAX_TOGETHER = 4000
"""Arguments of a call, characters of each, and of all: a person has to read them before saying yes."""

TERM_S = 0.5
"""Seconds that a process group has to end by itself before it is killed."""

PROGRESS_S = 0.25
"""Seconds between two reports of the newest line."""

MAX_LINE = 200
"""Characters of a line in a report."""

IS_SUPPORTED = hasattr(os, "killpg")
"""True where processes have groups."""

_READ = 64 * 1024
_PIPE = 1024 * 1024
"""Bytes that a pipe may hold."""


def command_faults(command: Sequence[str]) -> str:
    """Return why a command cannot be listed, as a part of a sentence; "" when it can."""
    if isinstance(command, str) or not all(isinstance(part, str) and part and "\0" not in part for part in command):
        return "is no list of texts"
    if not command:
        return "is empty"
    if command[0] in (ARGUMENTS, OPTIONS):
        return "has to begin with a program"
    if sum(part in (ARGUMENTS, OPTIONS) for part in command) > 1:
        return f"has more than one of {ARGUMENTS} and {OPTIONS}"
    return ""


class Program:
    """Program that a model may have run.

    Where it lies is decided here, once: a later change of `PATH` or of the current folder has no effect.
    """

    def __init__(self, name: str, command: Sequence[str], *, folder: str | Path) -> None:
        """`command` is the program and its arguments; a relative path begins in `folder`."""
        self.name = name
        self._rest = tuple(command[1:])
        self._wanted = command[0]
        self._executable = _executable(command[0], Path(folder).expanduser().absolute())

    @property
    def takes_arguments(self) -> bool:
        """True when the model may give arguments."""
        return ARGUMENTS in self._rest or OPTIONS in self._rest

    def argv(self, arguments: Sequence[str] = ()) -> list[str]:
        """Return the command with the model's arguments; raise `WorkspaceError`."""
        if not self._executable:
            raise WorkspaceError(
                f"The program {sanitise_line(self._wanted, 80)} of {self.name} was not found when the session began",
                remedy="Tell the user to install it, or to correct its entry",
                field="program",
                value=self.name,
            )
        if arguments and not self.takes_arguments:
            raise _bad_arguments(self.name, "takes no arguments", "Leave them out")
        if len(arguments) > MAX_ARGUMENTS:
            raise _bad_arguments(self.name, f"takes at most {MAX_ARGUMENTS} arguments", "Give less")
        for one in arguments:
            self._check(one)
        if sum(map(len, arguments)) > MAX_TOGETHER:
            raise _bad_arguments(self.name, f"takes at most {MAX_TOGETHER} characters of arguments", "Give less")
        argv = [self._executable]
        for part in self._rest:
            argv += arguments if part in (ARGUMENTS, OPTIONS) else [part]
        return argv

    def _check(self, argument: object) -> None:
        if not isinstance(argument, str) or len(argument) > MAX_ARGUMENT:
            raise _bad_arguments(self.name, f"takes texts of at most {MAX_ARGUMENT} characters", "Give shorter ones")
        shown = sanitise_line(argument, 60)
        if "\0" in argument or any("\ud800" <= sign <= "\udfff" for sign in argument):
            raise _bad_arguments(self.name, f"cannot have the argument {shown!r}", "Give plain text")
        if argument.startswith("-") and OPTIONS not in self._rest:
            raise _bad_arguments(self.name, f"takes no options such as {shown!r}", "Leave out what begins with a dash")


def _bad_arguments(name: str, what: str, remedy: str) -> WorkspaceError:
    return WorkspaceError(f"{name} {what}", remedy=remedy, field="arguments", value=name)


def _executable(program: str, folder: Path) -> str:
    """Return the absolute path of a program; "" when it is missing."""
    if "/" in program:
        try:
            path = (folder / expand_user(program)).absolute()
        except UsageError:
            return ""
        return str(path) if os.access(path, os.X_OK) and path.is_file() else ""
    # A relative entry of PATH would be one of whatever folder the engine is in.
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    return shutil.which(program, path=os.pathsep.join(places)) or ""


def environment() -> dict[str, str]:
    """Return the environment of a program: what nearly every one needs, and no more."""
    places = os.environ.get("PATH", os.defpath)
    return {
        "PATH": os.pathsep.join(place for place in places.split(os.pathsep) if os.path.isabs(place)) or os.defpath,
        "HOME": os.path.expanduser("~"),
        "LANG": os.environ.get("LANG", "") or "C.UTF-8",
        "TERM": "dumb",
    }


@record
class ProgramEnd:
    """End of a run.

    `code` is the exit code; of one that was killed, minus the number of the signal.
    """

    code: int
    output: str
    """Output without secrets and escape sequences, of a long one begin and end."""
    stopped: str = ""
    """Reason for which it was ended early."""


class ProgramRun:
    """Single run of a program.

    `run` waits in a thread; `stop` may be called from any other.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        folder: str | Path,
        timeout_s: float,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`on_line` gets the newest line now and then, without secrets.

        It is called in the thread of `run`.
        """
        self._argv = list(argv)
        self._folder = folder
        self._timeout_s = timeout_s
        self._on_line = on_line
        self._wake_read, self._wake_write = os.pipe()
        self._lock = threading.Lock()
        self._is_open = True
        self._stopped = ""
        self._has_exited = threading.Event()

    def stop(self, reason: str) -> None:
        """End the program and what it has started, soon; no-op once it has ended."""
        with self._lock:
            self._stopped = self._stopped or reason
            if self._is_open:
                os.write(self._wake_write, b"x")

    def run(self) -> ProgramEnd:
        """Run the program to its end; raise `WorkspaceError` when it cannot be started."""
        try:
            return self._run()
        finally:
            with self._lock:
                self._is_open = False
                os.close(self._wake_read)
                os.close(self._wake_write)

    def _run(self) -> ProgramEnd:
        if self._stopped:
            return ProgramEnd(-signal.SIGTERM, "", self._stopped)
        process = self._started()
        guard = GroupGuard(process.pid)
        assert process.stdout is not None
        output = _Output()
        with process.stdout:
            try:
                start_daemon_thread(lambda: self._await_exit(process), "program")
                self._follow(process.stdout.fileno(), output)
                self._end(process)
                _drain(process.stdout.fileno(), output)
            finally:
                # Whatever happened: nothing of it goes on. The group's number stays taken until the program is reaped.
                _signal(process, signal.SIGKILL)
                guard.release()
                code = process.wait()
        return ProgramEnd(code, output.text(), self._stopped)

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=environment(),
                start_new_session=True,
                close_fds=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "an argument cannot be given to a program"
            raise WorkspaceError(
                f"{sanitise_line(self._argv[0], 80)} cannot be started: {why}",
                remedy="Check the program and its folder",
                field="program",
                value=self._argv[0],
            ) from None

    def _await_exit(self, process: subprocess.Popen[bytes]) -> None:
        """Tell the other thread that the program has exited."""
        if hasattr(os, "waitid"):
            # Without reaping it: until then no other process can get its number.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        self._has_exited.set()
        with self._lock:
            if self._is_open:
                os.write(self._wake_write, b"x")

    def _follow(self, stdout: int, output: _Output) -> None:
        """Read until the program exits, is stopped, or has taken too long."""
        end, report_at = time.monotonic() + self._timeout_s, 0.0
        has_news = False
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while not (self._stopped or self._has_exited.is_set()):
                now = time.monotonic()
                if now >= end:
                    self.stop(f"it took longer than {self._timeout_s:g} s")
                    return
                if has_news and now >= report_at:
                    has_news, report_at = False, now + PROGRESS_S
                    if line := output.last_line():
                        self._on_line(line)
                ready = selector.select((min(end, report_at) if has_news else end) - now)
                if stdout in [key.fd for key, _ in ready]:
                    if data := os.read(stdout, _READ):
                        output.add(data)
                        has_news = True
                    else:
                        # It has closed its output and goes on.
                        selector.unregister(stdout)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Ask the group to end, if the program was stopped, and give it a moment."""
        if not self._has_exited.is_set():
            _signal(process, signal.SIGTERM)
            self._has_exited.wait(TERM_S)
        # What the program has started ends with it.
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _drain(stdout: int, output: _Output) -> None:
    """Read what the pipe still has, without waiting for others that have it open."""
    os.set_blocking(stdout, False)
    end = output.total + _PIPE
    with contextlib.suppress(BlockingIOError):
        while output.total < end and (data := os.read(stdout, _READ)):
            output.add(data)


class _Output:
    """Begin and end of an output of any length."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        self._head += data[: max(0, HEAD + MARGIN - len(self._head))]
        self._tail += data
        if len(self._tail) > 2 * (TAIL + MARGIN):
            del self._tail[: -(TAIL + MARGIN)]

    def last_line(self) -> str:
        """Return the newest whole line that is not empty, without secrets."""
        lines = bytes(self._tail[-MARGIN:]).replace(b"\r", b"\n").split(b"\n")[:-1]
        # What has no begin or no end yet could be half a secret.
        lines = lines if self.total <= MARGIN else lines[1:]
        whole = next((line for line in reversed(lines) if line.strip()), b"")
        return sanitise_line(_clean(whole), MAX_LINE)

    def text(self) -> str:
        """Return the output without secrets and escape sequences.

        Of a long one these are begin and end.
        """
        if self.total <= HEAD + TAIL:
            return _clean(bytes(self._tail))
        head, tail = bytes(self._head), bytes(self._tail[-(TAIL + MARGIN) :])
        head, tail = head[: _last_break(head)], tail[_first_break(tail) :]
        left_out = self.total - len(head) - len(tail)
        return f"{_clean(head)}\n[… {left_out:,} bytes are left out …]\n{_clean(tail)}"


def _first_break(data: bytes) -> int:
    """Return where the first whole line begins, else the first word, within `MARGIN`.

    Half a secret would not be recognised as one.
    """
    found = data.find(b"\n", 0, MARGIN)
    found = found if found >= 0 else data.find(b" ", 0, MARGIN)
    return found + 1 if found >= 0 else MARGIN


def _last_break(data: bytes) -> int:
    """Return where the last whole line ends, else the last word, within `MARGIN`."""
    found = data.rfind(b"\n", len(data) - MARGIN)
    found = found if found >= 0 else data.rfind(b" ", len(data) - MARGIN)
    return found if found >= 0 else len(data) - MARGIN


def _clean(data: bytes) -> str:
    return sanitise(redactor.text(data.decode("utf-8", "replace")))
