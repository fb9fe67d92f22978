"""A secret that comes in pieces is redacted like one that comes at once."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.support.canaries import PROVIDERS_KEYS
from tests.support.recordings import Recorder
from tests.support.redaction import redacted_in_pieces
from tests.unit.journal.secret_stream import KEY, KNOWN, Session, splits, with_session

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.hub import HOLD_S
from gemini_live_runtime.journal.formats.base import ExportSource, Range
from gemini_live_runtime.journal.privacy.split_secrets import SplitSecrets
from gemini_live_runtime.journal.recording.wire_recorder import WireRecorder
from gemini_live_runtime.redactor import Redactor
from gemini_live_runtime.secret_patterns.providers import PREFIXES
from gemini_live_runtime.wire.codec import decode_server_message

LONG_KEY = "zq81+ProxyKey/77Xw-LmNoP0042-yT9rGq3vB"
SECRETS = {
    KEY: "",
    KNOWN: "",
    "0123456789abcdef01234567": "bearer ",
    "tops3cret": "?key=",
    "anna:pa55word": "https://",
    "ya29.a0Af_H6SMBx": "",
    "AQ.Ab8RN6JkLmNoPqRsTuVwX": "",
    "B09Z8Y7X6W5V4U3T": "https://hooks.slack.com/services/",
    "tops3cretly": "curl -u me:",
    "Xk29vQ7mPzz": "curl https://api.example.com/v1/things -su bob:",
    "jMLOj4k29v": "password: ",
    "O7Uk29vQ7m": "AWS_SECRET_ACCESS_KEY=",
    "PXVKuzFhab29": "Authorization: Basic ",
    "NLwkEOYLkmqiEN7": "Cookie: session=",
}
"""Secrets, each with the text before it that tells it."""


PROVIDERS_SECRETS = (
    *PROVIDERS_KEYS,
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nAb12Cd34Ef56Gh78Ij90Kl12",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_wherever_a_secret_is_split_no_part_of_it_is_shown(secret: str) -> None:
    before, after = f"It is {SECRETS[secret]}", "@example.org now" if "pa55" in secret else " now"

    async def body(session: Session) -> None:
        for number, pieces in enumerate(splits(before + secret + after), 2):
            for piece in pieces:
                session.receives(piece)
                session.says(piece, turn=number)
            session.hub.emit(ev.SessionEnded(reason="x"), turn=number, gen=number)
            for found in (await session.text(), await session.wire_text()):
                assert found.startswith(before)
                assert found.endswith(after)
                middle = found[len(before) : len(found) - len(after)]
                assert middle.endswith("[redacted]"), pieces
                # What tells a key by its shape is no secret, and two letters of a known one tell nothing.
                assert secret.startswith(middle.removesuffix("[redacted]"))
                assert len(middle.removesuffix("[redacted]")) <= (5 if secret.startswith("ya29") else 4), pieces
            session.events.clear()

    with_session(body)


def test_a_possible_beginning_waits_and_all_events_keep_their_order() -> None:
    async def body(session: Session) -> None:
        session.receives("It is AIzaSyD3")
        session.says("It is AIzaSyD3")
        session.hub.emit(ev.VoiceMarked(speaking=True), turn=1, gen=1)
        await asyncio.sleep(HOLD_S / 2)
        assert [event.type for event in await session.shown()] == ["session.started"]
        session.receives("adBeefD3adBeef.")
        session.says("adBeefD3adBeef.")
        shown = await session.shown()
        assert [event.seq for event in shown] == [1, 2, 3, 4, 5, 6]
        said = ["wire.message", "transcript.delta"]
        assert [event.type for event in shown[1:]] == [*said, "voice.marked", *said]
        assert await session.text() == await session.wire_text() == "It is [redacted]."

    with_session(body)


def test_what_is_not_continued_is_redacted_in_time_and_so_is_the_rest_that_comes_later() -> None:
    async def body(session: Session) -> None:
        session.says("It is AIzaSyD3")
        await asyncio.sleep(HOLD_S + 0.01)
        assert await session.text() == "It is [redacted]"
        session.says("adBeefD3adBeef now")
        assert await session.text() == "It is [redacted] now"

    with_session(body)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_that_comes_slower_than_text_is_held_shows_no_more_than_its_beginning(secret: str) -> None:
    async def body(session: Session) -> None:
        before = f"It is {SECRETS[secret]}"
        for piece in (before, *secret, "@" if "pa55" in secret else " ", "now"):
            session.says(piece)
            await asyncio.sleep(HOLD_S * 0.4)
        middle = (await session.text()).removeprefix(before).removesuffix("now").removesuffix("@").rstrip()
        assert middle.endswith("[redacted]")
        assert len(middle.removesuffix("[redacted]")) <= len("anna:pa5")

    with_session(body)


async def _spoken_slowly(session: Session, *pieces: str) -> str:
    for piece in pieces:
        session.says(piece)
        await asyncio.sleep(HOLD_S * 2)
    return await session.text()


@pytest.mark.parametrize(
    ("before", "secret"),
    [
        ("", "sk-proj-kVqZbTnWxLrJmHsPdGfCyReAuN7f"),
        ("", "ghp_kVqZbTnWxLrJmHsPdGfCyReAuNofTiB7aQzM"),
        ("", "hf_kVqZbTnWxLrJmHsPdGfCyReAuNofTiBkaQzM"),
        ("Bearer ", "kVqZbTnWxLrJmHsPdGfCyReAuN7f"),
        ("password: ", "kVqZbTnWxLrJmHsPdGfCyReAuN7f"),
        ('secret = "', "kVqZbTnWxLrJmHsPdGfCyReAuNof"),
    ],
)
def test_a_key_without_digits_that_comes_slowly_shows_no_more_than_its_first_letters(before: str, secret: str) -> None:
    async def body(session: Session) -> None:
        shown = await _spoken_slowly(session, before, *secret, '" now')
        middle = shown.removeprefix(before).removesuffix('" now')
        assert middle.endswith("[redacted]")
        assert len(middle.removesuffix("[redacted]")) <= len("sk-proj-") + 8

    with_session(body)


@pytest.mark.parametrize("word", ["sk-getUserAccountName", "hf_HTTPServerFactory", "token = makeNewSession"])
def test_words_in_camel_case_are_shown_however_slowly_they_come(word: str) -> None:
    async def body(session: Session) -> None:
        assert await _spoken_slowly(session, "It is ", *word, " now") == f"It is {word} now"

    with_session(body)


def test_what_only_began_like_a_secret_is_shown_but_for_its_beginning() -> None:
    async def body(session: Session) -> None:
        session.says(f"It is {KNOWN[:7]}")
        await asyncio.sleep(HOLD_S + 0.01)
        session.says("-gatherers, I think")
        assert await session.text() == "It is [redacted]-gatherers, I think"

    with_session(body)


def test_a_hash_and_the_name_of_a_commit_at_the_end_are_shown() -> None:
    for text in ("It is 9f8e7d6c5b4a", "It is d41d8cd98f00b204e9800998ecf8427e", "call 004912345678901234"):
        split = SplitSecrets(Redactor())
        shown: list[str] = []
        split.add("model", 1, text, shown.append)
        split.close()
        assert shown == [text]


def test_the_session_itself_gets_no_part_of_a_secret_while_its_rest_is_awaited() -> None:
    async def body(session: Session) -> None:
        heard = [session.says(text) for text in (f"It is {KNOWN[:7]}", KNOWN[7:10], f"{KNOWN[10:]} now")]
        assert heard == ["It is [redacted]", "", " now"]
        assert await session.text() == "".join(heard)

    with_session(body)


@pytest.mark.parametrize("other", [{"side": "user"}, {"channel": "text"}], ids=["the user", "another channel"])
def test_the_session_gets_no_rest_of_a_secret_while_another_text_is_held(other: dict[str, Any]) -> None:
    async def body(session: Session) -> None:
        session.says("sk-", **other)
        heard = [session.says(text) for text in (f"It is {KEY[:14]}", KEY[14:], " and so on")]
        assert heard == ["It is [redacted]", "", " and so on"]

    with_session(body)


def test_the_session_gets_no_rest_of_a_secret_whose_beginning_was_shown_in_time() -> None:
    async def body(session: Session) -> None:
        session.says(f"It is {KEY[:14]}")
        await asyncio.sleep(HOLD_S * 2)
        session.says("sk-", side="user")
        assert [session.says(text) for text in (KEY[14:], " and so on")] == ["", " and so on"]

    with_session(body)


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        *(("Set-Cookie: sid=", "9f8e7d6c5b4a39281706", "; Path=/"), ("connect.sid=", "s%3Aabcd0123456789.Qx81", "")),
        *(("PHPSESSID=", "0123456789abcdef0123", ""), ("app_session=", "0123456789abcdef0123", " now")),
        *(("tool --key ", "abcd1234efgh5678", " now"), ("run --key=", "Zx9mVq2LrT7wBn4K", "")),
        *(
            ("connect to admin:", "hunter2secret99", "@db.example.com/x"),
            ("ssh bob:", "pa55word-77xx", "@host.example"),
        ),
        *(
            ("mysql -u root -p", "s3cretpw99", " db"),
            ("sshpass -p ", "hunter2x99", " ssh host"),
            ("redis-cli -a ", "tiger5x", ""),
        ),
    ],
)
def test_a_value_in_a_cookie_or_a_command_is_hidden_wherever_its_text_is_split(
    before: str, value: str, after: str
) -> None:
    whole = f"{before}{value}{after}"
    for at in range(len(before) + 1, len(whole)):
        kept = redacted_in_pieces(whole[:at], whole[at:])
        # The pieces come in any order.
        assert sorted(kept) == sorted(f"{before}[redacted]{after}"), at
        assert not any(value[begin : begin + 3] in kept for begin in range(len(value) - 2)), at


@pytest.mark.parametrize(
    "text",
    ["at 5:40", "a ratio of 3:2", "see https://example.com/path", "yes - I think", "write to: ", "ls -la", "a --key"],
)
def test_ordinary_ends_are_not_held(text: str) -> None:
    assert Redactor().open_at(text) is None


def test_ordinary_text_never_waits() -> None:
    async def body(session: Session) -> None:
        for text in ("The tok", "en of the bea", "rer is A", " key: none, http", " and 5:40 @ noon"):
            session.says(text)
        assert session.hub.view.seq == 6

    with_session(body)


def test_ordinary_text_without_spaces_is_no_work_but_a_key_within_it_is_found() -> None:
    split = SplitSecrets(Redactor())
    shown: list[str] = []
    split.add("user", 1, "今日は", shown.append)
    for number in range(40):
        assert split.is_plain("user", 1, f"天気は{number}度です。")
    split.add("user", 1, "鍵はAIzaSyD3ad", shown.append)
    split.add("user", 1, "BeefD3adBeef です", shown.append)
    assert sorted(shown) == [" です", "今日は", "鍵は[redacted]"]


def test_the_end_of_the_session_does_not_wait() -> None:
    async def body(session: Session) -> None:
        session.says("It is AIzaSyD3")
        session.hub.emit(ev.SessionEnded(reason="hung up"), turn=1, gen=1)
        assert session.hub.view.ended == "hung up"
        assert [event.seq for event in await session.shown()] == [1, 2, 3]

    with_session(body)


@pytest.mark.parametrize(("part", "key"), [("executableCode", "code"), ("codeExecutionResult", "output")])
def test_a_secret_that_is_split_over_pieces_of_code_is_redacted(part: str, key: str) -> None:
    async def body(session: Session) -> None:
        recorder = WireRecorder(lambda payload: session.hub.emit(payload, turn=1, gen=1), session.hub, lambda: 0.0)
        for piece in ('key = "AIzaSyD3', 'adBeefD3adBeef"'):
            raw = json.dumps({"serverContent": {"modelTurn": {"parts": [{part: {key: piece}}]}}})
            recorder.on_received(decode_server_message(raw), len(raw))
        frames = [event.payload.frame for event in await session.shown() if event.type == "wire.message"]
        pieces = [frame["serverContent"]["modelTurn"]["parts"][0][part][key] for frame in frames]
        assert pieces == ['key = "[redacted]', '"']

    with_session(body)


def test_an_export_redacts_over_whole_turns_what_was_recorded_in_pieces(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.start()
    recorder.begin_turn()
    recorder.user("My key is AIzaSyD3", "adBeef", "D3adBeef.")
    recorder.model("Is it AI", "zaSyD3adBeefD3adBeef?")
    source = ExportSource(recorder.write(tmp_path), redact=True, wanted=Range())
    texts = [event.payload.text for event in source.events() if event.type == "transcript.delta"]
    assert texts == ["My key is [redacted]", "", ".", "Is it [redacted]", "?"]


class Remembering(Redactor):
    """Redactor that searches each text once: many splits have the same ones."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("may_hold_secret", "spans", "open_at", "cut_at", "begun_at"):
            setattr(self, name, cache(getattr(self, name)))


