"""Secrets are found however separators, quotation marks and names are written."""

from __future__ import annotations

import pytest
from tests.support.redaction import may_redact, redacted_in_pieces

from gemini_live_runtime.redactor import REDACTED, Redactor

SECRET = "hunter2hunter22A9"


SPELLINGS = (
    # encoded once or several times: in URLs, in JSON, in HTML
    *("token%3D{}", "access_token%253D{}", "https%3A%2F%2Fx%3Fkey%3D{}%26a", "api_key%25253A%2520{}", "Bearer%2520{}"),
    *("https%3A%2F%2Fme%3A{}%40host/x", "password&#61;{}", "&amp;quot;password&amp;quot;:&amp;quot;{}&amp;quot;"),
    *(r"\u0022token\u0022\u003a\u0022{}\u0022", r"\\x22secret\\x22: \\x22{}\\x22", "%22pwd%22%3A%22{}%22"),
    # headers, with a scheme and without a space
    *("Authorization: ApiKey {}", "Authorization:Basic {}", "Authorization: key={}", "X-Goog-Api-Key:{}"),
    *("Private-Token:{}", "Cookie:a=1;b={}", "authorization: Splunk {}"),
    # other separators, lines and quotation marks
    *("password: |\n  {}\nuser: x", "  secret: >-\n    first line\n    {}\n", "password:\n  {}"),
    *(r"password: |\n    {}\n", "**Password:** {}", "`token`: `{}`", 'env["DB_PASSWORD"] = "{}"'),
    *('password = """{}"""', "password='''{}'''", r"password = \"\"\"{}\"\"\"", 'password="it\'s{}"'),
    *("password：{}", "密码 password＝{}", "password: “{}”", "secret：「{}」", 'password := "{}"'),
    *("'password' => '{}'", r"password: \"say \\\"{}\\\" to it\""),
    *(
        '**Password**: "{}"',
        "**API key:** `{}`",
        'api_key: str = "{}"',
        "let apiKey: String? = '{}'",
    ),
    # options
    *('--token "{}"', "--api-key '{}'", "['--password', '{}']", '["--auth-token","{}"]', "--password 'my {}'"),
    *("Bearer\t{}", "Bearer  {}", "bearer\n{}", 'os.environ["API_KEY"] = "{}"'),
    # names
    "AccountName=x;AccountKey={};EndpointSuffix=y",
    *("DB_PASS={}", "db_pass: {}", "dbPass = '{}'", '"pass": "{}"', "PASSWORD_2={}", "password2: {}"),
    *("LDAP_BIND_PW={}", "pw: {}", '"pw": "{}"', "ENCRYPTION_KEY: {}", "master_key={}", "signing_key = '{}'"),
    *("subscription-key={}", "x-functions-key: {}", '<add key="Password" value="{}"/>', "'password': b'{}'"),
    *("API_KEY_2={}", "token_1 = '{}'", "secret_v2={}", "passcode: {}", "API key: {}", "pass={}"),
)


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_value_is_found_however_its_name_and_the_signs_around_it_are_written(text: str) -> None:
    text = text.replace("{}", SECRET)
    kept = Redactor().text(text)
    assert "hunter2" not in kept
    assert Redactor().text(kept) == kept
    assert may_redact(text)


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_value_is_found_wherever_it_is_split_over_two_pieces(text: str) -> None:
    text = f"so {text.replace('{}', SECRET)} ok"
    for at in range(1, len(text)):
        assert "hunter2h" not in redacted_in_pieces(text[:at], text[at:]), text[:at]


@pytest.mark.parametrize(
    "text",
    [
        *("eyJhbGciOiJkaXIifQ.Zy98Xw76Vu54.Ab12Cd34Ef.Gh56Ij78Kl90.Mn12Op34Qr", f"AAAAabc-DE_:APA91b{'Ab1' * 20}"),
        *("eyJhbGciOiJkaXIifQ..Ab12Cd34Ef.Gh56Ij78Kl90.Mn12Op34Qr", "1%2F%2F0gAb12Cd34Ef56Gh78Ij90Kl", "AIzaSyD3…"),
        *("sk-proj-a1b2c3d4…", "eyJhbGciOiJIUz…", "ghp_Ab12Cd34...", "glpat-Ab12…"),
    ],
)
def test_nothing_is_left_of_encrypted_tokens_server_keys_and_keys_that_were_cut(text: str) -> None:
    assert Redactor().text(text).rstrip("….") == REDACTED
    assert may_redact(text)


@pytest.mark.parametrize(
    "text", ["Bearer {}…", "password: {}…", 'token = "{}…', "https://me:{}…", "db_pass={}...", "password%3D{}…"]
)
def test_a_value_that_was_cut_goes(text: str) -> None:
    text = text.replace("{}", "hunte2r")
    assert "hunte2r" not in Redactor().text(text)
    assert may_redact(text)


@pytest.mark.parametrize("text", ["pin: {}", "PIN code = {}", "userPin={}", '"card_pin":{}', "pin：{}", "pin%3D{}"])
@pytest.mark.parametrize("pin", ["4711", "08 15"])
def test_a_pin_of_four_digits_goes(text: str, pin: str) -> None:
    text = text.replace("{}", pin)
    assert pin not in Redactor().text(text)
    assert may_redact(text)


@pytest.mark.parametrize("name", ["pass phrase", "Pass.Word", "wifi pass code", "pass wd_2"])
def test_a_field_of_a_password_may_be_written_in_two_words(name: str) -> None:
    assert Redactor().value({name: "open sesame"}) == {name: REDACTED}
    assert may_redact({name: "open sesame"})


def test_a_field_of_a_pin_is_a_secret_when_it_has_four_digits() -> None:
    secret = {"pin": "4711", "pin_code": 4711, "cardPin": "47 11", "PIN_2": "0815"}
    other = {"pin": 17, "pins": "4711", "spin": "4711", "pinName": "GPIO1234", "mapPin": "here", "pin_2": True}
    assert Redactor().value({"x": secret, "y": other}) == {"x": dict.fromkeys(secret, REDACTED), "y": other}
    assert may_redact(secret)


@pytest.mark.parametrize(
    "text",
    [
        *("the pin is on the map", "my password is long", "PIN: see below", "pin: 12 red", "a spin: 4711"),
        *("tests pass: 1300", "pass: 3 of 5, pass=1300", "boarding_pass=A12345678", "bypass = value12345"),
        *("Well… the key, the token… so", "password…", "password: …", "token%20of appreciation", "100 % key = 5"),
        *("the shopping: 4711", "the pass: green", "我的密码：很长", "the password：long, safe", "compass: 12345678a"),
        *("the token: a sign = 'x'", "accounts: key = value"),
        *("tokens: 123456789012 of them", "Authorization: see page 12", "secret: |\nno text", "password:\n  it is"),
    ],
)
def test_ordinary_words_beside_the_signs_of_secrets_stay(text: str) -> None:
    assert Redactor().text(text) == text
