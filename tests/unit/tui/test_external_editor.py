"""Files open in the user's editor or pager, which has the terminal meanwhile."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.app import SuspendNotSupported

from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.harness.external_editor import editor_command, open_in_editor
from gemini_live_tui.settings import ConsoleSettings


class Terminal:
    """Application and console, as far as an editor needs them."""

    def __init__(self, *, can_suspend: bool = True) -> None:
        self.lends_terminal = False
        self.copied = ""
        self.happened: list[str] = []
        self._can_suspend = can_suspend

    @contextmanager
    def batch_update(self) -> Iterator[None]:
        self.happened.append("drawing stops")
        yield
        self.happened.append("drawing goes on")

    @contextmanager
    def suspend(self) -> Iterator[None]:
        if not self._can_suspend:
            raise SuspendNotSupported
        assert self.lends_terminal
        self.happened.append("suspended")
        yield
        self.happened.append("resumed")

    def refresh(self, *, layout: bool) -> None:
        self.happened.append("painted")

    def copy_to_clipboard(self, text: str) -> None:
        self.copied = text


async def opened(terminal: Any, path: Path) -> str:
    return await open_in_editor(terminal, terminal, path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    path.write_text("{}")
    return path


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set an editor that writes into the file and ends with the code in $CODE."""
    script = tmp_path / "editor.py"
    script.write_text("import os, sys\nopen(sys.argv[1], 'w').write('edited')\nsys.exit(int(os.environ['CODE']))\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    monkeypatch.setenv("CODE", "0")
    return script


async def test_the_editor_has_the_terminal_until_it_ends(editor: Path, file: Path) -> None:
    terminal = Terminal()
    assert await opened(terminal, file) == ""
    assert file.read_text() == "edited"
    assert terminal.happened == ["drawing stops", "suspended", "resumed", "drawing goes on", "painted"]
    assert not terminal.lends_terminal


async def test_an_editor_that_fails_is_told(editor: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE", "3")
    assert "ended with code 3. The file:" in await opened(Terminal(), file)


async def test_without_a_terminal_to_lend_the_path_is_copied(editor: Path, file: Path) -> None:
    terminal = Terminal(can_suspend=False)
    assert await opened(terminal, file) == f"Copied the path: {file}"
    assert terminal.copied == str(file)
    assert not terminal.lends_terminal


async def test_without_an_editor_the_path_is_copied(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR", "PAGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    assert await opened(Terminal(), file) == f"Copied the path: {file}"


async def test_a_file_that_is_gone_is_not_opened(editor: Path, tmp_path: Path) -> None:
    assert await opened(Terminal(), tmp_path / "gone") == f"It has no file any more: {tmp_path / 'gone'}"


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"VISUAL": "sh -x", "EDITOR": "ls"}, ["sh", "-x"]),
        ({"VISUAL": "no-such-editor", "EDITOR": "ls"}, ["ls"]),
        ({"VISUAL": "'", "PAGER": "cat"}, ["cat"]),
        ({"VISUAL": " ", "PATH": ""}, []),
    ],
)
def test_the_first_program_that_exists_is_taken(environment: dict[str, str], command: list[str]) -> None:
    assert editor_command({"PATH": os.environ["PATH"], **environment}) == command


async def test_ctrl_c_in_the_editor_does_not_end_the_console() -> None:
    app = ConsoleApp(None, settings=ConsoleSettings())
    app.lends_terminal = True
    app.leaving._on_signal(signal.SIGINT)
    assert app.leaving._signal is None
    assert app.return_value is None
