"""Output of an agent's code holds no part of a secret, however it is written."""

from __future__ import annotations

import sys

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.redactor import redactor
from gemini_live_tui.cli import agent_output
from gemini_live_tui.cli.agent_output import MAX_LINE_CHARS, AgentOutput

SECRET = "Zq7planted.Canary.Xk93hTz0wUe12LmQrstuv"


@pytest.fixture(autouse=True)
def registered() -> None:
    redactor.add(SECRET)


def logged(*texts: str, flush: bool = False) -> list[str]:
    lines: list[str] = []

    def report(payload: ev.Payload) -> None:
        assert isinstance(payload, ev.Log)
        lines.append(payload.text)

    with AgentOutput(as_lines=True) as output:
        output.report = report
        for text in texts:
            print(text, end="", flush=flush)
    return lines


@pytest.mark.parametrize("cut", [1, 11, 20, 38])
def test_a_long_line_is_not_cut_within_a_secret(cut: int) -> None:
    lines = logged("x" * (MAX_LINE_CHARS - cut) + SECRET + " tail\n")
    assert "".join(lines) == "x" * (MAX_LINE_CHARS - cut) + "[redacted] tail"


def test_of_a_line_without_end_only_a_part_at_a_time_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    find_end = agent_output._end_of_line
    monkeypatch.setattr(agent_output, "_end_of_line", lambda text: searched.append(len(text)) or find_end(text))
    text = "x" * 200_000
    assert "".join(logged(text)) in text
    assert sum(searched) < 10 * len(text)


def test_a_secret_that_is_flushed_in_parts_is_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = logged("the key ", SECRET[:8], SECRET[8:20], SECRET[20:], " is it\n", flush=True)
    shown = capsys.readouterr().out + "".join(lines)
    assert "Zq7" not in shown
    assert "Lm" not in shown
    assert "the key " in shown
    assert "is it" in shown


@pytest.mark.parametrize(
    "secret", [SECRET, "ya29.a0Zz8Yy7Xx6Ww5Vv4Uu3", "AIzaSy9Qq7Zt4Lm2Xc8Vb5Nn1Kk", "ghp_a0Zz8Yy7Xx6Ww5Vv4Uu3"]
)
@pytest.mark.parametrize("size", [1, 3, 15])
def test_a_secret_that_is_flushed_a_few_letters_at_a_time_shows_its_beginning_at_most(
    secret: str, size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = [secret[at : at + size] for at in range(0, len(secret), size)]
    lines = logged("the key ", *pieces, " is it\nand more\n", flush=True)
    shown = capsys.readouterr().out + "".join(lines)
    assert not [at for at in range(10, len(secret) - 4) if secret[at : at + 4] in shown]
    assert "[redacted] is it" in shown
    assert "and more" in shown


def test_a_prompt_that_ends_like_a_secret_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    logged(f"Say {SECRET[:9]}", flush=True)
    assert SECRET[:9] in capsys.readouterr().out
    assert sys.stdout is not None


def test_a_private_key_that_is_printed_line_by_line_is_redacted() -> None:
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7", "Ab12Cd34=="]
    lines = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----", "Ab12Cd34"]
    assert logged(*(f"{line}\n" for line in lines)) == [lines[0], "[redacted]", "[redacted]", lines[3], "Ab12Cd34"]
