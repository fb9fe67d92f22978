"""Redacted text and values hold no credentials."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.redaction import ODD, PIECES

from gemini_live_runtime.events import Event, Unknown
from gemini_live_runtime.redactor import (
    _MAX_CLEAN,
    _MAX_CLEAN_CHARS,
    MAX_TEMPORARY,
    REDACTED,
    Redactor,
    joined_spans,
    redacted_part,
)
from gemini_live_runtime.secret_patterns import search

KEY = "AIzaSyCANARY-0123456789_abcdefghijklmnop"


def shapes(secret: str) -> list[str]:
    return [
        secret,
        f"wss://host/path?key={secret}&alt=1",
        f"wss://host/path?alt=1&key={quote(secret, safe='')}",
        f"x-goog-api-key: {secret}",
        f"Authorization: Bearer {secret}",
        f"bearer {secret}, more",
        json.dumps({"api_key": secret}),
        json.dumps({"error": json.dumps({"key": secret})}),
        repr(ValueError(f"bad key {secret!r}")),
        f"before{secret}after",
        f"{secret}{secret}",
        f"https://user:{quote(secret, safe='')}@host/",
    ]


@pytest.mark.parametrize("text", shapes(KEY))
def test_a_key_is_found_by_its_shape(text):
    assert KEY not in Redactor().text(text)


@pytest.mark.parametrize("secret", [KEY, ODD, "plainpassword"])
def test_a_registered_secret_is_found_in_every_spelling(secret):
    redactor = Redactor()
    redactor.add(secret)
    for text in shapes(secret):
        kept = redactor.text(text)
        for spelling in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
            assert spelling not in kept, text


@pytest.mark.parametrize(
    "text",
    [
        f"Bearer {'a1' * 10}",
        f"ya29.{'x' * 30}",
        "auth_tokens/abc-123",
        f"AQ.{'Ab8_' * 8}",
        '{"apiKey": "hunter2hunter2"}',
        "api_key=hunter2hunter2",
        "https://me:hunter2@host/x",
        "<password>hunter2hunter2</password>",
        "<api_key>hunter2hunter2</api_key>",
        "<password> hunter2hunter2 </password>",
        '<password type="plain">\nhunter2hunter2\n</password>',
        "curl -s -u me:hunter2 https://host/x",
        "curl\t-su me:hunter2 https://host/x",
        "curl --proxy-user me:hunter2 https://host/x",
        "curl https://host/x \\\n  -u me:hunter2",
        f"https://discord.com/api/v10/webhooks/1234567890/{'a1' * 12}",
        f"https:\\/\\/hooks.slack.com\\/services\\/T000\\/B000\\/{'a1' * 12}",
        f"xapp-1-{'a1' * 12}",
        "curl --user 'me:hunter2' https://host/x",
        f"https://hooks.slack.com/services/T000/B000/{'a1' * 12}",
        f"https://discord.com/api/webhooks/1234567890/{'a1' * 12}",
        f"https://acme.webhook.office.com/webhookb2/{'a1' * 4}-1@{'a1' * 4}/IncomingWebhook/{'a1' * 12}",
        f"https://hooks.zapier.com/hooks/catch/1234567/{'a1' * 6}/",
        f"https://x.blob.core.windows.net/c?sv=2026-04-05&sp=r&sig={'a1' * 15}%3D",
        f"https://x/y?X-Amz-Date=1&amp;X-Amz-Signature={'a1' * 32}",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2\n\n{'a1' * 32}\n-----END PGP PRIVATE KEY BLOCK-----",
    ],
)
def test_tokens_are_found_by_their_shape(text):
    kept = Redactor().text(text)
    assert REDACTED in kept
    assert not any(part in kept for part in ("hunter2", "a1a1", "xxx", "abc-123", "Ab8_"))


@pytest.mark.parametrize(
    "text",
    [
        "the ring bearer responsibilities",
        "a token of appreciation, the token initialization",
        "what is the key? press any key",
        "wss://127.0.0.1:8080/ws?alt=json",
        "meet me @home: 12:30",
        "The password must have 8 characters. Enter your password: it is secret.",
        "A secret: we open at 9. The secret = patience; token: a sign",
        'press any key: enter; the key = "four"; app:token is "gold"; "primary_key": "id"',
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "task-123456789012345678901234 desk-0123456789abcdefghij1, token_count: 123456, max_tokens=8192",
        "+1 (555) 010-9999, 1,299.00 EUR, /data/ada/token/secret.txt, http://[::1]:80/@me, 2026-11-22T16:30:39Z",
        "a file that begins with -----BEGIN PRIVATE KEY----- holds a key",
        "<password>old</password> <token/> sort -u a:b, curl -u me https://host",
        "--token 'of'; '--token', '--password', '--secret' and the bearer 'of tidings'; bearer=none",
        "the cookie: a=warm one; authorization: required for all guests; xoxo, AQ.1, AIza",
    ],
)
def test_ordinary_sentences_are_left_alone(text):
    assert Redactor().text(text) == text


def test_secret_fields_are_redacted_and_other_fields_stay():
    redactor = Redactor()
    value = {
        "setup": {"sessionResumption": {"handle": "h-1"}, "model": "models/x"},
        "x-goog-api-key": "k",
        "access_token": ["a", {"b": "c"}],
        "token": "",
        "usage": {"token": 12, "tokens": "12"},
        "list": [KEY, 1, None, True, 2.5],
        KEY: "as a key",
    }
    assert redactor.value(value) == {
        "setup": {"sessionResumption": {"handle": REDACTED}, "model": "models/x"},
        "x-goog-api-key": REDACTED,
        "access_token": [REDACTED, {"b": REDACTED}],
        "token": "",
        "usage": {"token": 12, "tokens": "12"},
        "list": [REDACTED, 1, None, True, 2.5],
        REDACTED: "as a key",
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10) | st.just(KEY) | st.just(f"x {KEY} y"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.just(KEY), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_no_key_survives_in_any_value_and_redacting_twice_changes_nothing(value):
    redactor = Redactor()
    once = redactor.value(value)
    assert KEY not in json.dumps(once)
    assert redactor.value(once) == once


def test_a_secret_in_a_field_name_is_redacted_inside_a_secret_field() -> None:
    assert Redactor().value({"idToken": {KEY: [{KEY: 1}]}}) == {"idToken": {REDACTED: [{REDACTED: 1}]}}


def test_a_field_is_a_secret_also_when_its_name_says_whose_it_is() -> None:
    secret = {"GEMINI_API_KEY": "a", "user_password": "b", "githubToken": "c", "aws_secret_access_key": "d", "pwd": "e"}
    secret |= {"DB_PASS": "k", "userPass": "l", "pass": "m", "PASSWORD_2": "n", "token1": "o", "API key": "p"}
    secret |= {"secrets": "f", "api_keys": "g", "credential": "h", "aws_credentials": "i", "passwords": "j"}
    other = {
        "next_page_token": "a",
        "tokens": "f",
        "keys": "g",
        "max_tokens": "b",
        "monkey": "c",
        "sort_key": "d",
        "secretary": "e",
        "boarding_pass": "g",
        "compass": "h",
        "tokens_2": "i",
    }
    assert Redactor().value({"x": secret, "y": other}) == {"x": dict.fromkeys(secret, REDACTED), "y": other}


@pytest.mark.parametrize("length", [16, 20, len(KEY) - 1])
def test_a_registered_secret_is_found_although_it_is_cut_off(length: int) -> None:
    redactor = Redactor()
    redactor.add(ODD * 3)
    cut = (ODD * 3)[:length]
    assert redactor.text(f"gone: {cut}… (more)") == f"gone: {REDACTED}… (more)"
    assert redactor.may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"text": cut})).to_line())
    cut = (ODD * 3)[-length:]
    assert (
        redactor.text(f"first {ODD[-3:]}, then={cut}; {cut[-16:]}") == f"first {ODD[-3:]}, then={REDACTED}; {REDACTED}"
    )
    assert redactor.may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"text": cut})).to_line())


def test_a_registered_secret_is_found_in_capitals_in_base64_and_encoded_twice() -> None:
    redactor = Redactor()
    redactor.add(ODD * 3)
    json_twice = json.dumps(json.dumps(ODD * 3))
    spellings = [(ODD * 3).upper(), (ODD * 3).lower(), quote(ODD * 3), repr((ODD * 3).encode()), json_twice]
    spellings += [base64.b64encode(f"{before}{ODD * 3}:x".encode()).decode() for before in ("", "u", "us", "user:")]
    for text in spellings:
        kept = redactor.text(text)
        assert REDACTED in kept
        assert len(kept) < len(REDACTED) + 20, text
        assert redactor.may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"text": text})).to_line())


def test_short_secrets_do_not_blank_ordinary_words():
    redactor = Redactor()
    redactor.add("the")
    assert redactor.text("the cat") == "the cat"


def test_a_short_handle_does_not_let_a_server_blank_words() -> None:
    redactor = Redactor()
    redactor.add_temporary("Survived")
    assert redactor.text("Survived") == "Survived"


def test_of_handles_without_end_the_newest_are_redacted() -> None:
    redactor = Redactor()
    handles = [f"{number:04}-is-the-handle-of-a-session" for number in range(MAX_TEMPORARY + 5)]
    for handle in handles:
        redactor.add_temporary(handle)
    assert [handle for handle in handles if handle in redactor.text(handle)] == handles[:5]


@pytest.mark.parametrize(
    "text",
    [
        f"https://me:{'hunter2' * 40}@host/x",
        "https://me:hunter2@mine@hunter2@host/x",
        """https://me:pa'hunter2"2@host/x""",
        "https:\\/\\/me:hunter2@host\\/x",
        'a "https:\\\\/\\\\/me:hunter2@host"',
    ],
)
def test_a_password_in_a_url_goes_however_it_is_written(text: str) -> None:
    kept = Redactor().text(text)
    assert "hunter2" not in kept
    assert f"{REDACTED}@host" in kept
    assert Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"text": text})).to_line())


