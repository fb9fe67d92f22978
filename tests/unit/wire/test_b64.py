"""Base64 is strict, in both alphabets, with and without the fast library."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.wire import b64

SPELLINGS = [
    lambda data: base64.b64encode(data).decode(),
    lambda data: base64.urlsafe_b64encode(data).decode(),
    lambda data: base64.b64encode(data).decode().rstrip("="),
    lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="),
]
ALMOST = st.text(alphabet="AQgz09+/-_= \n\\*é\x00", max_size=12)


@given(st.binary(max_size=40), st.sampled_from(SPELLINGS))
def test_every_legal_spelling_gives_the_bytes(data: bytes, spell) -> None:
    assert b64.decode(spell(data)) == data


@given(st.binary(max_size=40))
def test_both_encoders_write_standard_padded_base64(data: bytes) -> None:
    assert b64.encode(data) == b64.stdlib_encode(data) == base64.b64encode(data).decode()


@given(ALMOST | st.text(max_size=8))
def test_the_fast_and_the_plain_decoder_agree_on_any_text(text: str) -> None:
    results = []
    for validated in (b64.decode_strict, b64.stdlib_decode_strict):
        try:
            results.append(validated(text, None, True))
        except ValueError:
            results.append(None)
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "text", ["A", "AAAAA", "=", "====", "A===", "AA=A", "AA==A", "AA\n==", "AA.=", "ÄÄÄÄ", "AAAA=", " "]
)
def test_junk_is_refused_and_never_dropped(text: str) -> None:
    with pytest.raises(ValueError):
        b64.decode(text)
