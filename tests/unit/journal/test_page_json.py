"""The parser of pages reads JSON as Python's own does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.journal.history.page_store import parse_json

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([-0.0, 1e308, 5e-324, 2**63, -(2**63) - 1, "\ud800", "\u2028", "\x7f"])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)


@given(VALUES, st.booleans())
def test_every_value_is_read_as_pythons_parser_reads_it(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    assert repr(parse_json(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["[" * 300 + "]" * 300, '["\\ud800"]', "[1e400, -0]"])
def test_what_pydantics_parser_refuses_is_read_all_the_same(text: str) -> None:
    assert repr(parse_json(text.encode())) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "[1,", "[1] 2", '{"a" 1}', "9" * 5000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text.encode())
