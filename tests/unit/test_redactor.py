"""Redacted text and values hold no credentials."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.canaries import PROVIDERS_KEYS

from gemini_live_runtime.events import Event, ToolCalled, Unknown
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
from gemini_live_runtime.secret_patterns.names import _FIELDS
from gemini_live_runtime.secret_patterns.prefix import Prefix
from gemini_live_runtime.secret_patterns.providers import PREFIXES
from gemini_live_runtime.secret_patterns.shapes import CUT_KEY, OPEN_KEY, _ends

KEY = "AIzaSyCANARY-0123456789_abcdefghijklmnop"
ODD = 'ca"na/ry \\ß+key%'


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


PIECES = ["AIza", "auth_tokens/", "ya29.", "AQ.", "://", "bearer ", "BEARER%20", "Token ", "?key=", "&access_token="]
PIECES += [
    "password=",
    "secret: ",
    "token: ",
    "token=",
    "api_key = '",
    '"token": "',
    "Authorization: ",
    "Basic ",
    "Cookie: a=",
]
PIECES += [
    "--password ",
    "sk-",
    "ghp_",
    "AKIA",
    "eyJ",
    "xoxb-",
    "sk_live_",
    "-----BEGIN RSA PRIVATE KEY-----",
    "'",
    '"',
]
PIECES += ["<password>", "</password>", "curl -u a:", "hooks.slack.com/services/", "/api/webhooks/1/"]
PIECES += ["%3D", "password%3A", "&quot;", "\\u003d", "：", "＝", "…", "...", "pin: ", "DB_PASS", "_2=", "=> ", '"""']
PIECES += ["4711", "|\n  ", "Authorization:", "ApiKey ", "AAAAabcdefg:APA91b"]
PIECES += ["?token=", "api_key=", "apikey=", "api-key: ", 'apikey": "', "api_key':'", "user:secret@", "a1" * 15]


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
    "around", ["a\n{}\nb", "钥匙{}在此", "\u200b{}\u200b", "\x1b[1m{}", "%20{}%20", "_{}_", "\u00e9{}", "(31m{})"]
)
def test_a_key_is_found_right_after_letters_of_other_scripts_and_escapes_at_any_depth(around: str) -> None:
    for key in (*PROVIDERS_KEYS, "AQ.Ab8RN6JkLmNoPqRsTuVwX"):
        text = around.format(key)
        for _ in range(4):
            assert key[:-1] not in Redactor().text(text), text
            text = json.dumps({"env": text})


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: prefix.pattern)
def test_each_prefix_is_that_of_an_invented_key_and_of_no_words(prefix: Prefix) -> None:
    keys = [key for key in PROVIDERS_KEYS if re.search(prefix.whole, key)]
    assert keys, "add a key to PROVIDERS_KEYS, with which the other tests try the prefix"
    for key in keys:
        assert prefix.anchor in key
        words = key[: re.search(prefix.pattern, key).end()] + "some_words_that_go_on_for_long-as-names-do"  # type: ignore[union-attr]
        assert prefix.is_unlike or Redactor().text(words) == words


@pytest.mark.parametrize("around", ["It says {} here.", '{{"note": "{}"}}', "x={}", "{}…"])
def test_a_providers_key_is_redacted_without_a_name_beside_it(around: str) -> None:
    for key in PROVIDERS_KEYS:
        text = around.format(key)
        assert key[8:] not in Redactor().text(text), text
        assert Redactor().may_redact(json.dumps({"data": {"text": text}})), text


@pytest.mark.parametrize(
    "text", ["task-force-of-2025-and-beyond-it", "highs_and_lows_of_the_year", "FAQ.and_what_else_to_read_1"]
)
def test_words_that_contain_the_beginning_of_a_key_stay(text: str) -> None:
    assert Redactor().text(text) == text


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


