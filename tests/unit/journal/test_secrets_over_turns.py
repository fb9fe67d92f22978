"""A secret that goes on in the next turn, or is cut, is redacted in both parts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.recordings import Recorder
from tests.unit.journal.secret_stream import KNOWN, LONG_TOKEN, Session, parts, with_session

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.hub import HOLD_S
from gemini_live_runtime.journal.formats.base import ExportSource, Range
from gemini_live_runtime.journal.privacy.split_secrets import SplitSecrets
from gemini_live_runtime.redactor import Redactor


def test_a_registered_secret_over_two_turns_is_redacted_in_both() -> None:
    async def body(session: Session) -> None:
        session.says(f"It is {KNOWN[:8]}", turn=1)
        session.says(f"{KNOWN[8:]} now", turn=2)
        session.says("That is all", turn=3)
        assert await session.text() == "It is [redacted] nowThat is all"

    with_session(body)


@pytest.mark.parametrize("at", [6, 10, 14])
@pytest.mark.parametrize("side", ["model", "user"])
def test_a_key_known_by_its_shape_that_goes_on_in_the_next_turn_is_redacted_in_both(at: int, side: ev.Side) -> None:
    async def body(session: Session) -> None:
        texts = ("It is ", LONG_TOKEN[:at], LONG_TOKEN[at : at + 20], f"{LONG_TOKEN[at + 20 :]} now")
        heard = [session.says(text, turn=turn, side=side) for turn, text in enumerate(texts)]
        await asyncio.sleep(HOLD_S * 2)
        for text in (await session.text(), "".join(heard)):
            assert text.startswith("It is ")
            assert text.endswith(" now")
            assert not [part for part in parts(LONG_TOKEN[5:]) if part in text]

    with_session(body)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Well c", "url -u admin:YOBBKjqI4mwA0T https://x"),
        ("Well Cookie: session", "id=YOBBKjqI4mwA0T ok"),
        ("The pass", "word is set: password=YOBBKjqI4mwA0T"),
        ("The passw", "ord: YOBBKjqI4mwA0T"),
    ],
)
def test_the_words_that_tell_a_secret_may_be_over_two_turns(first: str, second: str) -> None:
    async def body(session: Session) -> None:
        session.says(first, turn=1)
        session.says(second, turn=2)
        await asyncio.sleep(HOLD_S * 2)
        assert await session.text() == (first + second).replace("YOBBKjqI4mwA0T", "[redacted]")

    with_session(body)


@pytest.mark.parametrize("first", ["What is your password:", "Tell me the token: ", "It is [redacted]", "Well c"])
@pytest.mark.parametrize("second", ["Thanks a lot", "ok", "urls are nice"])
def test_words_after_a_turn_that_asked_for_a_secret_are_shown(first: str, second: str) -> None:
    async def body(session: Session) -> None:
        session.says(first, turn=1)
        session.says(second, turn=2)
        await asyncio.sleep(HOLD_S * 2)
        assert await session.text() == first + second

    with_session(body)


def test_the_turns_after_a_private_key_without_an_end_are_shown(tmp_path: Path) -> None:
    later = ["for example so", "42 of them", "MII is how it begins", "and so on"]

    async def body(session: Session) -> None:
        session.says("It begins with -----BEGIN PRIVATE KEY----- and", turn=1)
        for turn, text in enumerate(later, 2):
            session.says(text, turn=turn)
        await asyncio.sleep(HOLD_S * 2)
        assert (await session.text()).endswith("".join(later))

    with_session(body)
    recorder = Recorder()
    recorder.start()
    for text in ("It begins with -----BEGIN PRIVATE KEY----- and", *later):
        recorder.begin_turn()
        recorder.gen += 1
        recorder.model(text)
    source = ExportSource(recorder.write(tmp_path), redact=True, wanted=Range())
    texts = [event.payload.text for event in source.events() if event.type == "transcript.delta"]
    assert texts[1:] == later


def test_an_interruption_does_not_show_the_rest_of_a_key_that_the_turn_before_began() -> None:
    async def body(session: Session) -> None:
        cut = {"by": "server", "cut_below": 3, "heard_samples": 1, "unheard_samples": 1}
        session.says(f"It is {LONG_TOKEN[:30]}", turn=1)
        session.says(f"{LONG_TOKEN[30:]} now", turn=2)
        texts = {"heard_text": LONG_TOKEN[30:40], "unheard_text": f"{LONG_TOKEN[40:]} now"}
        session.hub.emit(ev.TurnInterrupted(**cut, **texts), turn=2, gen=2)
        payload = (await session.shown())[-1].payload
        assert (payload.heard_text, payload.unheard_text) == ("[redacted]", " now")

    with_session(body)


@pytest.mark.parametrize("reply", ["You're welcome", "ok", "Unfortunately not", "42 is it", "sk-etching is an art"])
def test_words_after_a_turn_that_ended_in_a_key_are_shown(reply: str) -> None:
    async def body(session: Session) -> None:
        session.says(f"It is {LONG_TOKEN}", turn=1)
        first, *rest = (reply[at : at + 4] for at in range(0, len(reply), 4))
        for piece in (first, *rest):
            session.says(piece, turn=2)
        await asyncio.sleep(HOLD_S * 2)
        shown = (await session.text()).removeprefix("It is [redacted]")
        assert shown == (" is it" if reply.startswith("42") else reply)

    with_session(body)


@pytest.mark.parametrize("at", range(8, 32))
def test_a_key_without_a_prefix_that_is_cut_shows_no_more_digits_than_the_name_of_a_commit(at: int) -> None:
    key = "9f8e7d6c5b4a39281706f5e4d3c2b1a0-1a2b3c4d-5e6f7a8b"
    split = SplitSecrets(Redactor())
    shown: list[str] = []
    split.add("model", 1, f"It is {key[:at]}", shown.append)
    assert shown == []
    split.add("model", 2, key[at:], shown.append)
    split.close()
    assert not any(key[begin : begin + 13] in "".join(shown) for begin in range(len(key) - 12))


def test_an_interruption_within_a_secret_shows_neither_half() -> None:
    async def body(session: Session) -> None:
        cut = {"by": "server", "cut_below": 2, "heard_samples": 1, "unheard_samples": 1}
        texts = {"heard_text": f"It is {KNOWN[:6]}", "unheard_text": f"{KNOWN[6:]} now"}
        session.hub.emit(ev.TurnInterrupted(**cut, **texts), turn=1, gen=1)
        payload = (await session.shown())[-1].payload
        assert (payload.heard_text, payload.unheard_text) == ("It is [redacted]", " now")

    with_session(body)


def test_an_answer_that_is_interrupted_within_a_secret_shows_nothing_of_it() -> None:
    async def body(session: Session) -> None:
        session.says(f"It is {KNOWN[:9]}")
        cut = {"by": "server", "cut_below": 2, "heard_samples": 1, "unheard_samples": 1}
        session.hub.emit(ev.TurnInterrupted(**cut, heard_text=f"It is {KNOWN[:9]}", unheard_text=""), turn=1, gen=1)
        session.hub.emit(ev.SessionEnded(reason="x"), turn=1, gen=1)
        assert await session.text() == "It is [redacted]"
        (payload,) = [event.payload for event in await session.shown() if event.type == "turn.interrupted"]
        assert payload.heard_text == "It is [redacted]"

    with_session(body)


def test_an_export_redacts_over_two_turns_what_an_interrupted_answer_began(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.start()
    for half in (f"It is {LONG_TOKEN[:14]}", f"{LONG_TOKEN[14:]} now", "Well c", "url -u admin:YOBBKjqI4mwA0T x", "ok"):
        recorder.begin_turn()
        recorder.gen += 1
        recorder.model(half[:9], half[9:])
    source = ExportSource(recorder.write(tmp_path), redact=True, wanted=Range())
    texts = [event.payload.text for event in source.events() if event.type == "transcript.delta"]
    assert "|".join(texts) == "It is [redacted]||[redacted]| now|Well c||url -u ad|min:[redacted] x|ok|"