@pytest.mark.parametrize(
    "text", ['{"a":"http://host:80","b":"me@host"}', "https://host/x:y@z", "C:\\/srv\\/a:b@c", "http://host:80 a@b"]
)
def test_an_address_near_a_url_stays(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "between", ["\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,AB12\n\n", "\n> ", '\\n"\n"', "\r\n| "]
)
def test_a_private_key_whose_end_is_cut_off_goes(between: str) -> None:
    text = f"-----BEGIN RSA PRIVATE KEY-----{between}{'a1' * 32}\n> {'a1' * 32}"
    assert Redactor().text(text) == REDACTED


def test_the_end_of_a_registered_secret_is_found_in_capitals_and_in_a_url() -> None:
    redactor = Redactor()
    secret = "zQ8_vT-4kLm/2pRw+9xYb=cD7fGh1JnS6"
    redactor.add(secret)
    for end in (secret[-16:].upper(), secret[-20:].lower(), quote(secret[-16:], safe=""), quote(secret)[-18:]):
        assert redactor.text(f"gone: {end}.") == f"gone: {REDACTED}."
        assert redactor.may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"text": end})).to_line())


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=6).map("".join))
def test_text_without_the_quick_substrings_has_no_secret(text: str) -> None:
    found = joined_spans([*search.spans_of(text, search.lowered(text))])
    assert Redactor().spans(text) == found
    assert Redactor().text(text) == redacted_part(text, 0, found)


