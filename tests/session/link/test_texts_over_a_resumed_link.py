"""A server that resumes its session is asked to answer a text, once.

It may know the text, so that it is not sent again.
"""

from __future__ import annotations

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.session.link.policy import LinkPolicy

TEXT = "what time is it"

POLICY = LinkPolicy()

AGAIN = "Connected again. The server resumed the conversation."
ASKED = "Your message had no answer when the connection was lost. The model was asked to answer."
NOT_SENT = "Your message may not have arrived, and was not sent again."


async def resumable(t: Talk) -> None:
    """Send a resumption handle as the server."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    await t.rests()


async def loses(t: Talk) -> None:
    """Lose the connection, and make another one."""
    await t.server.closes(1006)
    await t.connects_again()


async def types_into_a_lost_link(t: Talk) -> None:
    """Type a text on a resumable session whose connection is lost before the answer."""
    await resumable(t)
    await t.types(TEXT)
    await loses(t)


def settled(t: Talk) -> list[str]:
    """Return how what a lost connection left open went on."""
    return [event.outcome for event in t.all(ev.SendSettled)]


def view(t: Talk) -> SessionView:
    """Return the screen's view of the session."""
    seen = SessionView()
    for event in t.stage.sink.events:
        apply(seen, event)
    return seen


def lines(t: Talk) -> list[tuple[str, str]]:
    """Return the notices on the screen, and what a key does about each."""
    blocks = [block for block in view(t).blocks if block.kind == "notice"]
    return [(f"{block.text} {block.detail}".strip(), block.action) for block in blocks]


async def test_it_is_asked_to_answer_the_text_in_the_same_turn() -> None:
    async with talk(agent(), mode="text") as t:
        await types_into_a_lost_link(t)
        (note, prompt) = t.wire
        assert note[0] == "user context"
        assert f'The user has said: "{TEXT}"' in note[1]
        assert prompt == ("prompt",)
        await t.says("Four.")
        await t.ends()
    assert settled(t) == ["prompted"]
    assert [turn.outcome for turn in t.all(ev.TurnCompleted)] == ["complete"]


async def test_the_screen_says_so_in_the_line_of_the_loss() -> None:
    async with talk(agent(), mode="text") as t:
        await types_into_a_lost_link(t)
        ((line, action),) = lines(t)
    assert line.endswith(f"{AGAIN} {ASKED}")
    assert action == ""


async def test_another_loss_leaves_the_text_to_the_user_who_sends_it_again_by_a_key() -> None:
    async with talk(agent(), mode="text") as t:
        await types_into_a_lost_link(t)
        await loses(t)
        assert t.wire == []
        assert [(line.endswith(NOT_SENT), action) for line, action in lines(t)] == [(True, "resend")]
        assert [block.text for block in view(t).blocks if block.id in view(t).lost_blocks] == [TEXT]
        await t.types(TEXT)
        assert t.sent("text") == [("text", TEXT)]
    assert settled(t) == ["prompted", "unknown"]
    assert next(turn.outcome for turn in t.all(ev.TurnCompleted)) == "empty"


async def test_a_fresh_session_after_that_gets_the_text() -> None:
    async with talk(agent(), mode="text") as t:
        await types_into_a_lost_link(t)
        t.stage.core.state.link.forget_handle()
        await loses(t)
        assert t.sent("text") == [("text", TEXT)]
        assert t.sent("prompt") == []
    assert settled(t) == ["prompted", "resent"]


async def test_an_empty_turn_leaves_the_text_to_the_user() -> None:
    async with talk(agent(), mode="text") as t:
        await types_into_a_lost_link(t)
        await t.server.says(serverContent={"turnComplete": True})
        await t.rests()
        assert t.sent("prompt") == [("prompt",)]
        assert [(line.endswith(NOT_SENT), action) for line, action in lines(t)] == [(True, "resend")]
    assert settled(t) == ["prompted", "unknown"]


async def test_silence_is_told_and_then_leaves_the_text_to_the_user_on_another_connection() -> None:
    async with talk(agent(), mode="text") as t:
        await types_into_a_lost_link(t)
        await t.passes(POLICY.late_answer_s + 0.1)
        assert [notice.code for notice in t.all(ev.Notice)] == ["answer-late"]
        await t.passes(POLICY.no_answer_s - POLICY.late_answer_s)
        await t.connects_again()
        assert t.sent("text") == t.sent("prompt") == []
        assert lines(t)[-1][0].endswith(NOT_SENT)
        assert lines(t)[-1][1] == "resend"
    assert settled(t) == ["prompted", "unknown"]


async def test_after_a_silent_server_the_next_one_is_asked_once_and_then_the_user() -> None:
    async with talk(agent(), mode="text") as t:
        await resumable(t)
        await t.types(TEXT)
        await t.passes(POLICY.no_answer_s + 0.1)
        await t.connects_again()
        await t.passes(300)
        assert lines(t)[-1] == (f"The model has not answered for 20 s {AGAIN} {ASKED} {NOT_SENT}", "resend")
    assert len(t.all(ev.LinkRestarting)) == 1


async def test_a_text_that_could_not_be_sent_is_sent_to_a_resumed_session() -> None:
    async with talk(agent(), mode="text") as t:
        await resumable(t)
        # The session has yet to notice.
        await t.server.closes(1006)
        await t.types(TEXT)
        await t.connects_again()
        assert t.wire == [("text", TEXT)]


async def test_a_text_typed_while_there_is_no_connection_takes_the_place_of_the_prompt() -> None:
    # Behind a prompt it would cut off the answer that it asks for.
    async with talk(agent(), mode="text") as t:
        await resumable(t)
        await t.types(TEXT)
        await t.server.closes(1006)
        await t.rests()
        await t.types("and where")
        await t.connects_again()
        assert [kind for kind, *_ in t.wire] == ["user context", "text"]
    assert settled(t) == ["prompted"]


async def test_words_that_were_heard_but_not_answered_are_asked_for_in_the_same_way() -> None:
    async with talk(agent()) as t:
        await resumable(t)
        await t.hears("what time ")
        await t.hears("is it")
        await loses(t)
        assert f'"{TEXT}"' in t.sent("user context")[0][1]
        assert t.sent("text") == []
    assert settled(t) == ["prompted"]


async def test_all_texts_typed_while_there_is_no_connection_are_sent_and_stay_on_the_screen() -> None:
    texts = ["what is the weather in Rome", TEXT, "and where"]
    async with talk(agent(), mode="text") as t:
        await resumable(t)
        await t.server.closes(1006)
        await t.rests()
        for text in texts:
            await t.types(text)
        await t.connects_again()
        assert t.sent("text") == [("text", text) for text in texts]
        # Each later text cuts off the answer to the one before.
        for _ in texts[1:]:
            await t.server.says(serverContent={"interrupted": True})
            await t.server.says(serverContent={"turnComplete": True})
            await t.rests()
        await t.says("Sunny. Four. Here.")
        await t.ends()
        assert [block.text for block in view(t).blocks if block.kind == "user"] == texts
        assert not view(t).lost_blocks
        assert t.sent("text") == [("text", text) for text in texts]
        assert t.sent("prompt") == []
    assert [event.text for event in t.all(ev.TextSent)] == texts
