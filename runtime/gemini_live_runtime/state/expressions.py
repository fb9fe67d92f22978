"""Parse guards written as text.

For example `app:balance > 1000 and not (user:name is missing)`. The parser builds the runtime's guards; text from
outside is never run as code.

    or      = and { "or" and }          and  = not { "and" not }          not = "not" not | part
    part    = "(" or ")" | key [ sign value | value-test ]                sign = "==" "!=" "<" "<=" ">" ">="
    test    = "is" ["not"] ("set" | "missing" | "true" | "false") | ["not"] "in" "(" value {"," value} ")"
            | ["not"] "contains" value

A key alone is true when its value is. A key with other characters is written in backticks. Values are as in JSON;
texts may also be in single quotes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gemini_live_runtime.errors import StateError
from gemini_live_runtime.records import record
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.terms import Compare, Term

MAX_LENGTH = 500
"""Characters of an expression."""

MAX_DEPTH = 40
"""Nesting of brackets and nots."""

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.:]))
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<quoted>`[^`]+`)
  | (?P<word>[^\W\d][\w.\-]*(?::[\w.\-]+)*)
  | (?P<sign>==|!=|<=|>=|<|>|\(|\)|,)
    """,
    re.VERBOSE,
)
_SIGNS = ("==", "!=", "<=", ">=", "<", ">")
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}
_RESERVED = frozenset((*_CONSTANTS, "and", "or", "not", "is", "in", "contains"))
_HINTS = {"=": "write == to compare", "&": "write and", "|": "write or", "!": "write not", "'": "the text has no end"}
_HINTS |= {'"': "the text has no end", "`": "the key has no end"}


class ExpressionError(StateError):
    """An expression that cannot be parsed, with the `column` (from 1) of the problem."""

    code = "expression"

    def __init__(self, column: int, problem: str, *, remedy: str = "") -> None:
        super().__init__(f"Bad expression: column {column}: {problem}", remedy=remedy, field="expression")
        self.column = column


@record
class _Token:
    kind: str
    text: str
    column: int


def parse_expression(text: str) -> Guard:
    """Parse `text` as a guard; raise `ExpressionError` naming the column."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(MAX_LENGTH + 1, f"an expression has at most {MAX_LENGTH} characters, not {len(text)}")
    return _Parser(text).parse()


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def parse(self) -> Guard:
        guard = self._or(0)
        rest = self._next
        if rest.kind != "end":
            raise self._expected(rest, "and, or, or the end")
        return guard

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is(self, *words: str) -> bool:
        token = self._next
        return token.kind in ("word", "sign") and token.text in words

    def _or(self, depth: int) -> Guard:
        guard = self._and(depth)
        while self._is("or"):
            self._take()
            guard = guard | self._and(depth)
        return guard

    def _and(self, depth: int) -> Guard:
        guard = self._not(depth)
        while self._is("and"):
            self._take()
            guard = guard & self._not(depth)
        return guard

    def _not(self, depth: int) -> Guard:
        if depth > MAX_DEPTH:
            raise ExpressionError(self._next.column, f"nested more than {MAX_DEPTH} deep")
        if self._is("not"):
            self._take()
            return ~self._not(depth + 1)
        if self._is("("):
            self._take()
            guard = self._or(depth + 1)
            self._expect(")")
            return guard
        return self._part()

    def _part(self) -> Guard:
        token = self._next
        if token.kind in ("number", "text") or (token.kind == "word" and token.text in _CONSTANTS):
            value = self._value()
            sign = self._expect(*_SIGNS)
            return self._compare(self._key(), _Token("sign", _MIRRORED[sign.text], sign.column), value)
        term = self._key()
        if self._is(*_SIGNS):
            sign = self._take()
            return self._compare(term, sign, self._value())
        if self._is("is"):
            self._take()
            return self._test(term)
        negated = self._is("not")
        if negated:
            self._take()
            if not self._is("in", "contains"):
                raise self._expected(self._next, "in or contains")
        if self._is("in"):
            self._take()
            found = term.one_of(*self._values())
        elif self._is("contains"):
            self._take()
            found = term.contains(self._value())
        else:
            return term.is_true()
        return ~found if negated else found

    def _test(self, term: Term) -> Guard:
        negated = self._is("not")
        if negated:
            self._take()
        words = {"set": term.is_set, "missing": term.is_missing, "true": term.is_true, "false": term.is_false}
        guard = words[self._expect(*words).text]()
        return ~guard if negated else guard

    def _compare(self, term: Term, sign: _Token, value: Any) -> Guard:
        if sign.text not in ("==", "!=") and (isinstance(value, bool) or value is None):
            raise ExpressionError(sign.column, f"{json.dumps(value)} has no order: compare it with == or !=")
        return Compare(term.key, sign.text, value)

    def _values(self) -> list[Any]:
        self._expect("(")
        values = [self._value()]
        while self._is(","):
            self._take()
            values.append(self._value())
        self._expect(")")
        return values

    def _value(self) -> Any:
        token = self._take()
        if token.kind == "number":
            return json.loads(token.text)
        if token.kind == "text":
            return _text(token)
        if token.kind == "word" and token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        if token.kind in ("word", "quoted") and token.text not in _RESERVED:
            raise ExpressionError(
                token.column, f"a key is compared with a value, and {token.text} is a key", remedy="Put texts in quotes"
            )
        raise self._expected(token, "a value")

    def _key(self) -> Term:
        token = self._take()
        if token.kind not in ("word", "quoted") or (token.kind == "word" and token.text in _RESERVED):
            raise self._expected(token, "a key")
        try:
            return Term(check_key(token.text.strip("`")))
        except StateError as error:
            raise ExpressionError(token.column, error.message, remedy=error.remedy) from None

    def _expect(self, *texts: str) -> _Token:
        if not self._is(*texts):
            raise self._expected(self._next, " or ".join(texts))
        return self._take()

    @staticmethod
    def _expected(token: _Token, wanted: str) -> ExpressionError:
        found = "the end" if token.kind == "end" else token.text
        return ExpressionError(token.column, f"expected {wanted}, found {found}")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            sign = text[at]
            raise ExpressionError(at + 1, _HINTS.get(sign, f"{sign!r} is not part of an expression"))
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match.group(), at + 1))
        at = match.end()
    tokens.append(_Token("end", "", len(text) + 1))
    return tokens


def _text(token: _Token) -> str:
    body = token.text[1:-1]
    if token.text[0] == "'":
        # JSON knows double quotes only.
        body = re.sub(r"\\(.)|\"", lambda found: _json_escape(found.group()), body, flags=re.DOTALL)
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:
        raise ExpressionError(token.column, "the text has an escape that JSON does not know") from None


def _json_escape(sign: str) -> str:
    return {'"': '\\"', "\\'": "'"}.get(sign, sign)
