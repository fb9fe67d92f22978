"""Outputs of tools are understood as values, also when a client sends text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gemini_live_runtime.local.dialogue.open_calls import OpenCalls
from gemini_live_runtime.local.parts import ToolRequest
from gemini_live_runtime.local.scripts.template import describe
from gemini_live_runtime.local.scripts.tool_output import MAX_READ, output_of

WEATHER = {"temperature_c": 21, "sky": "clear", "wind": None, "rain": [0.5, -1], "umbrella": False}


@pytest.mark.parametrize(
    "text",
    [repr(WEATHER), json.dumps(WEATHER), json.dumps(json.dumps(WEATHER)), json.dumps(repr(WEATHER))],
    ids=["repr", "JSON", "JSON in JSON", "repr in JSON"],
)
@pytest.mark.parametrize("key", ["output", "result"])
def test_a_value_written_as_text_is_read(key: str, text: str) -> None:
    assert output_of({key: text}) == WEATHER


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Weather(temperature_c=21, sky='clear')", {"temperature_c": 21, "sky": "clear"}),
        ("{'price': Decimal('3.50'), 7: (1, 2)}", {"price": "3.50", "7": [1, 2]}),
        ("'sunny'", "sunny"),
        ("True", True),
        ("null", None),
        ("[]", []),
        ("{'sky': <Sky.CLEAR: 'clear'>, 'wind': <Wind.NONE: 0>}", {"sky": "clear", "wind": 0}),
        ("<Sky.CLEAR: 'clear'>", "clear"),
        ("OrderedDict([('sky', 'clear'), ('rain', [])])", {"sky": "clear", "rain": []}),
        ("OrderedDict({'sky': 'clear'})", {"sky": "clear"}),
        ("defaultdict(<class 'int'>, {'sky': 'clear'})", {"sky": "clear"}),
        ("Counter({'sunny': 3})", {"sunny": 3}),
        ("deque(['sunny', 'cloudy'])", ["sunny", "cloudy"]),
        ("{'at': datetime.datetime(2026, 1, 2, 3, 4)}", {"at": "2026-01-02T03:04:00"}),
        (
            "temperature_c=21 sky='partly clear' rain=[0.5, -1]",
            {"temperature_c": 21, "sky": "partly clear", "rain": [0.5, -1]},
        ),
        (
            "sky=Sky(name='a b=c', wind=None, rain=[1, 2]) umbrella=False",
            {"sky": {"name": "a b=c", "wind": None, "rain": [1, 2]}, "umbrella": False},
        ),
        ('b\'{"sky": "clear"}\'', {"sky": "clear"}),
        ("b'clear'", "clear"),
        ('\ufeff{"sky": "clear"}', {"sky": "clear"}),
        ("set()", []),
        ("deque(['sunny'], maxlen=3)", ["sunny"]),
        ("{'at': datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)}", {"at": "2026-01-02T03:04:00"}),
    ],
)
def test_pythons_own_ways_to_write_values_are_read(text: str, value: Any) -> None:
    assert output_of({"output": text}) == value


MCP_RESULT = "meta=None content=[TextContent(type='text', text='7 degrees and fog', annotations=None)] isError={failed}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{ sky: 'clear', temperature: 21 }", "sky clear, temperature 21"),
        ("map[sky:clear temperature:21]", "map sky clear temperature 21"),
        ("{temperature=21, sky=clear}", "temperature 21, sky clear"),
        ('{:sky=>"clear", :t=>21}', "sky clear, t 21"),
        ("Weather(sky=quite clear, t=21)", "Weather sky quite clear, t 21"),
        ('Result: {"sky": "clear"}', "Result sky clear"),
        ('{"sky": "clear"} (cached)', "sky clear cached"),
        ("{'ok': true, 'wind': null}", "ok true, wind null"),
        ("<app.Weather object at 0x7f00>", "Weather"),
        ("<Response [200]>", "Response 200"),
    ],
)
def test_what_other_programs_write_out_is_told_without_its_signs(text: str, words: str) -> None:
    assert describe(output_of({"output": text})) == words


@pytest.mark.parametrize(
    "text", ["It is 7:30 (local time).", "see https://x.y/z?a=b (docs)", "[laughs] Hello", "1 < 2 and 3 > 2"]
)
def test_signs_in_a_sentence_stay(text: str) -> None:
    assert describe(output_of({"output": text})) == text


def test_a_field_that_was_turned_into_text_is_told_as_a_value() -> None:
    assert describe(output_of({"status": "ok", "report": "{'sky': 'clear'}"})) == "status ok, report sky clear"


def test_a_result_of_the_model_context_protocol_that_was_turned_into_text_is_its_words() -> None:
    assert output_of({"output": MCP_RESULT.format(failed=False)}) == "7 degrees and fog"
    assert output_of({"output": MCP_RESULT.format(failed=True)}) == {"error": "7 degrees and fog"}


def test_json_between_fences_is_read() -> None:
    assert output_of({"output": '```json\n{"sky": "clear"}\n```'}) == {"sky": "clear"}
    assert output_of({"output": "```\nclear\n```"}) == "```\nclear\n```"


@pytest.mark.parametrize(
    "error",
    [
        "no such city",
        {"code": 404, "message": "no such city"},
        "{'code': 404, 'message': 'no such city'}",
        '{"detail": "no such city", "status": 404}',
        "ValueError('no such city')",
    ],
)
def test_an_error_is_told_in_its_own_words(error: Any) -> None:
    assert output_of({"error": error})["error"] == "no such city"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sunny, 21 degrees",
        "007",
        "3.50",
        "(see the attached page)",
        "[sic]",
        "It's (nearly) done",
        "open('/etc/passwd')[0]",
        "__import__('os').system('true')",
        "{**{}}",
        "'\\d' + 'x'",
        "{" * 5000,
        "-" * 5000 + "1",
        "(" * 3000 + "1",
        "[" + "9" * 6000 + "]",
        repr(["x" * MAX_READ]),
        "E=mc2 is known",
        "datetime.datetime('x')",
        "datetime.date(1, 99, 1)",
        "OrderedDict([1, 2])",
    ],
    ids=range(20),
)
def test_other_text_stays_text(text: str) -> None:
    assert output_of({"output": text}) == text


@pytest.mark.parametrize(
    "response",
    [
        {"result": json.dumps({"result": WEATHER})},
        {"output": {"result": WEATHER}},
        {"value": WEATHER},
        {"result": WEATHER, "scheduling": "WHEN_IDLE"},
        {"output": repr(WEATHER), "scheduling": "SILENT", "willContinue": False},
        {"content": [{"type": "text", "text": json.dumps(WEATHER)}], "isError": False},
        {"result": [{"type": "text", "text": json.dumps(WEATHER)}]},
        {"output": json.dumps({"type": "text", "text": json.dumps(WEATHER), "annotations": None})},
        {"content": [{"type": "text", "text": "see there"}], "structuredContent": WEATHER},
    ],
    ids=range(9),
)
def test_a_value_is_found_within_wrappers_settings_and_contents(response: dict[str, Any]) -> None:
    assert output_of(response) == WEATHER


def test_a_failure_of_a_context_servers_tool_is_an_error() -> None:
    content = [{"type": "text", "text": "no such"}, {"type": "text", "text": "city"}]
    assert output_of({"content": content, "isError": True}) == {"error": "no such city"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            [{"type": "text", "text": "Here."}, {"type": "image", "data": "AAEC", "mimeType": "image/png"}],
            "Here. (a picture)",
        ),
        ([{"type": "resource", "resource": {"uri": "file:///a", "text": "twelve"}}], "twelve"),
        ([{"type": "audio", "data": "AAEC"}], "(a sound)"),
    ],
    ids=["picture", "resource", "sound"],
)
def test_contents_that_cannot_be_said_are_named(content: list[Any], said: str) -> None:
    assert output_of({"result": {"content": content, "isError": False}}) == said


def test_a_result_without_contents_has_its_structure_or_its_failure() -> None:
    assert output_of({"structuredContent": {"a": 5}, "content": []}) == {"a": 5}
    assert output_of({"isError": True, "content": []}) == {"error": "it failed"}
    assert output_of({"content": []}) == {"content": []}


def test_a_response_that_is_no_wrapper_is_the_output() -> None:
    assert output_of(WEATHER) == WEATHER
    assert output_of({"output": "{}", "note": "x"}) == {"output": "{}", "note": "x"}


def test_the_outcome_of_a_call_has_values() -> None:
    calls = OpenCalls()
    request = ToolRequest("get_weather", {})
    calls.add([request], "weather", {})
    (outcome,) = calls.take([(request, {"output": "{'temperature_c': 21}"})])
    assert outcome.result == {"temperature_c": 21}
