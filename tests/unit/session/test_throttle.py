"""Test that what is paced is done after the wait that was named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.session.agent.throttle import TokenBucket


@given(
    st.lists(st.floats(0, 3), max_size=20),
    st.floats(0, 1e7),
    st.sampled_from((0.1, 1 / 3, 1.0, 20.0)),
    st.integers(1, 4),
)
def test_after_the_wait_that_was_named_the_next_use_is_allowed(
    pauses: list[float], now: float, per_s: float, burst: int
) -> None:
    bucket = TokenBucket(burst, per_s)
    for pause in (*pauses, 0.0):
        now += pause
        now += bucket.wait_s(now)
        assert bucket.wait_s(now) == 0.0
        bucket.take(now)


def test_no_more_than_the_burst_is_allowed_at_once() -> None:
    bucket = TokenBucket(3, 1.0)
    for _ in range(3):
        assert bucket.wait_s(5.0) == 0.0
        bucket.take(5.0)
    assert bucket.wait_s(5.0) == 1.0
