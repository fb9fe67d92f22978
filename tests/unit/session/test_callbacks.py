"""Validation of listeners."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.definition.callbacks import CALLBACKS, CallbackMode, EventCallbacks

FAST = [name for name, spec in CALLBACKS.items() if spec.lane == "fast"]
ANSWERING = [name for name, spec in CALLBACKS.items() if spec.answers]


def taking(count: int, *, is_async: bool = False) -> Callable[..., Any]:
    """Return a function of `count` parameters."""
    names = ", ".join(f"p{index}" for index in range(count))
    space: dict[str, Any] = {}
    exec(f"{'async ' if is_async else ''}def listener({names}): pass", space)
    function: Callable[..., Any] = space["listener"]
    return function


@pytest.mark.parametrize("callback", CALLBACKS)
def test_every_callback_takes_several_plain_listeners_in_order(callback: str) -> None:
    first, second = (taking(len(CALLBACKS[callback].arguments)) for _ in range(2))

    callbacks = EventCallbacks().add(callback, first).add(callback, second)

    assert [listener.function for listener in callbacks.of(callback)] == [first, second]


@pytest.mark.parametrize("callback", CALLBACKS)
def test_a_listener_that_cannot_take_the_arguments_is_refused(callback: str) -> None:
    arguments = CALLBACKS[callback].arguments

    with pytest.raises(AgentError, match="cannot be called with"):
        EventCallbacks().add(callback, taking(len(arguments) + 1))


@pytest.mark.parametrize("callback", FAST)
def test_an_async_listener_of_a_fast_callback_is_refused(callback: str) -> None:
    with pytest.raises(AgentError, match="is async, but is called inline"):
        EventCallbacks().add(callback, taking(len(CALLBACKS[callback].arguments), is_async=True))


@pytest.mark.parametrize("callback", [name for name in CALLBACKS if name not in FAST])
def test_control_callbacks_take_async_listeners(callback: str) -> None:
    listener = taking(len(CALLBACKS[callback].arguments), is_async=True)

    assert EventCallbacks().add(callback, listener).of(callback)[0].mode is CallbackMode.BLOCKING


@pytest.mark.parametrize("callback", FAST + ANSWERING)
def test_a_listener_that_must_be_waited_for_cannot_be_concurrent(callback: str) -> None:
    with pytest.raises(AgentError, match="cannot be concurrent"):
        EventCallbacks().add(callback, taking(len(CALLBACKS[callback].arguments)), mode=CallbackMode.CONCURRENT)


def test_adding_gives_a_copy() -> None:
    empty = EventCallbacks()

    added = empty.add("on_text", print)

    assert empty.of("on_text") == ()
    assert len(added.of("on_text")) == 1


def test_an_unknown_callback_is_named_with_the_nearest_one() -> None:
    with pytest.raises(AgentError, match=r"Unknown callback on_texts\. Did you mean on_text\?"):
        EventCallbacks().add("on_texts", print)


def test_what_is_not_a_function_is_refused() -> None:
    with pytest.raises(AgentError, match="is not a function"):
        EventCallbacks().add("on_text", "print")  # type: ignore[arg-type]


def test_a_generator_is_refused_because_it_would_never_run() -> None:
    async def stream(text: str) -> AsyncIterator[str]:
        yield text

    with pytest.raises(AgentError, match="generator"):
        EventCallbacks().add("on_error", stream)


def test_an_object_with_an_async_call_is_async() -> None:
    class Listener:
        async def __call__(self, text: str) -> None: ...

    with pytest.raises(AgentError, match="is async"):
        EventCallbacks().add("on_text", Listener())
    with pytest.raises(AgentError, match="is async"):
        EventCallbacks().add("on_text", functools.partial(Listener.__call__, Listener()))


def test_a_listener_has_its_own_name_unless_one_is_given_and_its_place() -> None:
    def greet() -> None: ...

    callbacks = EventCallbacks().add("on_connected", lambda handle: greet()).add("on_resumed", greet, name="hello")

    assert callbacks.of("on_connected")[0].name.endswith("<lambda>")
    assert callbacks.of("on_resumed")[0].name == "hello"
    assert callbacks.of("on_resumed")[0].defined_at.startswith("test_callbacks.py:")


def test_a_refused_listener_is_named_with_its_place() -> None:
    with pytest.raises(AgentError, match=r"on_text: mine \(test_callbacks.py:\d+\).*Give it 1 parameter\."):
        EventCallbacks().add("on_text", lambda: None, name="mine")
