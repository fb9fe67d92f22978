"""A program that a model has run gets no key, and leaves no process behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.descriptors import descriptors_before, open_descriptors

from gemini_live_runtime.errors import WorkspaceError
from gemini_live_runtime.tools import programs
from gemini_live_runtime.tools.programs import HEAD, MARGIN, TAIL, Program, ProgramEnd, ProgramRun, command_faults

pytestmark = pytest.mark.skipif(not programs.IS_SUPPORTED, reason="needs groups of processes")

KEY = "AIza" + "K" * 35
LIMIT_S = 60.0


def python(code: str, *more: str) -> list[str]:
    return [sys.executable, "-I", "-c", code, *more]


def run(argv: list[str], folder: Path, *, timeout_s: float = LIMIT_S) -> ProgramEnd:
    return ProgramRun(argv, folder=folder, timeout_s=timeout_s).run()


def stopped_at(line: str, argv: list[str], folder: Path) -> ProgramEnd:
    """Run a program, and stop it once it has printed a line."""

    def on_line(newest: str) -> None:
        if newest == line:
            running.stop("the test stopped it")

    running = ProgramRun(argv, folder=folder, timeout_s=LIMIT_S, on_line=on_line)
    return running.run()


@pytest.fixture
def fifo(tmp_path: Path) -> tuple[Path, Callable[[], str]]:
    """Return the path of a pipe, and a function that waits for the end of its writers.

    The function returns what they have written.
    """
    path = tmp_path / "fifo"
    os.mkfifo(path)
    read: list[str] = []
    thread = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    thread.start()

    def wait() -> str:
        thread.join(LIMIT_S)
        assert not thread.is_alive(), "a process of the group lives on"
        return read[0]

    return path, wait


def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    end = run(python("import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"), tmp_path)
    assert end == ProgramEnd(3, "out\nerr\n")


def test_the_environment_has_four_names_and_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "LD_PRELOAD_X", "PYTHONPATH", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "value-that-must-not-be-there")
    end = run(["/usr/bin/env"], tmp_path)
    names = {line.partition("=")[0] for line in end.output.splitlines()}
    assert names == {"PATH", "HOME", "LANG", "TERM"}
    assert "must-not" not in end.output
    assert "TERM=dumb" in end.output


def test_it_has_no_input_no_terminal_and_no_descriptor_of_the_engine(tmp_path: Path) -> None:
    held = (tmp_path / "held").open("w")
    os.set_inheritable(held.fileno(), True)
    code = (
        "import os, sys\n"
        "print(repr(sys.stdin.read()), os.getsid(0) == os.getpid() == os.getpgid(0))\n"
        "def is_open(fd):\n"
        "    try: os.fstat(fd)\n"
        "    except OSError: return False\n"
        "    return True\n"
        "print([fd for fd in range(3, 256) if is_open(fd)])\n"
        "try: os.open('/dev/tty', os.O_RDWR)\n"
        "except OSError: print('no terminal')\n"
    )
    with held:
        assert run(python(code), tmp_path).output == "'' True\n[]\nno terminal\n"


def test_it_runs_in_its_folder(tmp_path: Path) -> None:
    assert run(python("import os; print(os.getcwd())"), tmp_path).output == f"{tmp_path.resolve()}\n"


def test_arguments_reach_it_one_by_one_without_a_shell(tmp_path: Path) -> None:
    program = Program("show", [*python("import sys; print(sys.argv[1:])"), "first", "{args}", "last"], folder=tmp_path)
    wild = ["; touch pwned", "$(touch pwned)", "`touch pwned`", "a b", "*", "", "é😀", "x\ny", "{args}"]
    end = run(program.argv(wild), tmp_path)
    assert end.output == f"{['first', *wild, 'last']}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_placeholder_within_an_element_stays_as_it_is(tmp_path: Path) -> None:
    program = Program("show", ["/bin/echo", "x{args}"], folder=tmp_path)
    assert not program.takes_arguments
    assert program.argv() == ["/bin/echo", "x{args}"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-rf"], "takes no options"),
        (["ok", "--exec=x"], "takes no options"),
        (["a\0b"], "cannot have the argument"),
        (["\ud800"], "cannot have the argument"),
        (["x" * 1001], "at most 1000"),
        (["x" * 1000] * 5, "at most 4000"),
        (["x"] * 51, "at most 50"),
        ([7], "at most 1000"),
    ],
)
def test_arguments_that_cannot_be_are_refused(tmp_path: Path, arguments: list[str], reason: str) -> None:
    with pytest.raises(WorkspaceError, match=reason) as raised:
        Program("show", ["/bin/echo", "{args}"], folder=tmp_path).argv(arguments)
    assert str(raised.value).isprintable()


def test_options_are_taken_where_the_entry_says_so(tmp_path: Path) -> None:
    assert Program("show", ["/bin/echo", "{options}"], folder=tmp_path).argv(["-n"]) == ["/bin/echo", "-n"]


def test_a_program_without_a_place_takes_no_arguments(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="takes no arguments"):
        Program("show", ["/bin/echo"], folder=tmp_path).argv(["x"])


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ([], "is empty"),
        (["{args}"], "begin with a program"),
        (["x", "{args}", "{options}"], "more than one"),
        (["x", ""], "no list of texts"),
        (["x\0"], "no list of texts"),
        (["x", 1], "no list of texts"),
        ("make test", "no list of texts"),
        (["make", "{args}"], ""),
    ],
)
def test_faults_of_an_entry_are_told(command: list[str], fault: str) -> None:
    assert fault in command_faults(command)
    assert bool(fault) == bool(command_faults(command))


def executable(path: Path, text: str = "#!/bin/sh\necho mine\n") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_in_the_home_of_no_user_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="was not found when the session began"):
        Program("evil", ["~nobody-of-this-name/evil"], folder=tmp_path).argv()


def test_relative_entries_of_path_find_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "evil")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".::{os.pathsep}/usr/bin")
    with pytest.raises(WorkspaceError, match="was not found when the session began"):
        Program("evil", ["evil"], folder=tmp_path).argv()
    assert "." not in programs.environment()["PATH"].split(os.pathsep)


def test_a_later_path_does_not_change_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program("env", ["env"], folder=tmp_path)
    before = program.argv()
    executable(tmp_path / "env")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program.argv() == before


def test_a_relative_program_lies_in_its_folder(tmp_path: Path) -> None:
    path = executable(tmp_path / "check.sh")
    assert run(Program("check", ["./check.sh"], folder=tmp_path).argv(), tmp_path).output == "mine\n"
    assert Program("check", ["./check.sh"], folder=tmp_path).argv() == [str(path)]


def test_what_cannot_be_started_is_a_sentence(tmp_path: Path) -> None:
    path = executable(tmp_path / "broken", "no program\n")
    with pytest.raises(WorkspaceError, match="cannot be started"):
        run([str(path)], tmp_path)
    with pytest.raises(WorkspaceError, match="cannot be started"):
        run(["/bin/echo"], tmp_path / "missing")


def test_one_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
    end = stopped_at("ready", python(f"{code}\nwhile True: signal.pause()"), tmp_path)
    assert (end.code, end.stopped, end.output) == (-9, "the test stopped it", "ready\n")


def test_one_that_is_asked_to_end_may_clean_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "TERM_S", LIMIT_S)
    code = (
        "import os, signal\n"
        "def end(*_): os.write(1, b'cleaned up\\n'); os._exit(5)\n"
        "signal.signal(signal.SIGTERM, end); os.write(1, b'ready\\n')\n"
        "while True: signal.pause()"
    )
    assert stopped_at("ready", python(code), tmp_path) == ProgramEnd(5, "ready\ncleaned up\n", "the test stopped it")


CHILD = (
    "import signal, sys; f = open(sys.argv[1], 'w'); f.write('child '); f.flush(); print('up', flush=True)\n"
    "signal.pause()"
)
PARENT = f"import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', {CHILD!r}, sys.argv[1]])"


def test_what_it_has_started_ends_with_it(tmp_path: Path, fifo: tuple[Path, Callable[[], str]]) -> None:
    path, wait = fifo
    code = f"{PARENT}\nwhile not open(sys.argv[2]).read(): pass"
    marker = tmp_path / "marker"
    marker.touch()

    def on_line(line: str) -> None:
        marker.write_text("go")

    argv = python(code, str(path), str(marker))
    end = ProgramRun(argv, folder=tmp_path, timeout_s=LIMIT_S, on_line=on_line).run()
    assert (end.code, wait()) == (0, "child ")


def test_what_it_has_started_ends_when_it_is_stopped(tmp_path: Path, fifo: tuple[Path, Callable[[], str]]) -> None:
    path, wait = fifo
    end = stopped_at("up", python(f"{PARENT}\nc.wait()", str(path)), tmp_path)
    assert (end.code, wait()) == (-15, "child ")


ENGINE = """
import sys
from gemini_live_runtime.tools.programs import ProgramRun
ProgramRun(sys.argv[1:], folder=".", timeout_s=60.0, on_line=lambda line: print(line, flush=True)).run()
"""


def test_it_and_what_it_has_started_end_when_the_engine_is_killed(
    tmp_path: Path, fifo: tuple[Path, Callable[[], str]]
) -> None:
    path, wait = fifo
    argv = python(f"{PARENT}\nc.wait()", str(path))
    with subprocess.Popen([sys.executable, "-c", ENGINE, *argv], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        assert engine.stdout.readline() == "up\n"
        engine.kill()
    assert wait() == "child "


def test_one_that_takes_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    end = run(python("import signal; signal.pause()"), tmp_path, timeout_s=0.05)
    assert end.stopped == "it took longer than 0.05 s"


def test_one_that_is_stopped_before_it_begins_does_not_begin(tmp_path: Path) -> None:
    running = ProgramRun(["/usr/bin/touch", "begun"], folder=tmp_path, timeout_s=LIMIT_S)
    running.stop("cancelled")
    assert running.run().stopped == "cancelled"
    assert list(tmp_path.iterdir()) == []
    running.stop("again")


def test_one_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    end = run(python("import os, sys; os.close(1); os.close(2); os._exit(4)"), tmp_path)
    assert (end.code, end.output) == (4, "")


def test_an_output_without_end_is_cut_to_begin_and_end(tmp_path: Path) -> None:
    code = "print('first')\nfor n in range(2_000_000): print('line', n)\nprint('last')"
    end = run(python(code), tmp_path)
    assert end.output.startswith("first\nline 0\n")
    assert end.output.endswith("line 1999999\nlast\n")
    assert "bytes are left out …]" in end.output
    assert len(end.output) <= HEAD + TAIL + 2 * MARGIN + 100


def test_a_gigabyte_without_a_line_is_not_kept(tmp_path: Path) -> None:
    end = run(["/usr/bin/head", "-c", "1000000000", "/dev/zero"], tmp_path)
    assert (end.code, len(end.output) < 100) == (0, True)


def test_escape_sequences_are_removed(tmp_path: Path) -> None:
    end = run(python(r"print('a\x1b[31mred\x1b]0;t\x07\u202eb\x9bz')"), tmp_path)
    assert "\x1b" not in end.output
    assert end.output.isprintable() or end.output.endswith("\n")


def test_secrets_are_removed_also_where_the_output_is_cut(tmp_path: Path) -> None:
    assert "KKKK" not in run(python(f"print('key {KEY}')"), tmp_path).output
    for shift in range(0, 60, 7):
        code = f"import sys; sys.stdout.write('x' * {shift} + ('{KEY} ' * 5000))"
        assert "KKKKK" not in run(python(code), tmp_path).output


def test_the_newest_line_is_reported_without_secrets_and_never_in_part(tmp_path: Path) -> None:
    code = f"import sys, signal; sys.stdout.write('key {KEY}\\nhalf {KEY[:20]}'); sys.stdout.flush(); signal.pause()"
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        running.stop("enough")

    running = ProgramRun(python(code), folder=tmp_path, timeout_s=LIMIT_S, on_line=on_line)
    running.run()
    assert len(lines) == 1
    assert lines[0].startswith("key")
    assert "KKKK" not in lines[0]


def test_no_descriptor_and_no_process_is_left(tmp_path: Path) -> None:
    run(["/bin/echo"], tmp_path)
    before = descriptors_before()
    for _ in range(5):
        run(["/bin/echo"], tmp_path)
        with pytest.raises(WorkspaceError):
            run([str(tmp_path / "missing")], tmp_path)
    assert open_descriptors() == before
    with contextlib.suppress(ChildProcessError):
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)
