"""`make bench` runs every bench there is and fails only when one crashes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.bench.__main__ import main
from tests.bench.live import BenchAudio

from gemini_live_runtime.audio.interface import AudioListener

MET = "print('10 of 12')\n"
MISSED = "raise SystemExit(1)\n"
CANNOT = "raise SystemExit('There is no tape measure.')\n"
CRASHING = "1 / 0\n"
WATCHING = """
import os, sys
from tests.bench.terminal import Terminal
print("first figure")
with Terminal([sys.executable, "-c", "print('no such attribute')"], os.environ) as terminal:
    terminal.until(b"LISTENING")
"""

LEAVING = """
import subprocess, sys
worker = "import signal; print('begun', flush=True); signal.pause()"
with open({pipe!r}, "w") as pipe:
    subprocess.Popen([sys.executable, "-c", worker], stdout=pipe)
"""


@pytest.fixture
def benches(tmp_path: Path) -> Path:
    """A folder with one bench of each kind that need not fail the run."""
    for name, code in {"met": MET, "missed": MISSED, "cannot": CANNOT}.items():
        (tmp_path / f"bench_{name}.py").write_text(code)
    (tmp_path / "helper.py").write_text(CRASHING)
    return tmp_path


def test_each_bench_is_run_and_reported(benches: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([], benches) == 0
    out, err = capfd.readouterr()
    assert "10 of 12" in out
    assert "There is no tape measure." in err
    verdicts = [line.split(" s  ")[1] for line in out.splitlines()[-3:]]
    assert verdicts == ["could not run here, see above", "all targets met", "A TARGET WAS MISSED"]


def test_a_bench_that_crashes_fails_the_run_and_the_others_are_run(
    benches: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (benches / "bench_broken.py").write_text(CRASHING)
    assert main([], benches) == 1
    out, err = capfd.readouterr()
    assert "ZeroDivisionError" in err
    assert "10 of 12" in out


def test_a_bench_whose_program_ends_early_fails_the_run_after_its_figures(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bench_watching.py").write_text(WATCHING)
    assert main([], tmp_path) == 1
    out, err = capfd.readouterr()
    assert "first figure" in out
    assert "ended before b'LISTENING' was painted: no such attribute" in err


def test_benches_can_be_named(benches: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (benches / "bench_broken.py").write_text(CRASHING)
    assert main(["met"], benches) == 0
    assert "10 of 12" in capfd.readouterr().out


def test_a_name_that_is_no_bench_is_refused(benches: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["speed"], benches) == 2
    assert "There is no bench 'speed'; there are cannot, met, missed" in capfd.readouterr().err


def test_what_a_bench_has_started_ends_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "bench_leaving.py").write_text(LEAVING.format(pipe=str(pipe)))
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main([], tmp_path) == 0
        os.set_blocking(reader, True)
        # The end of the pipe comes when no process has it open for writing; the worker may end before it says so.
        assert os.read(reader, 10) in (b"begun\n", b"")
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


def test_a_chunk_of_the_microphone_of_the_benches_reaches_the_session() -> None:
    listener = Mock(spec=AudioListener)

    async def body() -> None:
        audio = BenchAudio()
        await audio.open(listener)
        # As its device thread does; the loop is woken before it learns that the thread is done.
        await asyncio.to_thread(audio.deliver, bytes(640))
        await audio.close()

    asyncio.run(body())
    (call,) = listener.on_mic_chunk.call_args_list
    assert call.args[0].pcm == bytes(640)
