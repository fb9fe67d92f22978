"""Capture output of agents and C libraries: bounded, never blocking, no secrets."""

from __future__ import annotations

import builtins
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine import stdio
from gemini_live_runtime.engine.key_block import MAX_LINES
from gemini_live_runtime.engine.stdio import (
    MAX_LINE_CHARS,
    MAX_LINES_AT_ONCE,
    MAX_LINES_PER_S,
    CapturedOutput,
    LineGate,
)
from gemini_live_runtime.redactor import redactor


@pytest.fixture
def reports() -> list[ev.Payload]:
    return []


def texts(reports: list[ev.Payload], source: str) -> list[str]:
    return [report.text for report in reports if isinstance(report, ev.Log) and report.source == source]


def test_everything_printed_arrives_in_order_and_by_source(reports, capfd):
    with CapturedOutput(reports.append):
        print("one")
        os.write(1, b"two\n")
        subprocess.run([sys.executable, "-c", "print('three')"], check=True)
        print("four", end="")
        print("problem", file=sys.stderr)
        sys.stdout.flush()
    assert texts(reports, "stdout") == ["one", "two", "three", "four"]
    assert texts(reports, "stderr") == ["problem"]
    print("after")
    assert capfd.readouterr().out == "after\n"


def test_printing_more_than_a_pipe_holds_does_not_block(reports):
    with CapturedOutput(reports.append):
        for _ in range(500):
            print("x" * 1000)
    assert texts(reports, "stdout") == ["x" * 1000] * 500


def test_a_private_key_that_is_printed_line_by_line_is_redacted(reports):
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7", "Ab12Cd34=="]
    lines = ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----", "Ab12Cd34"]
    with CapturedOutput(reports.append):
        print("\n".join(lines))
    assert texts(reports, "stdout") == [lines[0], "[redacted]", "[redacted]", lines[3], "Ab12Cd34"]


def test_a_private_key_in_a_group_of_errors_is_redacted(reports):
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
    error = ValueError(f"no key:\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----")
    with CapturedOutput(reports.append):
        logging.getLogger("agent").error("failed", exc_info=ExceptionGroup("several", [error]))
    assert body not in "".join(texts(reports, "logging"))
    assert "no key" in "".join(texts(reports, "logging"))


def test_words_after_a_line_that_only_names_a_private_key_stay(reports):
    lines = ["a file begins with -----BEGIN PRIVATE KEY-----", "and goes on.", "word"]
    with CapturedOutput(reports.append):
        print("\n".join(lines))
    assert texts(reports, "stdout") == lines


def test_a_private_key_without_end_hides_no_further_lines(reports):
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"] * MAX_LINES
    with CapturedOutput(reports.append):
        print("\n".join(["-----BEGIN PRIVATE KEY-----", *body, "words"]))
    assert texts(reports, "stdout")[1:] == ["[redacted]"] * MAX_LINES + ["words"]


def test_long_lines_are_cut_and_say_so(reports):
    with CapturedOutput(reports.append):
        print("x" * 10_000)
        print("y" * 1_000_000)
        print("z")
    first, second, third = texts(reports, "stdout")
    assert first.startswith("x" * MAX_LINE_CHARS)
    assert "6,000 more characters" in first
    assert second.startswith("y" * MAX_LINE_CHARS)
    assert len(second) < MAX_LINE_CHARS + 50
    assert third == "z"


def test_lines_above_the_rate_are_dropped_and_counted(reports):
    now = [0.0]
    due: list[Callable[[], None]] = []
    gate = LineGate(reports.append, now=lambda: now[0], later=due.append)
    for number in range(MAX_LINES_AT_ONCE + 500):
        gate.line("stdout", "info", str(number))
    assert len(texts(reports, "stdout")) == MAX_LINES_AT_ONCE
    assert gate.dropped == 500
    # Told without a further line, once for all.
    (tell,) = due
    tell()
    kept = "at most 1,000 at once and 200 a second are kept"
    assert texts(reports, "logging") == [f"500 lines of output were dropped: {kept}"]
    now[0] = 1.0
    for number in range(MAX_LINES_PER_S + 1):
        gate.line("stdout", "info", str(number))
    due[1]()
    assert len(texts(reports, "stdout")) == MAX_LINES_AT_ONCE + MAX_LINES_PER_S
    assert texts(reports, "logging")[1:] == [f"1 line of output was dropped: {kept}"]


def test_dropped_lines_are_told_soon_after_the_last_one(reports, monkeypatch):
    monkeypatch.setattr(stdio, "REPORT_S", 0.0)
    told = threading.Event()

    def report(payload: ev.Payload) -> None:
        reports.append(payload)
        if payload.source == "logging":
            told.set()

    gate = LineGate(report, now=lambda: 0.0)
    for _ in range(MAX_LINES_AT_ONCE + 1):
        gate.line("stdout", "info", "x")
    assert told.wait(PATIENCE_S)


def test_secrets_are_redacted_on_the_way(reports, monkeypatch):
    monkeypatch.setattr(redactor, "_known", [])
    redactor.add("hunter2hunter2")
    with CapturedOutput(reports.append):
        print("key AIzaSyCANARY-0123456789_abcdefghij and hunter2hunter2")
    assert texts(reports, "stdout") == ["key [redacted] and [redacted]"]


@pytest.mark.parametrize("cut", [5, 15, 30])
def test_a_long_line_is_cut_after_its_secrets_are_redacted(reports, cut):
    secret = "Zq7planted.Canary.Xk93hTz0wUe12LmQrstuv"
    redactor.add(secret)
    LineGate(reports.append).line("stdout", "info", "x" * (MAX_LINE_CHARS - cut) + secret + "y" * MAX_LINE_CHARS)
    (text,) = texts(reports, "stdout")
    assert "Zq7" not in text


def test_log_records_are_events_with_their_level(reports):
    with CapturedOutput(reports.append):
        logging.getLogger("lib").warning("careful: %s", 3)
    handler = stdio.LogHandler(LineGate(reports.append))
    handler.emit(logging.LogRecord("lib", logging.ERROR, "x.py", 1, "bad %d", ("not a number",), None))
    levels = [(report.level, report.text) for report in reports if report.source == "logging"]
    assert levels[0] == ("warning", "lib: careful: 3")
    assert levels[1][0] == "error"
    assert "could not be formatted" in levels[1][1]


def test_input_and_breakpoint_explain_themselves_once(reports):
    real = builtins.input, sys.breakpointhook
    with CapturedOutput(reports.append):
        for _ in range(3):
            with pytest.raises(EOFError, match="talk --plain"):
                input("name? ")
            breakpoint()
    notices = [report for report in reports if isinstance(report, ev.Notice)]
    assert [notice.code for notice in notices] == ["no-terminal", "no-terminal"]
    assert (builtins.input, sys.breakpointhook) == real


def test_bytes_that_are_no_text_do_no_harm(reports):
    with CapturedOutput(reports.append):
        os.write(1, b"\xff\xfe\x00bin\n\n\n")
        print("\ud800 lone")
    assert len(texts(reports, "stdout")) == 2


def test_a_child_that_keeps_the_pipe_open_does_not_hold_the_engine(reports, monkeypatch):
    monkeypatch.setattr(stdio, "JOIN_S", 0.05)
    with CapturedOutput(reports.append):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    child.stdin.close()
    assert child.wait() == 0
