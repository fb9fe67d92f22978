"""Instructions and context as wire messages."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.ports.messages import context_message, instruction_message, prompt_message
from gemini_live_runtime.wire.codec import client_to_json


def turns(message: Any) -> Any:
    return client_to_json(message)["clientContent"]


def test_an_instruction_travels_as_a_context_update() -> None:
    sent = client_to_json(instruction_message("Be brief.", "context_update"))

    assert sent["contextUpdate"]["systemInstruction"]["parts"] == [{"text": "Be brief."}]


def test_an_instruction_travels_as_system_content_that_asks_for_no_answer() -> None:
    assert turns(instruction_message("Be brief.", "system_content")) == {
        "turns": [{"role": "system", "parts": [{"text": "Be brief."}]}],
        "turnComplete": False,
    }


def test_an_instruction_in_the_users_name_is_marked_and_asks_for_no_answer() -> None:
    assert turns(instruction_message("Be brief.", "user_note")) == {
        "turns": [{"role": "user", "parts": [{"text": "[Instruction] Be brief."}]}],
        "turnComplete": False,
    }


def test_another_way_is_refused_with_those_that_exist() -> None:
    with pytest.raises(AgentError, match=r"'reconnect'.*context_update, system_content or user_note"):
        instruction_message("Be brief.", "reconnect")  # type: ignore[arg-type]


def test_context_of_the_model_is_one_turn_a_text_and_unmarked() -> None:
    assert turns(context_message(["One.", "Two."])) == {
        "turns": [{"role": "model", "parts": [{"text": "One."}]}, {"role": "model", "parts": [{"text": "Two."}]}],
        "turnComplete": False,
    }


def test_context_in_the_users_name_is_marked() -> None:
    assert turns(context_message(["One."], "user", prompt=True)) == {
        "turns": [{"role": "user", "parts": [{"text": "[Context] One."}]}],
        "turnComplete": True,
    }


def test_a_prompt_is_a_complete_turn_of_nothing() -> None:
    assert turns(prompt_message()) == {"turnComplete": True}
