"""Lines of JSON show nothing to a terminal that it would obey, at little cost."""

from __future__ import annotations

import json

import pytest

from gemini_live_runtime import json_values
from gemini_live_runtime.json_values import encode_line

HARMFUL = "\x1b\x7f\x9b\xad\u200e\u2028\u202e\u2066\ufeff\udfff\ud800\U000e0041"


def test_signs_that_are_escaped_come_back_alone_and_in_runs() -> None:
    for text in (HARMFUL, " ".join(HARMFUL), f"漢{HARMFUL}字", HARMFUL * 3):
        line = encode_line(text)
        assert json.loads(line) == text
        assert not set(HARMFUL) & set(line)


def test_each_kind_of_sign_is_escaped_once_however_often_it_stands_in_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    json_values._escaped_sign.cache_clear()
    dumped: list[str] = []
    dumps = json.dumps
    monkeypatch.setattr(json_values.json, "dumps", lambda text: dumped.append(text) or dumps(text))
    encode_line("\ud800" * 10_000 + "\u202ea" * 10_000)
    assert dumped == ["\ud800", "\u202e"]
