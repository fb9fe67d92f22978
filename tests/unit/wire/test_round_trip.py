"""Every field of every message survives writing and reading."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.wire.strategies import field_values, message_classes, messages

from gemini_live_runtime.wire import messages as all_messages
from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.codec import codec_of, from_json, to_json
from gemini_live_runtime.wire.json_frame import dump_object
from gemini_live_runtime.wire.messages import ClientMessage, Content, FunctionResponse, ServerMessage

CLASSES = list(dict.fromkeys([*message_classes(ClientMessage), *message_classes(ServerMessage)]))
FIELDS = [(cls, field.attribute) for cls in CLASSES for field in codec_of(cls).fields]
QUICK = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def through_the_wire(message: Message) -> Message:
    read, problems = from_json(type(message), json.loads(dump_object(to_json(message))))
    assert problems == ()
    return read


def test_every_message_class_is_reachable_from_a_client_or_a_server_message() -> None:
    public = {item for item in vars(all_messages).values() if isinstance(item, type) and issubclass(item, Message)}
    assert public - {Message} == set(CLASSES)


@pytest.mark.parametrize(("cls", "attribute"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_a_field_survives_alone(cls: type[Message], attribute: str) -> None:
    import typing

    strategy = field_values(typing.get_type_hints(cls)[attribute], 2)
    assert strategy is not None

    @QUICK
    @given(strategy)
    def survives(value: Any) -> None:
        message = cls(**{attribute: value})
        assert getattr(through_the_wire(message), attribute) == value

    survives()


@pytest.mark.parametrize("root", [ClientMessage, ServerMessage])
def test_whole_messages_survive(root: type[Message]) -> None:
    @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(messages(root))
    def survives(message: Message) -> None:
        # Decoding reads `scheduling` inside `response`; other tests check such maps.
        written = dump_object(to_json(message))
        if '"scheduling"' not in written and "willContinue" not in written:
            assert through_the_wire(message) == message

    survives()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_names_on_the_wire_are_camel_case_and_nothing_is_null(cls: type[Message]) -> None:
    @QUICK
    @given(messages(cls, 1))
    def strict(message: Message) -> None:
        written = to_json(message)
        names = {field.name for field in codec_of(cls).fields}
        assert set(written) <= names
        assert all(re.fullmatch("[a-z]+([A-Z][a-z0-9]*)*", name) for name in names)
        assert None not in written.values()

    strict()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_unknown_fields_are_written_back(cls: type[Message]) -> None:
    read, problems = from_json(cls, {"fieldOfTomorrow": {"snake_key": [1]}})
    assert problems == ()
    assert to_json(read)["fieldOfTomorrow"] == {"snake_key": [1]}


@given(st.sampled_from(["INTERRUPT", "when_idle", "Silent"]))
def test_scheduling_inside_the_response_is_read_and_the_response_left_alone(value: str) -> None:
    response = {"result": 1, "scheduling": value, "willContinue": True}
    read, _ = from_json(FunctionResponse, {"id": "1", "response": response})
    assert (read.scheduling, read.will_continue, read.response) == (value.upper(), True, response)


def test_an_unknown_scheduling_inside_a_response_is_ignored() -> None:
    read, _ = from_json(FunctionResponse, {"response": {"scheduling": "weekly", "willContinue": "perhaps"}})
    assert (read.scheduling, read.will_continue) == (None, None)


def test_scheduling_beside_the_response_wins_over_scheduling_inside() -> None:
    read, _ = from_json(FunctionResponse, {"response": {"scheduling": "SILENT"}, "scheduling": "INTERRUPT"})
    assert read.scheduling == "INTERRUPT"


def test_repr_has_the_set_fields_and_no_bytes() -> None:
    read, _ = from_json(
        Content, {"role": "model", "parts": [{"inlineData": {"data": "AAAA", "mimeType": "image/png"}}]}
    )
    assert repr(read) == (
        "Content(role=<Role.MODEL: 'model'>, parts=(Part(inline_data=Blob(mime_type='image/png', data=<3 bytes>)),))"
    )
