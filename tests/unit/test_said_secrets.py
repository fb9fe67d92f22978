"""Secrets are found after names in sentences, in any language, and in commands."""

from __future__ import annotations

import pytest
from tests.support.redaction import may_redact, redacted_in_pieces

from gemini_live_runtime.events import Event, Unknown
from gemini_live_runtime.redactor import REDACTED, Redactor

SECRET = "hV7kQ2mXw9TzR4pL"

SENTENCES = (
    *("the password is {}", "My password was {}.", "his password was changed to {} today", "password - {}"),
    *("the wifi password for guests is: {}, ok?", "the API key is {}", "My token is {}", "the secret is “{}”"),
    *("The encryption key is {}", "recovery code: {}", "password {}", "password|{}", "password\t{}", "passcode -> {}"),
    *("Passwort: {}", "Das Passwort lautet {}", "Kennwort = {}", "mot de passe : {}", "le mot de passe est {}"),
    *("contraseña: {}", "la contraseña es {}", "clave: {}", "a senha é {}", "parola: {}", "wachtwoord is {}"),
    *("lösenord: {}", "Schlüssel: {}", "hasło: {}", "Пароль: {}", "мой пароль {}", "пароль — это {}"),
    *("密码是{}", "密碼：{}", "パスワードは{}です", "비밀번호는 {}", "mật khẩu: {}", "סיסמה: {}", "كلمة المرور: {}"),
)
COMMANDS = (
    *("mysql -u root -p{} shop", "mysqldump -p'{}' x", "sshpass -p {} ssh me@host", "sshpass -p{} ssh me@host"),
    *("docker login -u me -p {} host", "redis-cli -a {} ping", "ldapsearch -D cn=me -w {} x", "unzip -P {} a.zip"),
    *("keytool -list -storepass {}", "openssl rsa -passin pass:{} -in x", "7z a -p{} x", "smbclient -U me%{} //h/s"),
    *(
        "http -a me:{} example.com",
        'curl -b "session={}" example.com',
        "sqlcmd -S x -U me -P {}",
        "mongo -u me -p {} x",
    ),
)
LOGINS = (
    *("root:{}@db.example.com", "git clone deploy:{}@10.0.0.5:8080", "scp bob:{}@host-1:/x", "me:{}@localhost"),
    *("sid={}", "connect.sid=s%3A{}.abcDEF1234567890", "https://example.com/?sid={}&x=1"),
    *("tool --key {}", "tool --key='{}' x", "APP_KEY=base64:{}=", '{"app_key": "{}"}', "app-key: {}"),
)
ESCAPED = ("the%20pass%20phrase%20is%20{}", "auth%20plain%20{}", "then\tauth plain {}", "pass\\u0020phrase: {}")
FILES = (
    *("machine example.com login me password {}", "machine example.com\n  login me\n  password {}\n"),
    *("requirepass {}", "enable secret 5 {}", "rootpw --plaintext {}", "AUTH PLAIN {}", "PSK={}", "MYSQL_PWD={} mysql"),
    *("CREATE USER me IDENTIFIED BY '{}'", "ALTER USER me PASSWORD '{}'", "SET PASSWORD = PASSWORD('{}')"),
    *("JSESSIONID={}", "PHPSESSID={}; path=/", "sessionid={}", "shop_session={}", "document.cookie = 'a={}'"),
    *('{"passwort": "{}"}', '{"пароль": "{}"}', '"wachtwoord": "{}"'),
    "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 2\n{}\n{}\nPrivate-MAC: 01",
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
)


@pytest.mark.parametrize("text", [*SENTENCES, *COMMANDS, *ESCAPED, *LOGINS, *FILES])
def test_a_value_with_digits_beside_letters_goes_after_words_that_name_a_secret(text: str) -> None:
    text = text.replace("{}", SECRET)
    kept = Redactor().text(text)
    assert SECRET[2:-2] not in kept
    assert Redactor().text(kept) == kept
    assert may_redact(text)


@pytest.mark.parametrize("text", SENTENCES)
def test_a_value_that_is_said_is_found_wherever_it_is_split_over_two_pieces(text: str) -> None:
    text = f"well, {text.replace('{}', SECRET)} ok"
    for at in range(1, len(text)):
        kept = redacted_in_pieces(text[:at], text[at:])
        assert not any(SECRET[i : i + 4] in kept for i in range(len(SECRET) - 3)), text[:at]


@pytest.mark.parametrize("name", ["passwort", "Mot de passe", "contraseña", "пароль", "密码", "パスワード"])
def test_a_field_is_a_secret_by_its_name_in_other_languages(name: str) -> None:
    value = {"value": {name: "geheim"}}
    assert Redactor().value(value) == {"value": {name: REDACTED}}
    assert may_redact(value)


def test_the_private_numbers_of_a_web_key_go_and_its_public_ones_stay() -> None:
    private, public = SECRET * 3, "Ab1" * 15
    key = {"kty": "RSA", "n": public, "e": "AQAB", "d": private, "p": private, "qi": private}
    assert Redactor().value(key) == {**key, "d": REDACTED, "p": REDACTED, "qi": REDACTED}
    assert Redactor().value({"d": "north", "k": 3, "p": "page-2"}) == {"d": "north", "k": 3, "p": "page-2"}
    line = Event(1, 0.5, 1, 1, Unknown(name="x", data={"value": {"key": key}})).to_line()
    assert Redactor().may_redact(line)
    text = f'{{"kty":"EC","x":"{public}","d":"{private}"}}'
    assert Redactor().text(text) == text.replace(private, REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        *("The password is wrong, try again in 30 minutes.", "my password has 16 characters", "passwords of 8 or more"),
        *("the secret is 42", "Your boarding pass is AB12CD34", "passport X1234567"),
        *(
            "class InvalidToken(EC2ClientError):",
            "Starting SessionId: 20261127-183412-ab12",
            "a key of 440Hz, A4major7",
        ),
        *(
            "the password page is at https://example.com/a1b2",
            "unzip -o a1b2c3d4.zip",
            "log in at 7pm on the 2nd floor",
        ),
        *("mailto:john1985smith@example.com", "email: anna2000maria@example.com", "From:bob1234bob@example.com"),
        *("nginx:1.25alpha12@sha256:0a1b2c3d4e5f", "openssl --key keys/client1.pem", "inside=a1b2c3d4e5f6a7b8c9d0"),
        *("at 10:30pm12345@home.example", "git@github.com:me/repo1a2b3c4d.git"),
        *("die Losung ist A1B2C3D4E5", "wortreich A1B2C3D4", "the tokens may be RFC2047", "parole: 12monkeys"),
    ],
)
def test_what_only_has_such_words_or_such_values_stays(text: str) -> None:
    assert Redactor().text(text) == text
