"""A line of the journal that is let pass unread holds no secret."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.redaction import ODD, PIECES, may_redact

from gemini_live_runtime.events import Event, ToolCalled, Unknown
from gemini_live_runtime.redactor import Redactor
from gemini_live_runtime.secret_patterns.names import _FIELDS

SECRET_NAMES = [
    "token",
    "to-k_en",
    "API-Key",
    "x_goog_api_key",
    "privateKey",
    "Handle",
    "SIGNATURE",
    "to\u212aen",
    "Cookie",
    "pin",
    "PASSWORD_2",
    "dbPass",
]
suspicious_text = st.lists(
    st.sampled_from([*PIECES, "api\u212aey=", ODD, quote(ODD, safe=""), json.dumps(ODD)[1:-1], repr(ODD)[1:-1]])
    | st.text(max_size=5),
    max_size=5,
).map("".join)
suspicious_values = st.recursive(
    st.none() | st.integers() | suspicious_text,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(SECRET_NAMES) | suspicious_text | st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(suspicious_values, st.booleans())
def test_a_line_that_may_redact_rejects_has_no_secret(value: object, known: bool) -> None:
    redactor = Redactor()
    if known:
        redactor.add(ODD)
    line = Event(1, 0.5, 1, 1, Unknown(name="x", data={"value": {"value": value}})).to_line()
    if not redactor.may_redact(line):
        assert redactor.value(value) == value


SHAPED = (
    *("AIza{}", "auth_tokens/{}", "ya29.{}", "AQ.{}", "ws://me:{}@host", "Bearer {}", "bearer%20{}", "Token {}"),
    *("?key={}", "&access_token={}", "?token={}", "api_key={}", "apiKey={}", "api-key: {}", "apikey: {}"),
    *("api_key='{}'", 'API_KEY = "{}"', "password={}", "Password: {}", "secret: {}", "client_secret={}", "token={}"),
    *('{{\\"token\\": \\"{}\\"}}', "{{'GITHUB_TOKEN': '{}'}}", '"password":"{}"', "Authorization: Basic {}"),
    *("redis://:{}@h", "authorization: {}", "Set-Cookie: sid={}; Path=/", "--api-key {}", "--access-key '{}'"),
    *("--client-secret {}", "['--token', '{}']", "bearer='{}'", "--password {}", "access_token={}", "sk-{}"),
    *("ghp_{}", "github_pat_{}", "xoxb-{}", "sk_live_{}", "eyJ{}.eyJ{}.x", "-----BEGIN EC PRIVATE KEY-----\n{}\n{}"),
    *("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", '"api_key": "{}"', '"api-key":"{}"'),
    *('"apikey": "{}"', '"apiKey":"{}"', "'api_key': '{}'", "api\u212aey={}", "GOCSPX-{}", "whsec_{}", "1//0{}"),
    *("xoxd-{}", "https:\\/\\/me:{}@host", "glpat-{}", "hf_{}", "npm_a1a1a1{}", "SG.{}.{}", "pwd={}"),
    "\u0130 token={}",
)


@pytest.mark.parametrize("shape", SHAPED)
def test_every_shape_of_a_secret_is_seen_in_a_line(shape: str) -> None:
    text = shape.replace("{{", "{").replace("}}", "}").replace("{}", "a1" * 15)
    assert "a1a1" not in Redactor().text(text)
    for value in (text, {"a": [text]}, {text: 1}):
        assert may_redact(value)


@pytest.mark.parametrize("name", sorted(_FIELDS))
def test_the_name_of_a_secret_field_is_seen_in_a_line(name: str) -> None:
    for spelling in (name, name.upper(), "-".join(name), "_".join(name)):
        assert may_redact({spelling: "v"})


@pytest.mark.parametrize(
    "text", ["turns on the key", "the tokens were many", "see http://host/x", "50 % = half", "it's"]
)
def test_a_line_of_ordinary_words_is_let_pass(text: str) -> None:
    data = {"key": "app:key", "value": text, "more": {"key": text, "tokens": 1}}
    assert not Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data=data)).to_line())


@pytest.mark.parametrize("name", ["password", "access_token", "a-long-name-of-a-consent_audio_2", "x" * 500 + "_pin"])
@pytest.mark.parametrize("padding", [0, 1_000_000])
def test_a_secret_by_its_name_is_found_in_a_line_of_any_length(name: str, padding: int) -> None:
    args = {"text": "key " * (padding // 4), "more": {name: "1234 open sesame"}}
    called = Event(1, 0.5, 1, 1, ToolCalled(call_id="c", name="n", args=args))
    assert Redactor().may_redact(called.to_line())


@pytest.mark.parametrize("padding", [0, 1_000_000])
def test_a_long_line_whose_names_are_ordinary_is_no_work(padding: int) -> None:
    args = {"text": "handle " * (padding // 7), "more": {"spinning": "a", "passage": "b"}}
    called = Event(1, 0.5, 1, 1, ToolCalled(call_id="c", name="n", args=args))
    assert not Redactor().may_redact(called.to_line())
