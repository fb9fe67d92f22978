"""Parsing guards written as text, and the columns of errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import State
from gemini_live_runtime.state.expressions import MAX_DEPTH, MAX_LENGTH, ExpressionError, parse_expression

KEYS = ("app:n", "turn:name", "plain", "session:called_ok:lookup", "app:odd key")
VALUES: tuple[Any, ...] = (0, 1, 2.5, -3, "", "gold", 'a "quoted" one', "back\\slash", True, False, None)


@dataclass
class Meant:
    """An expression as text, and what it means, said without the parser's help."""

    text: str
    truth: Any


def _plain(values: dict[str, Any], key: str) -> Any:
    return values.get(key)


def _same(left: Any, right: Any) -> bool:
    return left == right and (isinstance(left, bool) is isinstance(right, bool))


def _order(sign: str, left: Any, right: Any) -> bool:
    numbers = all(isinstance(item, int | float) and not isinstance(item, bool) for item in (left, right))
    if not numbers and not (isinstance(left, str) and isinstance(right, str)):
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


def _spelled(key: str) -> str:
    return f"`{key}`" if " " in key else key


def _leaf() -> st.SearchStrategy[Meant]:
    keys, values = st.sampled_from(KEYS), st.sampled_from(VALUES)
    ordered = st.sampled_from([value for value in VALUES if not isinstance(value, bool) and value is not None])

    def equal(key: str, value: Any, sign: str) -> Meant:
        truth = lambda has: _same(_plain(has, key), value) is (sign == "==")  # noqa: E731
        return Meant(f"{_spelled(key)} {sign} {json.dumps(value)}", truth)

    def order(key: str, value: Any, sign: str) -> Meant:
        return Meant(f"{_spelled(key)}{sign}{json.dumps(value)}", lambda has: _order(sign, _plain(has, key), value))

    def turned(key: str, value: Any, sign: str) -> Meant:
        return Meant(
            f"{json.dumps(value)} {sign} {_spelled(key)}", lambda has: _order(_other[sign], _plain(has, key), value)
        )

    _other = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

    def test(key: str, word: str) -> Meant:
        truths = {
            "is set": lambda has: has.get(key) is not None,
            "is missing": lambda has: has.get(key) is None,
            "is not missing": lambda has: has.get(key) is not None,
            "is true": lambda has: has.get(key) is True,
            "is not false": lambda has: has.get(key) is not False,
            "": lambda has: has.get(key) is True,
        }
        return Meant(f"{_spelled(key)} {word}", truths[word])

    def member(key: str, found: list[Any], word: str) -> Meant:
        text = f"{_spelled(key)} {word} ({', '.join(map(json.dumps, found))})"
        return Meant(text, lambda has: any(_same(has.get(key), item) for item in found) is (word == "in"))

    signs = st.sampled_from(("<", "<=", ">", ">="))
    words = st.sampled_from(("is set", "is missing", "is not missing", "is true", "is not false", ""))
    return st.one_of(
        st.builds(equal, keys, values, st.sampled_from(("==", "!="))),
        st.builds(order, keys, ordered, signs),
        st.builds(turned, keys, ordered, signs),
        st.builds(test, keys, words),
        st.builds(member, keys, st.lists(values, min_size=1, max_size=3), st.sampled_from(("in", "not in"))),
    )


def _joined(inner: st.SearchStrategy[Meant]) -> st.SearchStrategy[Meant]:
    both = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        both.map(lambda p: Meant(f"({' and '.join(i.text for i in p)})", lambda has: all(i.truth(has) for i in p))),
        both.map(lambda p: Meant(f"({' or '.join(i.text for i in p)})", lambda has: any(i.truth(has) for i in p))),
        inner.map(
            lambda i: Meant(f"not {i.text}" if i.text[0] == "(" else f"not ({i.text})", lambda has: not i.truth(has))
        ),
    )


EXPRESSIONS = st.recursive(_leaf(), _joined, max_leaves=8)
STATES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


@given(EXPRESSIONS, STATES)
def test_an_expression_parses_to_its_guard(meant: Meant, values: dict[str, Any]) -> None:
    guard = parse_expression(meant.text)
    state = State(values)
    assert guard.holds(state) is meant.truth(values)
    assert guard.explain(state).value is meant.truth(values)


@given(st.text(max_size=80))
def test_any_text_is_an_expression_or_is_pointed_at(text: str) -> None:
    column = said = None
    try:
        parse_expression(text).holds(State())
    except ExpressionError as error:
        column, said = error.column, str(error)
    assert column is None or 1 <= column <= len(text) + 1
    assert said is None or said.startswith(f"Bad expression: column {column}: ")


def test_and_binds_closer_than_or_and_not_closer_than_both() -> None:
    guard = parse_expression("not app:a and app:b or app:c")
    assert guard.holds(State({"app:a": True, "app:b": True, "app:c": True}))
    assert not guard.holds(State({"app:a": True, "app:b": True}))
    assert guard.holds(State({"app:b": True}))


def test_texts_may_stand_in_single_quotes() -> None:
    assert parse_expression(r"""app:plan == 'it\'s "gold"'""").holds(State({"app:plan": 'it\'s "gold"'}))


def test_lists_are_looked_into() -> None:
    guard = parse_expression('app:tags contains "vip" and app:tags not contains "late"')
    assert guard.holds(State({"app:tags": ["vip"]}))
    assert not guard.holds(State({"app:tags": ["vip", "late"]}))


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 1, "expected a key, found the end"),
        ("app:n >", 8, "expected a value, found the end"),
        ("app:n > x", 9, "x is a key"),
        ("app:n = 3", 7, "write =="),
        ("app:n > 3 app:m", 11, "expected and, or, or the end, found app:m"),
        ("(app:n > 3", 11, "expected ), found the end"),
        ("app:n > true", 7, "true has no order"),
        ("nowhere:n > 3", 1, "no known scope"),
        ("app:n is gold", 10, "expected set or missing or true or false, found gold"),
        ("app:n && app:m", 7, "write and"),
        ('app:n == "gold', 10, "the text has no end"),
        ("app:n == '\\q'", 10, "escape"),
        ("1 + 1", 3, "is not part of an expression"),
        ("__import__('os')", 11, "expected and, or, or the end, found ("),
        ("x" * (MAX_LENGTH + 1), MAX_LENGTH + 1, "at most"),
        ("(" * (MAX_DEPTH + 5), MAX_DEPTH + 2, "nested"),
    ],
)
def test_an_error_names_its_column(text: str, column: int, said: str) -> None:
    with pytest.raises(ExpressionError, match="column") as caught:
        parse_expression(text)
    assert caught.value.column == column
    assert said in str(caught.value)
