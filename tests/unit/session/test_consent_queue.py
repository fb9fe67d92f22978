"""Questions are open one at a time, each for its own time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.session.agent.tools.consent_queue import PATIENCE_S, ConsentQuestion, ConsentQueue
from gemini_live_runtime.tools.results import ToolCall


def question(number: int) -> ConsentQuestion:
    return ConsentQuestion(f"q{number}", ToolCall(f"c{number}", "pay"), "It asks.", "hash")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "answer", "withdraw", "hold", "release"]),
        st.floats(0.0, 20.0),
        st.integers(0, 30),
    ),
    max_size=60,
)


@given(STEPS)
def test_questions_open_one_at_a_time_in_their_order_and_time_runs_only_while_not_held(
    steps: list[tuple[str, float, int]],
) -> None:
    queue, now, added = ConsentQueue(), 0.0, 0
    model: list[ConsentQuestion] = []
    left_s, held = PATIENCE_S, False
    for step, seconds, pick in steps:
        now += seconds
        left_s -= 0.0 if held or not model else seconds
        before = model[0] if model else None
        match step:
            case "add":
                added += 1
                model.append(question(added))
                queue.add(model[-1], now)
            case "answer" if model:
                assert queue.remove(model.pop(0), now)
            case "withdraw" if model:
                assert queue.remove(model.pop(pick % len(model)), now)
            case "hold":
                held = True
                queue.hold(now)
            case "release":
                held = False
                queue.release(now)
        if (model[0] if model else None) is not before:
            left_s = PATIENCE_S
        assert queue.open is (model[0] if model else None)
        assert len(queue) == len(model)
        if model:
            assert abs(queue.left_s(now) - max(0.0, left_s)) < 1e-6


def test_a_question_that_was_answered_cannot_be_answered_again() -> None:
    queue, one = ConsentQueue(), question(1)
    queue.add(one, 0.0)
    assert queue.remove(one, 1.0)
    assert not queue.remove(one, 1.0)
