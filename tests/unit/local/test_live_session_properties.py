"""Test that the server keeps to the protocol for any sequence of valid messages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_support import Client, TestParts, answer, hiss, session, tools, virtual, voice

STEPS = st.one_of(
    st.tuples(st.just("text"), st.sampled_from(["hi", "long", "call fast", "call fast and fast", "call slow"])),
    st.tuples(st.just("content"), st.sampled_from(["hi", "long", "call slow"])),
    st.tuples(st.just("speech"), st.sampled_from(["and", "call fast", ""])),
    st.tuples(st.just("answer"), st.sampled_from(["INTERRUPT", "WHEN_IDLE", "SILENT"])),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.01, 0.3, 2.0, 40.0])),
)


class Witness:
    """Reads everything the server says and checks it as it comes."""

    def __init__(self) -> None:
        self.open_calls: dict[str, dict[str, Any]] = {}
        self.seen_calls: set[str] = set()
        self.generated = self.interrupted = self.busy = False
        self.turns = 0

    def see(self, message: dict[str, Any]) -> None:
        content = message.get("serverContent", {})
        update = message.get("sessionResumptionUpdate")
        if update is not None:
            assert not (update.get("resumable") and self.busy), "resumable while generating"
            self.busy = self.busy or not update.get("resumable")
        for call in message.get("toolCall", {}).get("functionCalls", []):
            assert call["id"] not in self.seen_calls
            self.seen_calls.add(call["id"])
            self.open_calls[call["id"]] = call
        for cancelled in message.get("toolCallCancellation", {}).get("ids", []):
            # An answer may cross the cancellation on its way.
            assert cancelled in self.seen_calls
            self.open_calls.pop(cancelled, None)
        if "interrupted" in content:
            assert not self.interrupted
            self.interrupted = True
        if "modelTurn" in content or "outputTranscription" in content:
            assert not self.generated, "speech after generationComplete"
            assert not self.interrupted, "speech after interrupted"
        if "generationComplete" in content:
            assert not self.generated
            assert not self.interrupted
            self.generated = True
        if "turnComplete" in content:
            assert self.generated or self.interrupted
            self.generated = self.interrupted = self.busy = False
            self.turns += 1
            usage = message["usageMetadata"]
            parts = [usage.get(f"{kind}TokenCount", 0) for kind in ("prompt", "response", "toolUsePrompt")]
            assert usage["totalTokenCount"] == sum(parts)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=10), st.booleans())
def test_messages_keep_to_the_protocol_whatever_happens_when(steps: list[tuple[str, Any]], interrupting: bool) -> None:
    heard = [text for kind, text in steps if kind == "speech"]
    asked = [text for kind, text in steps if kind in ("text", "content")]
    handling = {} if interrupting else {"activityHandling": "NO_INTERRUPTION"}
    declared = [*tools("fast"), *tools("slow", behavior="NON_BLOCKING")]

    @virtual
    async def play() -> None:
        witness = Witness()
        async with session(
            TestParts(*heard), tools=declared, sessionResumption={}, realtimeInputConfig=handling
        ) as client:
            reading = asyncio.create_task(read(client, witness))
            for kind, value in steps:
                await act(client, witness, kind, value)
            await asyncio.sleep(3600)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            assert not reading.done() or reading.cancelled(), reading.exception()
        assert witness.turns >= bool(asked)
        assert not witness.open_calls
        assert not witness.busy

    play()


async def read(client: Client, witness: Witness) -> None:
    while True:
        witness.see(await client.next())


async def act(client: Client, witness: Witness, kind: str, value: Any) -> None:
    match kind:
        case "text":
            await client.text(value)
        case "content":
            turns = [{"role": "user", "parts": [{"text": value}]}]
            await client.send({"clientContent": {"turns": turns, "turnComplete": True}})
        case "speech":
            await client.audio(hiss(0.2) + voice(0.6) + hiss(0.8), chunk_ms=100)
        case "answer":
            for call in list(witness.open_calls.values()):
                del witness.open_calls[call["id"]]
                await client.send(answer(call, scheduling=value))
        case _:
            await asyncio.sleep(value)


def test_a_witness_that_sees_speech_after_an_interruption_objects() -> None:
    witness = Witness()
    witness.see({"serverContent": {"interrupted": True}})
    with pytest.raises(AssertionError):
        witness.see({"serverContent": {"outputTranscription": {"text": "more"}}})
