"""The way to an optional part names what this installation came from."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest

from gemini_live_runtime.installation import install_command

ROOT = Path(__file__).parents[2]


def recorded(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """Set the origin that the installation has recorded; None: it is not installed."""

    class Installed:
        def read_text(self, name: str) -> str | None:
            return text or None

    def distribution(name: str) -> Installed:
        if text is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return Installed()

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ('{"url": "file:///there/gemini-live-tui", "dir_info": {"editable": true}}', "/there/gemini-live-tui"),
        ('{"url": "file:///there/my%20files/tui-1.0.whl"}', "/there/my files/tui-1.0.whl"),
        ('{"url": "https://example.org/tui.whl"}', "gemini-live-tui"),
        ("", "gemini-live-tui"),
        ("not JSON", "gemini-live-tui"),
        ("[]", "gemini-live-tui"),
    ],
)
def test_the_command_names_the_folder_or_file_that_was_installed(
    monkeypatch: pytest.MonkeyPatch, origin: str, source: str
) -> None:
    recorded(monkeypatch, origin)
    assert install_command("local") == f"pip install '{source}[local]'"


def test_a_checkout_that_is_not_installed_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(monkeypatch, None)
    assert install_command("vertex") == f"pip install '{ROOT}[vertex]'"


def test_no_page_and_no_message_tells_to_install_the_name_from_the_index() -> None:
    told = re.compile(r"install[ `'\"]+gemini-live-tui\b")
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("runtime/**/*.py"), *ROOT.glob("tui/**/*.py")]
    assert [str(path.relative_to(ROOT)) for path in files if told.search(path.read_text("utf-8"))] == []