@pytest.mark.parametrize("add", [Redactor.add, Redactor.add_temporary])
def test_a_text_that_was_seen_before_is_redacted_once_its_secret_is_registered(
    add: Callable[[Redactor, str], None],
) -> None:
    redactor, secret = Redactor(), "four words of a story"
    texts = [f"These are {secret}.", f"These are {secret}"]
    for text in texts:
        assert redactor.text(text) == text
        assert not redactor.may_hold_secret(text)
    add(redactor, secret)
    for text in texts:
        assert redactor.may_hold_secret(text)
        assert secret not in redactor.text(text)
        assert secret not in json.dumps(redactor.value({"name": text, text: 1}))


@given(st.lists(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=4).map("".join), max_size=8))
def test_a_redactor_that_has_seen_texts_redacts_as_a_new_one_does(texts: list[str]) -> None:
    used = Redactor()
    for text in (*texts, *texts):
        assert used.text(text) == Redactor().text(text)
        assert used.may_hold_secret(text) == Redactor().may_hold_secret(text)


def test_the_texts_that_a_redactor_remembers_are_few_and_short() -> None:
    redactor = Redactor()
    for number in range(3 * _MAX_CLEAN):
        redactor.may_hold_secret(redactor.text(f"word {number} "))
        redactor.may_hold_secret(redactor.text(f"word {number} " * _MAX_CLEAN_CHARS))
    for texts in (redactor._clean, redactor._plain):
        assert 0 < len(texts) <= _MAX_CLEAN
        assert max(map(len, texts)) <= _MAX_CLEAN_CHARS


