"""The page of simulated faults is that of the table."""

from __future__ import annotations

from tests.docs import fault_tables

from gemini_live_runtime.local.faults import Fault


def test_the_page_of_faults_is_current() -> None:
    assert fault_tables.PAGE.read_text("utf-8") == fault_tables.render(), "run: python -m tests.docs.tables"


def test_the_page_says_what_comes_of_each_fault() -> None:
    assert {*fault_tables.OUTCOMES} == {*Fault}
