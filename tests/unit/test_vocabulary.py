"""Events and commands survive their encoding; errors name the field."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vocabulary_strategies import instances, orders, payloads

from gemini_live_runtime import commands, events, vocabulary
from gemini_live_runtime.errors import JournalError, NewerFormatError, ProtocolError
from gemini_live_runtime.vocabulary_docs import render

counts = st.integers(0, 10**9)
stamps = st.tuples(st.integers(1, 10**9), st.floats(0, 1e6).map(lambda t: round(t, 6)), counts, counts)


@pytest.mark.parametrize("name", events.PAYLOADS)
def test_every_payload_has_an_example_that_round_trips(name):
    # Types of fields are few, and each is tried with many payloads.
    @settings(max_examples=settings.default.max_examples // 3)
    @given(instances(events.PAYLOADS[name]), stamps)
    def round_trip(payload, stamp):
        event = events.Event(*stamp, payload)
        line = event.to_line()
        assert not any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in line)
        assert json.loads(line.encode()) == json.loads(json.dumps(event.to_json()))
        assert vocabulary.event_from_line(line) == event
        assert vocabulary.event_from_line(line).to_line() == line

    round_trip()


@pytest.mark.parametrize("unsafe", ["\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800", "\U000e0041"])
def test_what_a_terminal_obeys_is_escaped_and_all_other_text_stays(unsafe: str) -> None:
    text = f"Grüße 你好 😀 {unsafe} ende"
    line = events.Event(1, 0.0, 0, 0, events.TranscriptDelta(side="model", text=text)).to_line()
    assert unsafe not in line
    assert "Grüße 你好 😀 " in line
    assert vocabulary.event_from_line(line.encode()).payload.text == text


def test_every_order_of_the_vocabulary_can_be_sent() -> None:
    made = {cls for cls in vars(commands).values() if isinstance(cls, type) and issubclass(cls, commands.Order)}
    assert made - {commands.Order} == set(commands.ORDERS.values())
    assert "connect" in commands.ORDERS


@pytest.mark.parametrize(
    "order",
    [
        commands.HangUp(reason="x" * 2001),
        commands.EditState(edits=({"key": "app:n", "value": 1},), reason="x" * 2001),
        commands.GoToPhase(phase="x" * 501),
        commands.FireWatcher(watcher="x" * 501),
        commands.RemoveBreakpoint(id="x" * 501),
        commands.SetDevices(output="x" * 501),
    ],
    ids=lambda order: order.command,
)
def test_a_name_or_a_reason_without_end_is_refused(order: commands.Order) -> None:
    with pytest.raises(ProtocolError, match=r"has (501|2,001) characters, at most (500|2,000) are accepted"):
        vocabulary.command_from_line(commands.Command("c1", order).to_line())


@given(orders, st.text(min_size=1, max_size=80))
def test_every_command_round_trips(order, ident):
    command = commands.Command(ident, order)
    assert vocabulary.command_from_line(command.to_line()) == command


@given(payloads)
def test_lone_surrogates_and_line_ends_in_text_survive(payload):
    event = events.Event(1, 0.0, 0, 0, events.Log(source="stdout", level="info", text="\ud800 \n\u2028 x"))
    assert vocabulary.event_from_line(event.to_line()) == event


@given(st.text(max_size=20).filter(lambda name: name not in events.PAYLOADS))
def test_an_unknown_type_keeps_its_name_and_data(name):
    line = json.dumps({"seq": 1, "t": 0, "turn": 0, "gen": 0, "type": name, "data": {"x": [1, None]}})
    event = vocabulary.event_from_line(line)
    assert (event.type, event.payload.data) == (name, {"x": [1, None]})


@given(st.binary(max_size=80))
def test_noise_is_a_protocol_error(noise):
    for read in (vocabulary.event_from_line, vocabulary.command_from_line):
        with pytest.raises(ProtocolError):
            read(noise)


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, '{"seq": NaN}', '{"seq":"x","t":0,"turn":0,"gen":0,"type":"log","data":{}}', "{}", "null", "3"],
)
def test_lines_of_the_wrong_shape_are_refused(line):
    with pytest.raises(ProtocolError):
        vocabulary.event_from_line(line)


@pytest.mark.parametrize("field", ["seq", "turn", "gen"])
def test_a_number_that_no_session_reaches_is_refused(field):
    stamp = {"seq": 1, "t": 0, "turn": 0, "gen": 0, "type": "log", "data": {"text": "x"}, field: "9" * 50}
    with pytest.raises(ProtocolError, match="missing or unusable: number"):
        vocabulary.event_from_json(stamp)


@pytest.mark.parametrize("name", [5, None, ["log"], {}])
def test_a_type_that_is_no_name_is_damage_and_not_of_a_newer_program(name):
    stamp = {"seq": 1, "t": 0, "turn": 0, "gen": 0, "data": {"text": "x"}}
    with pytest.raises(ProtocolError, match="missing or unusable: type"):
        vocabulary.event_from_json({**stamp, "type": name})
    with pytest.raises(ProtocolError, match="missing or unusable: 'type'"):
        vocabulary.event_from_json(stamp)


@pytest.mark.parametrize("t", [-1, vocabulary.MAX_TIME_S, float("nan")])
def test_a_time_that_no_session_reaches_is_refused(t):
    with pytest.raises(ProtocolError, match="missing or unusable: time"):
        vocabulary.event_from_json({"seq": 1, "t": t, "turn": 0, "gen": 0, "type": "log", "data": {"text": "x"}})


def test_a_malformed_payload_names_event_type_and_field():
    line = '{"seq":4,"t":0,"turn":0,"gen":0,"type":"text.sent","data":{}}'
    with pytest.raises(ProtocolError, match=r"Event 4 of type text.sent is malformed, text"):
        vocabulary.event_from_line(line)


def test_an_unknown_command_is_refused_with_the_known_ones():
    with pytest.raises(ProtocolError, match=r"Unknown command 'fly'.*hang-up"):
        vocabulary.command_from_line('{"id": "1", "command": "fly"}')


@pytest.mark.parametrize("ident", ["", "x" * 81, 3, None])
def test_a_command_needs_a_usable_id(ident):
    with pytest.raises(ProtocolError, match="id"):
        vocabulary.command_from_line(json.dumps({"id": ident, "command": "interrupt"}))


def test_a_newer_version_is_refused_by_name():
    with pytest.raises(NewerFormatError, match=f"version {events.VERSION + 1}.*up to {events.VERSION}.*Update"):
        vocabulary.check_header({"format": events.FORMAT, "version": events.VERSION + 1}, where="x")


@pytest.mark.parametrize("header", [None, [], {}, {"format": "other", "version": 0}, {"format": events.FORMAT}])
def test_a_foreign_header_is_refused(header):
    with pytest.raises(JournalError):
        vocabulary.check_header(header, where="x")


def test_our_own_header_is_accepted():
    vocabulary.check_header(vocabulary.header(), where="x")


def test_the_schema_describes_every_event_and_command():
    schema = json.loads(json.dumps(vocabulary.json_schema()))
    assert [item["title"] for item in schema["events"]] == list(events.PAYLOADS)
    assert [item["title"] for item in schema["commands"]] == list(commands.ORDERS)
    assert all(item["description"] for item in schema["events"] + schema["commands"])


def test_the_page_about_events_is_the_generated_one():
    page = Path(__file__).parents[2] / "docs" / "events.md"
    assert page.read_text() == render(), "run: python -m gemini_live_runtime.vocabulary_docs > docs/events.md"
