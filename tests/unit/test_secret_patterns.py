"""Patterns of secrets: providers' prefixes, their cost, and their compilation."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tests.support.canaries import PROVIDERS_KEYS

from gemini_live_runtime.redactor import Redactor
from gemini_live_runtime.secret_patterns.prefix import Prefix
from gemini_live_runtime.secret_patterns.providers import PREFIXES
from gemini_live_runtime.secret_patterns.shapes import CUT_KEY, OPEN_KEY, _ends


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


def test_the_patterns_of_cut_keys_are_made_without_comparing_prefixes(monkeypatch):
    def compared(self, other):
        raise AssertionError("two prefixes are compared")

    monkeypatch.setattr(Prefix, "__eq__", compared)
    assert _ends("open") == OPEN_KEY
    assert _ends("cut") == CUT_KEY
