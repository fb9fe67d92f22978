"""Register callbacks; a wrong one is refused at once, with its file and line."""

from gemini_live_runtime import CallbackMode, EventCallbacks


def count(turn: int) -> None:
    print("turn", turn)


async def store(turn: int) -> None:
    print("stored", turn)


# Each `add` returns a new registry. A blocking listener is awaited in order, a concurrent one is started.
callbacks = EventCallbacks().add("on_turn_complete", count).add("on_turn_complete", store, mode=CallbackMode.CONCURRENT)
print([(listener.name, listener.mode.value) for listener in callbacks.of("on_turn_complete")])

for callback, function in (
    ("on_turn_completed", count),
    ("on_turn_complete", lambda: None),
    ("on_audio", store),
):
    try:
        callbacks.add(callback, function)
    except Exception as error:
        print(error)

# Prints:
# [('count', 'blocking'), ('store', 'concurrent')]
# Unknown callback on_turn_completed. Did you mean on_turn_complete?
# on_turn_complete: <lambda> (callback_registry.py:24) cannot be called with (turn). Give it 1 parameter.
# on_audio: store (callback_registry.py:24) is async, but is called inline. Make it a plain function that starts a task.