@pytest.mark.parametrize("key", PROVIDERS_SECRETS, ids=lambda key: key[:8])
def test_the_key_of_a_provider_is_redacted_wherever_it_is_cut_and_however_late_the_rest_comes(key: str) -> None:
    # Of a key whose rest is late, the beginning that says whose it is may be seen, and little more.
    begin = max(6, key.find("\n"), *(found.end() for one in PREFIXES if (found := re.search(one.pattern, key))))
    redactor = Remembering()
    for pieces in splits(key):
        for late in (False, True):
            split = SplitSecrets(redactor)
            shown: list[str] = []
            for piece in ("mine is ", *pieces, " ok"):
                if split.is_plain("model", 1, piece):
                    shown.append(piece)
                else:
                    shown.append("")
                    split.add("model", 1, piece, partial(shown.__setitem__, len(shown) - 1))
                if late:
                    split.close()
            split.close()
            text = "".join(shown)
            assert not any(key[at : at + 8] in text for at in range(begin, len(key) - 8)), (text, pieces)


@pytest.mark.parametrize("size", [5, 8])
def test_of_a_key_in_small_pieces_the_session_itself_gets_its_prefix_at_most(size: int) -> None:
    async def body(session: Session) -> None:
        for turn, key in enumerate(PROVIDERS_KEYS, 1):
            begin = max((found.end() for one in PREFIXES if (found := re.match(one.pattern, key))), default=len(key))
            pieces = [key[at : at + size] for at in range(0, len(key), size)]
            got = "".join(session.says(piece, turn=turn) for piece in ("mine is ", *pieces))
            session.says(" ok", turn=turn)
            assert key[begin : begin + 3] not in got.removeprefix("mine is ") or begin + 3 > len(key), (key, got)

    with_session(body)


@pytest.mark.parametrize(
    "spelling",
    [LONG_KEY[19:], LONG_KEY.upper(), LONG_KEY.lower(), base64.b64encode(LONG_KEY.encode()).decode(), quote(LONG_KEY)],
    ids=["end", "capitals", "small", "base64", "url"],
)
def test_a_key_in_use_is_redacted_in_a_stream_however_it_is_spelled(spelling: str) -> None:
    redactor = Redactor()
    redactor.add(LONG_KEY)
    split = SplitSecrets(redactor)
    shown: list[str] = []
    split.add("model", 1, "Mine is ", shown.append)
    assert not split.is_plain("model", 1, spelling)
    split.add("model", 1, spelling, shown.append)
    split.close()
    # The last characters of base64 hold other bits, too.
    assert "".join(shown).rstrip("I=") == "Mine is [redacted]"