@pytest.mark.parametrize(
    "text",
    [
        *('passphrase="{}"', "passphrase: {}", "aws_secret_access_key = {}", "SECRET_KEY={}", "private-key={}"),
        *('SECRET_KEY="{}"', "SECRET_KEY = '{}'", '{{"secret_key": "{}"}}', "secretkey: {}", "accesskey = {}"),
        *("password = {}", "passphrase= {}", "client_secret = {}", "auth_token = {}", "--secret-key {}"),
        *("Cookie: theme=dark; session={}", "Cookie: a=1; b={}; c=2", "Set-Cookie: sid={}; Path=/abc12345; Secure"),
        *("curl -u me:{} https://x && curl -u me:tiger22 https://x", "curl -u me:{}\ncurl -u me:tiger22"),
        *("curl -u me:tiger22 --proxy-user me:{}", "curl -u me:{} --proxy-user me:tiger22"),
        *("Bearer\t{}", "Bearer  {}", "bearer\n{}", "Bearer: {}", "--token={}", "--passphrase {}"),
        *(
            "Bearer '{}'",
            'bearer "{}"',
            "bearer={}",
            "--client-secret {}",
            '--token "{}"',
            "--api-key '{}'",
            "--access-key {}",
        ),
        *("['--password', '{}']", '["--auth-token","{}"]', '"[\\"--token\\", \\"{}\\"]"', "--password 'my {}'"),
    ],
)
def test_values_after_names_in_other_spellings_go(text: str) -> None:
    assert "hunter2hunter22A9" not in Redactor().text(text.format("hunter2hunter22A9"))


def test_every_cookie_goes_and_what_is_said_about_it_stays() -> None:
    text = "Set-Cookie: theme=dark; a=a1b2c3d4e5; b=b1b2c3d4e5; Path=/abc123456; Max-Age=2592000000; Secure"
    wanted = f"Set-Cookie: theme=dark; a={REDACTED}; b={REDACTED}; Path=/abc123456; Max-Age=2592000000; Secure"
    assert Redactor().text(text) == wanted


def test_a_field_after_a_value_that_ends_with_its_name_is_a_secret_too() -> None:
    assert Redactor().text("api-key: api-key: a1b2c3") == f"api-key: {REDACTED} {REDACTED}"


def test_a_path_named_pwd_is_no_password() -> None:
    assert Redactor().text("PWD=/var/lib/x pwd=hunter22") == f"PWD=/var/lib/x pwd={REDACTED}"


def test_a_field_is_a_secret_by_its_name_however_long_and_even_when_the_name_is_redacted() -> None:
    redactor = Redactor()
    redactor.add("handle")

    assert redactor.value({"handle": "h1", "_" * 100 + "token": "t1", "other": "o1"}) == {
        REDACTED: REDACTED,
        "_" * 100 + "token": REDACTED,
        "other": "o1",
    }