@pytest.mark.parametrize(
    "part",
    [
        *("cookie: a=b;", "a=b; ", "curl -u a:bbb ", "curl -u ab --user ", "password = ", "secret-key = '"),
        *("://a:", "bearer ", "AIza", "?key=", "sk-", "-sk-", "password=", "eyJ", "-eyJaaaaaaaa", "-eyJaaaaaaaa."),
        *("token='", "key=", "cookie: a=b", "-----BEGIN PRIVATE KEY-----a-", "gh", "secret_token=\\"),
        *("_eyJaaaaaaaa", "\\neyJaaaaaaaa.", "passphrase: a", "secret_key=", "bearer\n"),
        *("://a:b@", "://a:b@c", ":\\/\\/a:b", "://a:b'c", "-----BEGIN PRIVATE KEY-----\nProc-Type: > > >\n", "1//0a"),
        *("--token '", "--token '--", "--token ','", "bearer='", '--client-secret "a'),
        *("password%3D", "%3D", "&quot;token&quot;:", "password: |\n a", "password:\n", "secret: |\n", 'secret="""'),
        *("authorization: a ", "pin: 1 ", "sk-a1b2c3…", "password: a1…", "eyJaaaaaaaa....", "AAAA:APA91b", "a_pass: `"),
        *("curl ", "curl -u ", "curl -u a:", "hooks.slack.com/a/", "/api/webhooks/1/", "password>a", "token>"),
    ],
)
def test_text_full_of_the_beginnings_of_secrets_costs_no_more_than_its_length(part: str) -> None:
    # A second look at all that follows each of them would take many minutes.
    Redactor().text(part * (100_000 // len(part)) + "\u0130")


def test_a_field_after_a_value_that_ends_with_its_name_is_a_secret_too() -> None:
    assert Redactor().text("api-key: api-key: a1b2c3") == f"api-key: {REDACTED} {REDACTED}"


def test_a_path_named_pwd_is_no_password() -> None:
    assert Redactor().text("PWD=/var/lib/x pwd=hunter22") == f"PWD=/var/lib/x pwd={REDACTED}"


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


SHAPED = ["AIza{}", "auth_tokens/{}", "ya29.{}", "AQ.{}", "ws://me:{}@host", "Bearer {}", "bearer%20{}", "Token {}"]
SHAPED += ["?key={}", "&access_token={}", "?token={}", "api_key={}", "apiKey={}", "api-key: {}", "apikey: {}"]
SHAPED += [
    "api_key='{}'",
    'API_KEY = "{}"',
    "password={}",
    "Password: {}",
    "secret: {}",
    "client_secret={}",
    "token={}",
]
SHAPED += [
    '{{\\"token\\": \\"{}\\"}}',
    "{{'GITHUB_TOKEN': '{}'}}",
    '"password":"{}"',
    "Authorization: Basic {}",
    "redis://:{}@h",
]
SHAPED += [
    "authorization: {}",
    "Set-Cookie: sid={}; Path=/",
    "--api-key {}",
    "--access-key '{}'",
    "--client-secret {}",
    "['--token', '{}']",
    "bearer='{}'",
    "--password {}",
    "access_token={}",
    "sk-{}",
    "ghp_{}",
]
SHAPED += [
    "github_pat_{}",
    "xoxb-{}",
    "sk_live_{}",
    "eyJ{}.eyJ{}.x",
    "-----BEGIN EC PRIVATE KEY-----\n{}\n{}",
    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
]
SHAPED += ['"api_key": "{}"', '"api-key":"{}"', '"apikey": "{}"', '"apiKey":"{}"', "'api_key': '{}'", "api\u212aey={}"]
SHAPED += ["GOCSPX-{}", "whsec_{}", "1//0{}", "xoxd-{}", "https:\\/\\/me:{}@host"]
SHAPED += ["glpat-{}", "hf_{}", "npm_a1a1a1{}", "SG.{}.{}", "pwd={}", "\u0130 token={}"]


@pytest.mark.parametrize("shape", SHAPED)
def test_every_shape_of_a_secret_is_seen_in_a_line(shape: str) -> None:
    text = shape.replace("{{", "{").replace("}}", "}").replace("{}", "a1" * 15)
    assert "a1a1" not in Redactor().text(text)
    for value in (text, {"a": [text]}, {text: 1}):
        assert Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"value": value})).to_line())


@pytest.mark.parametrize("name", sorted(_FIELDS))
def test_the_name_of_a_secret_field_is_seen_in_a_line(name: str) -> None:
    for spelling in (name, name.upper(), "-".join(name), "_".join(name)):
        assert Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"a": {spelling: "v"}})).to_line())


@pytest.mark.parametrize(
    "text", ["turns on the key", "the tokens were many", "see http://host/x", "50 % = half", "it's"]
)
def test_a_line_of_ordinary_words_is_let_pass(text: str) -> None:
    data = {"key": "app:key", "value": text, "more": {"key": text, "tokens": 1}}
    assert not Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data=data)).to_line())


def test_a_field_is_a_secret_by_its_name_however_long_and_even_when_the_name_is_redacted() -> None:
    redactor = Redactor()
    redactor.add("handle")

    assert redactor.value({"handle": "h1", "_" * 100 + "token": "t1", "other": "o1"}) == {
        REDACTED: REDACTED,
        "_" * 100 + "token": REDACTED,
        "other": "o1",
    }


def test_all_patterns_can_be_compiled_ahead_step_by_step_and_once() -> None:
    code = (
        "from gemini_live_runtime.secret_patterns.compiled import compiled;"
        "from gemini_live_runtime.secret_patterns.search import compile_patterns;"
        "from gemini_live_runtime.secret_patterns.shapes import SHAPES;"
        "steps = len(list(compile_patterns()));"
        "known = compiled.cache_info().currsize;"
        "[compiled(pattern) for _, pattern in SHAPES];"
        "print(steps > len(SHAPES), compiled.cache_info().currsize == known, list(compile_patterns()))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "True", "[]"]


def test_a_process_compiles_a_pattern_when_its_first_credential_may_come() -> None:
    code = (
        "from gemini_live_runtime.secret_patterns.compiled import compiled\n"
        "from gemini_live_runtime.redactor import Redactor\n"
        "redactor = Redactor()\n"
        "redactor.text('Good morning. The token is a bearing: key = 4.')\n"
        "print(compiled.cache_info().currsize)\n"
        "redactor.text('sk-' + 'a1' * 20)\n"
        "print(compiled.cache_info().currsize)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, later = map(int, ran.stdout.split())
    assert first <= 5
    assert first < later <= first + 3


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


def test_the_patterns_of_cut_keys_are_made_without_comparing_prefixes(monkeypatch):
    def compared(self, other):
        raise AssertionError("two prefixes are compared")

    monkeypatch.setattr(Prefix, "__eq__", compared)
    assert _ends("open") == OPEN_KEY
    assert _ends("cut") == CUT_KEY
