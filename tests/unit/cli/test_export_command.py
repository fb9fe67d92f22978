"""`export`: files or standard output, redacted by default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import run
from tests.support.recordings import debt_call

from gemini_live_runtime import paths


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    debt_call("20261120-1").write(paths.sessions_dir(), "20261120-1")
    return tmp_path


def test_without_options_a_redacted_document_is_written_here(here: Path) -> None:
    ended = run("export", "2026")
    assert (ended.code, ended.out) == (0, "Written: 20261120-1.md\n")
    assert "places redacted; personal data that was only spoken may remain" in ended.err
    text = (here / "20261120-1.md").read_text()
    assert "Ruiz" not in text
    assert "negotiate" in text


def test_several_formats_go_to_a_folder(here: Path) -> None:
    ended = run("export", "2026", "--as", "text", "--as", "json", "--to", "out")
    assert ended.out.splitlines() == ["Written: out/20261120-1.txt", "Written: out/20261120-1.json"]
    assert json.loads((here / "out" / "20261120-1.json").read_text())["redacted"] is True


def test_a_part_is_chosen_by_turn_seconds_or_marks() -> None:
    assert "call me at" in run("export", "2026", "--as", "text", "--turn", "3", "--to", "-").out
    assert "Thank you" not in run("export", "2026", "--as", "text", "--turn", "3", "--to", "-").out
    assert "letter" in run("export", "2026", "--as", "text", "--from", "1.5", "--until", "3", "--to", "-").out
    assert "Nothing was marked" in run("export", "2026", "--around-marks").sentence
    assert "turns 1 to 3" in run("export", "2026", "--turn", "8").sentence


def test_nothing_is_redacted_only_where_that_is_said() -> None:
    ended = run("export", "2026", "--no-redact", "--as", "text", "--to", "-")
    assert "maria@example.org" in ended.out
    assert run("export", "2026", "--no-redact").err == "Not redacted: the files may contain personal data.\n"


def test_sound_needs_no_redact() -> None:
    assert "Voices cannot be redacted" in run("export", "2026", "--as", "stereo").sentence
    assert "No sound was recorded" in run("export", "2026", "--as", "stereo", "--no-redact").sentence


def test_printing_takes_one_text_format() -> None:
    for formats in (("--as", "text", "--as", "json"), ("--as", "stereo", "--no-redact")):
        assert "--to - prints one text format" in run("export", "2026", *formats, "--to", "-").sentence


def test_a_file_that_exists_is_kept_unless_forced(here: Path) -> None:
    (here / "20261120-1.md").write_text("precious")
    assert "exists" in run("export", "2026").sentence
    assert (here / "20261120-1.md").read_text() == "precious"
    assert run("export", "2026", "--force").code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("export", HOSTILE),
        ("export", "2026", "--as", HOSTILE),
        ("export", "2026", "--to", f"{HOSTILE}/x"),
        ("export", "2026", "--turn", HOSTILE),
        ("export", "2026", "--to", "~nobody-of-this-name/x"),
        ("export", "2026", "--to", "x" * 5000),
        ("export", "2026", "--from", "nan"),
        ("export", "2026", "--until", "inf"),
        ("export", "2026", "--from", "1e300", "--until", "1e308"),
        ("export", "nothing"),
    ],
)
def test_a_wrong_argument_is_repeated_sanitised(command: tuple[str, ...]) -> None:
    ended = run(*(part.replace("\x00", "") for part in command))
    assert ended.control == []
    assert "Internal error" not in ended.err
    assert ended.code in (0, 1, 2)
