"""Redact memory, and JSON that stands in texts, as a task's result does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.recordings import Recorder

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.memory_text import memory_key, memory_text, told
from gemini_live_runtime.journal.export import pieces
from gemini_live_runtime.journal.formats.base import ExportSource, Range
from gemini_live_runtime.journal.privacy.json_in_text import MAX_LEVELS, private_values
from gemini_live_runtime.journal.privacy.redaction import Redaction
from gemini_live_runtime.state.store import State

TASK: dict[str, Any] = {"task_id": "t", "tool": "look_up", "call_id": "c", "status": "succeeded"}


def redacted(*payloads: ev.Payload) -> list[Any]:
    events = [ev.Event(seq, seq / 10, 1, 1, payload) for seq, payload in enumerate(payloads, 1)]
    redaction = Redaction()
    for event in events:
        redaction.learn(event)
    return [redaction.event(event).payload for event in events]


def memories(**values: Any) -> list[dict[str, str]]:
    return [told(key, value, "model") for key, value in values.items()]


def remembered(**values: Any) -> ev.StateChanged:
    return ev.StateChanged(key=memory_key("user"), old=None, new=memories(**values), mutation=1, origin="signal")


def finished(name: str, result: dict[str, Any]) -> ev.ToolFinished:
    return ev.ToolFinished(call_id="c", name=name, status="ok", result=result, ms=1.0, delivered=True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"customer_name": "Zquill Quand", "room": 3}', ["Zquill Quand"]),
        ('Done: {"found": [{"phones": ["55", "66"], "x": "y"}], "pin": 4711}', ["55", "66", "4711"]),
        ('{"address": {"street": "Elm", "no": 5}, "open": true}', ["Elm", "5"]),
        ('{"passport": "XQZ', ["XQZ"]),
        ('{"passport": "XQZ\\', ["XQZ"]),
        ('{"name": "Jos\\u00e9 \\"Z\\""}', ['José "Z"']),
        ("{'customer_name': 'O\\'Zquill', 'room': 3}", ["O'Zquill"]),
        ("It's the guest's: {'name': 'Zquill'}", ["Zquill"]),
        ('A 5" pipe, "quoted, {"name": "Zquill"}', ["Zquill"]),
        (json.dumps({"body": json.dumps({"name": "Zquill"})}), ["Zquill"]),
        ('{"key": "name", "value": "Zquill"}', ["Zquill"]),
        ('{"key": "app:customer", "value": "Zquill"}', ["Zquill"]),
        ('{"key": "room", "value": "gold"}', []),
        ('{"key": "hunter-two", "service": "x"}', ["hunter-two"]),
        ('{"key": "app:balance", "service": "x"}', []),
        ('{"name_count": 5, "balance": 2140}', []),
        ('{"session:memory:user": [{"key": "diet", "value": "vegan", "by": "model"}]}', ["vegan"]),
        ('He said: "my name": no more', []),
        ('[] ] } "', []),
    ],
)
def test_private_values_of_json_in_a_text_are_found(text: str, values: list[str]) -> None:
    assert [found.value for found in private_values(text)] == values


def test_json_without_end_takes_no_time() -> None:
    for text in ('{"a":' * 50_000, "\"'" * 100_000 + '"x":', "{" * 200_000 + '"x":', '"\\' * 100_000 + '":'):
        for _ in private_values(text):
            pass


def test_json_in_json_in_json_is_searched_to_its_limit() -> None:
    def within(levels: int) -> str:
        text = json.dumps({"name": "Zquill"})
        for _ in range(levels):
            text = json.dumps({"body": text})
        return text

    assert [found.value for found in private_values(within(MAX_LEVELS))] == ["Zquill"]
    assert [found.value for found in private_values(within(MAX_LEVELS + 1))] == []


def test_what_is_in_memory_goes_from_the_state_the_instruction_and_what_is_said() -> None:
    state = State()
    state.set(memory_key("user"), memories(name="Zadabert Zquand", diet="zvegan", lives="Zelm\nRow"))
    _, instruction, answer = redacted(
        remembered(name="Zadabert Zquand", diet="zvegan", lives="Zelm\nRow"),
        ev.InstructionUpdated(text=memory_text(state, ("user",)), via="setup"),
        ev.TranscriptDelta(side="model", text="Welcome back Zadabert, what a nice name, a ZVEGAN diet in Zelm Row"),
    )
    assert instruction.text.splitlines()[1:-1] == [
        f'- user/{key}: "[redacted]" (by model)' for key in ("name", "diet", "lives")
    ]
    assert answer.text == "Welcome back [redacted], what a nice name, a [redacted] diet in [redacted]"


def test_the_state_keeps_the_names_of_memories_and_their_authors() -> None:
    (changed,) = redacted(remembered(name="Zadabert", diet="zvegan"))
    assert changed.new == [
        {"key": "name", "value": "[redacted]", "by": "model"},
        {"key": "diet", "value": "[redacted]", "by": "model"},
    ]


def test_what_is_remembered_goes_from_tools_and_events_and_its_key_stays() -> None:
    put, changed, listed, deleted, text = redacted(
        ev.ToolCalled(call_id="c", name="memory_put", args={"key": "diet", "value": "zvegan"}),
        ev.MemoryChanged(scope="user", key="sister", action="put", value='{"called": "Zenobia", "city": "Ztrent"}'),
        finished("memory_list", {"memories": memories(name="Zada Zquand")}),
        ev.ToolCalled(call_id="d", name="memory_delete", args={"key": "sister"}),
        ev.TextSent(text="a zvegan, Zenobia of Ztrent, Ms. Zquand, my name, my sister"),
    )
    assert put.args == {"key": "diet", "value": "[redacted]"}
    assert (changed.key, changed.value) == ("sister", "[redacted]")
    assert listed.result == {"memories": [{"key": "name", "value": "[redacted]", "by": "model"}]}
    assert deleted.args == {"key": "sister"}
    assert text.text == "a [redacted], [redacted] of [redacted], Ms. [redacted], my name, my sister"


def test_a_question_about_what_is_to_be_remembered_shows_no_value() -> None:
    asked: dict[str, Any] = {"id": "q", "call_id": "c", "reason": "declared", "expires_s": 60.0}
    (question,) = redacted(ev.ConsentAsked(tool="memory_put", args={"key": "diet", "value": "zvegan"}, **asked))
    assert question.args == {"key": "diet", "value": "[redacted]"}


def test_a_record_in_a_tools_data_is_private_by_its_key() -> None:
    records = [{"key": "name", "value": "Zquill"}, {"key": "room", "value": "gold"}, {"value": "silver"}]
    (answer, text) = redacted(finished("find", {"found": records}), ev.TextSent(text="the name Zquill, the room"))
    blank = {"key": "name", "value": "[redacted]"}
    assert answer.result == {"found": [blank, *records[1:]]}
    assert text.text == "the name [redacted], the room"


def test_json_in_an_instruction_or_a_log_is_redacted_there_only() -> None:
    line = '{"name": "book table"}'
    instruction, log, text = redacted(
        ev.InstructionUpdated(text=line, via="setup"),
        ev.Log(source="stdout", level="info", text=line),
        ev.TextSent(text="a table, please"),
    )
    assert instruction.text == log.text == '{"name": "[redacted]"}'
    assert text.text == "a table, please"


# -- nothing of a generated set is left, whether it came as a result, as a task's or from memory -----------------------

_word = st.text("abcdefghijklmnopqrstuvwyzéüñ", min_size=3, max_size=9).map(lambda text: f"zq{text}")
_words = st.lists(_word, min_size=1, max_size=3).map(" ".join)
_named = st.sampled_from(["name", "customer_name", "passport", "address", "api_key", "caller"])
_result = st.dictionaries(_named, _words | st.lists(_words, min_size=1, max_size=2), min_size=1, max_size=3)


def _values(result: dict[str, Any]) -> list[str]:
    return [value for values in result.values() for value in ([values] if isinstance(values, str) else values)]


def _as_result(made: Recorder, result: dict[str, Any], ascii_only: bool) -> None:
    made.tool("look_up", {}, {"found": result, "text": json.dumps(result, ensure_ascii=ascii_only)})


def _as_task(made: Recorder, result: dict[str, Any], ascii_only: bool) -> None:
    body = json.dumps(result, ensure_ascii=ascii_only)
    made.emit(ev.TaskChanged(**TASK, text=body))
    made.emit(ev.NotificationChanged(notification_id="n", status="queued", title="Task completed", body=body))
    made.emit(ev.ContextSent(texts=(f"[Notification] {json.dumps({'body': body}, ensure_ascii=ascii_only)}",)))


def _as_memory(made: Recorder, result: dict[str, Any], ascii_only: bool) -> None:
    state = State()
    state.set(memory_key("user"), memories(**result))
    made.state(memory_key("user"), memories(**result))
    made.emit(ev.InstructionUpdated(text=memory_text(state, ("user",)), via="setup"))


@given(_result, st.sampled_from([_as_result, _as_task, _as_memory]), st.booleans())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_part_of_a_private_value_is_left_however_it_came(
    tmp_path_factory: pytest.TempPathFactory, result: dict[str, Any], tells: Any, ascii_only: bool
) -> None:
    made = Recorder()
    made.start()
    made.begin_turn()
    tells(made, result, ascii_only)
    made.model(*_said(result))
    made.complete()
    folder = made.write(tmp_path_factory.mktemp("root"))
    for fmt in ("markdown", "text", "json"):
        text = b"".join(pieces(ExportSource(folder, redact=True, wanted=Range()), fmt)).decode()
        assert "zq" not in text.casefold(), (fmt, tells.__name__)


def _said(result: dict[str, Any]) -> Iterable[str]:
    return (f"It is {value}. " for value in _values(result))


def test_a_generated_set_is_in_an_export_that_is_not_redacted(tmp_path: Path) -> None:
    made = Recorder()
    made.start()
    _as_task(made, {"name": "zqada"}, False)
    material = ExportSource(made.write(tmp_path), redact=False, wanted=Range())
    assert b"zqada" in b"".join(pieces(material, "json"))
