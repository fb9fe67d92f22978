"""Keep the newest picture of a video while the link is lost."""

from __future__ import annotations

import base64

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import events as ev


def pictures(t: Talk) -> list[bytes]:
    videos = (frame.get("realtimeInput", {}).get("video") for frame in t.server.frames)
    return [base64.b64decode(video["data"]) for video in videos if video]


async def test_pictures_go_out_at_once() -> None:
    async with talk(agent()) as t:
        t.handle.send_video(b"one")
        await t.rests()
        t.handle.send_video(b"two")
        await t.rests()
        assert pictures(t) == [b"one", b"two"]
    assert t.all(ev.OutboxChanged) == []


async def test_of_several_pictures_behind_one_that_is_being_sent_the_newest_follows() -> None:
    async with talk(agent()) as t:
        for picture in (b"one", b"two", b"three"):
            t.handle.send_video(picture)
        await t.rests()
        assert pictures(t) == [b"one", b"three"]


async def test_the_newest_picture_waits_for_a_connection_and_the_others_are_counted() -> None:
    async with talk(agent()) as t:
        await t.server.closes(1006)
        await t.rests()
        for picture in (b"one", b"two", b"three"):
            t.handle.send_video(picture)
        await t.connects_again()
        assert pictures(t) == [b"three"]
        last = t.all(ev.OutboxChanged)[-1]
    assert (last.kind, last.queued, last.dropped, last.policy) == ("video", 0, 2, "newest")
