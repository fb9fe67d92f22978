"""Stages that add up when rounded, and percentiles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.latency import STAGES, percentile, rounded_stages

values = st.lists(st.one_of(st.none(), st.floats(0, 1e6)), min_size=len(STAGES), max_size=len(STAGES))


@given(values, st.integers(0, 1))
def test_rounded_stages_add_up_to_the_rounded_sum(given_ms: list[float | None], digits: int) -> None:
    stages = dict(zip(STAGES, given_ms, strict=True))
    found = rounded_stages(stages, digits)
    assert found.keys() == {name for name, ms in stages.items() if ms is not None}
    assert sum(found.values()) == pytest.approx(sum(ms or 0 for ms in given_ms), abs=0.51 / 10**digits)
    assert all(abs(ms - (stages[name] or 0)) < 1.001 / 10**digits for name, ms in found.items())


@given(values)
def test_stages_with_a_decimal_add_up_once_more_without_it(given_ms: list[float | None]) -> None:
    tenths = rounded_stages(dict(zip(STAGES, given_ms, strict=True)), 1)
    assert sum(rounded_stages(tenths).values()) == round(round(sum(tenths.values()), 1))


def test_what_is_no_number_and_the_total_are_no_stages() -> None:
    assert rounded_stages({"server": float("inf"), "buffer": float("nan"), "uplink": None, "total": 3.0}) == {}


@given(st.lists(st.floats(0, 1e5), min_size=1), st.floats(0, 100))
def test_a_percentile_is_one_of_the_values_and_not_exceeded_by_its_part(found: list[float], percent: float) -> None:
    value = percentile(found, percent)
    assert value in found
    assert sum(number <= value for number in found) * 100 >= percent * len(found) - 1e-4
    assert percentile([], percent) is None
