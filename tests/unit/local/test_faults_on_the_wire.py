"""Test what simulated faults look like on the wire, and when they happen.

How our sessions survive them is tested in `tests/faults/test_simulated_faults.py`.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from live_support import Client, TestParts, answer, join, refused, server, session, setup, tools, virtual
from websockets.asyncio.client import connect

from gemini_live_runtime.errors import UpgradeRefusedError, UsageError
from gemini_live_runtime.local.faults import DESCRIPTIONS, RULES, Fault, FaultSchedule, faults_named
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.server import LocalServer

AUDIO = {"realtimeInput": {"audio": {"data": "AAAA", "mimeType": "audio/pcm;rate=16000"}}}
METHOD = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


def faulty(*faults: Fault) -> dict[str, dict[Fault, int]]:
    return {"faults": dict.fromkeys(faults, 1)}


# -- on the wire -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sessionResumption", "session_resumption"])
@virtual
async def test_a_handle_that_is_null_is_refused(name: str) -> None:
    strict = faulty(Fault.NULL_HANDLE)
    code, reason = await refused(setup(**{name: {"handle": None}}), **strict)
    assert (code, "null" in reason) == (1008, True)
    async with session(**{name: {}}, options=strict) as client:
        await client.text("hi")
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_history_is_refused_on_a_resumed_session_only() -> None:
    async with server(**faulty(Fault.STRICT_HISTORY)) as running:
        client = await join(running, sessionResumption={})
        history = {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "before"}]}]}}
        await client.send(history)
        await client.text("long")
        await client.closed()
        handle = next(
            message["sessionResumptionUpdate"]["newHandle"]
            for _, message in reversed(client.log)
            if "newHandle" in message.get("sessionResumptionUpdate", {})
        )
        client = await join(running, sessionResumption={"handle": handle})
        await client.text("hi")
        assert (await client.turn()).output == "You typed hi."
        await client.send(history)
        assert (await client.closed())[0] == 1007


@virtual
async def test_sound_before_activity_start_is_refused() -> None:
    manual = {"automaticActivityDetection": {"disabled": True}}
    async with session(realtimeInputConfig=manual, options=faulty(Fault.STRICT_ACTIVITY)) as client:
        await client.send({"realtimeInput": {"activityStart": {}}})
        await client.send(AUDIO)
        await client.send({"realtimeInput": {"activityEnd": {}}})
        await client.send(AUDIO)
        assert (await client.closed())[0] == 1007


@pytest.mark.parametrize("compression", [None, {"slidingWindow": {}}])
@virtual
async def test_a_second_turn_has_room_only_with_compression(compression: dict[str, object] | None) -> None:
    async with session(contextWindowCompression=compression, options=faulty(Fault.CONTEXT_LIMIT)) as client:
        await client.text("hi")
        await client.turn()
        await client.text("hi")
        if compression is None:
            code, reason = await client.closed()
            assert (code, "context window" in reason) == (1007, True)
        else:
            assert (await client.turn()).output == "You typed hi."


@virtual
async def test_the_last_sound_of_a_turn_completes_it_and_messages_have_several_parts() -> None:
    async with session(options=faulty(Fault.JOINED_COMPLETION)) as client:
        await client.text("hi")
        turn = await client.turn()
    async with session() as client:
        await client.text("hi")
        usual = await client.turn()
    assert turn.pcm == usual.pcm
    assert max(len(content["parts"]) for content in turn.contents("modelTurn")) == 2
    last = turn.messages[-1]["serverContent"]
    assert {"modelTurn", "generationComplete", "turnComplete"} <= last.keys()


@virtual
async def test_an_interrupted_turn_is_completed_after_the_beginning_of_the_next() -> None:
    async with session(TestParts("well"), options=faulty(Fault.LATE_COMPLETION)) as client:
        await client.text("long")
        await client.until("modelTurn")
        await client.text("hi")
        await client.until("interrupted")
        late = await client.turn()
        assert late.marks[:1] == ["modelTurn"]
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_a_server_that_keeps_a_call_open_says_nothing_until_it_is_answered() -> None:
    async with session(tools=tools("clock"), options=faulty(Fault.CALL_KEPT_OPEN)) as client:
        await client.text("call clock")
        (call,) = (await client.until("toolCall"))["toolCall"]["functionCalls"]
        await client.text("hi")
        await client.until("turnComplete")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.turn(), 600)
        await client.send(answer(call))
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_a_duplicate_call_comes_as_content_and_twice_as_a_call() -> None:
    async with session(tools=tools("clock"), options=faulty(Fault.DUPLICATE_CALL)) as client:
        await client.text("call clock")
        (part,) = (await client.until("modelTurn"))["serverContent"]["modelTurn"]["parts"]
        first, second = await client.until("toolCall"), await client.until("toolCall")
        assert [part["functionCall"]] == first["toolCall"]["functionCalls"] == second["toolCall"]["functionCalls"]


@virtual
async def test_each_answer_takes_longer_than_the_one_before() -> None:
    async with session(options=faulty(Fault.SLOW_ANSWERS)) as client:
        waits = []
        for _ in range(3):
            asked = asyncio.get_running_loop().time()
            await client.text("hi")
            await client.until("outputTranscription")
            waits.append(asyncio.get_running_loop().time() - asked)
            await client.until("turnComplete")
    assert waits == pytest.approx([0.5, 1.0, 1.5])


@virtual
async def test_a_resumption_beside_the_older_connection_is_refused_at_once() -> None:
    async with server(**faulty(Fault.STRICT_RESUME)) as running:
        older = await join(running, sessionResumption={})
        await older.text("hi")
        await older.until("goAway")
        handle = await older.handle()
        newer = Client(running.connect())
        await newer.send(setup(sessionResumption={"handle": handle}))
        asked = asyncio.get_running_loop().time()
        assert (await newer.closed())[0] == 1011
        assert asyncio.get_running_loop().time() - asked < 0.2
        assert (await older.closed())[0] == 1011


@virtual
async def test_an_outage_refuses_connections_for_a_while() -> None:
    async with server(**faulty(Fault.OUTAGE)) as running:
        client = await join(running)
        await client.text("hi")
        await client.closed()
        with pytest.raises(UpgradeRefusedError, match="503"):
            running.connect()
        await asyncio.sleep(5)
        await join(running)


async def test_pongs_are_late_and_messages_are_not() -> None:
    running = LocalServer(ServerOptions(**faulty(Fault.LATE_PONGS)), TestParts())  # type: ignore[arg-type]
    url = await running.start()
    try:
        async with connect(url + METHOD, ping_interval=None) as socket:
            pong = await socket.ping()
            await socket.send(json.dumps(setup()))
            assert "setupComplete" in json.loads(await socket.recv())
            assert not pong.done()
    finally:
        await running.stop()


async def test_pongs_come_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.local.server.PONG_S", 0.01)
    running = LocalServer(ServerOptions(**faulty(Fault.LATE_PONGS)), TestParts())  # type: ignore[arg-type]
    url = await running.start()
    try:
        async with connect(url + METHOD, ping_interval=None) as socket:
            assert await (await socket.ping()) >= 0.01
    finally:
        await running.stop()


# -- schedules -------------------------------------------------------------------------------------------------------


def test_every_fault_is_described() -> None:
    assert {*DESCRIPTIONS} == {*Fault}
    assert len(Fault) >= 23


def test_a_fault_happens_as_often_as_it_is_named() -> None:
    schedule = FaultSchedule(faults_named("outage, quota,outage"))
    assert [schedule.take(Fault.OUTAGE) for _ in range(3)] == [True, True, False]
    assert [schedule.take(Fault.QUOTA) for _ in range(2)] == [True, False]
    assert not schedule.take(Fault.CLEAN_CLOSE)


@pytest.mark.parametrize(("name", "remedy"), [("outtage", "Use outage"), ("x", "internal-error, late-pongs")])
def test_an_unknown_fault_is_named_with_the_known_ones(name: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=f"no fault '{name}'") as error:
        faults_named(f"quota,{name}")
    assert remedy in error.value.remedy


def drawn(seed: int, *, names: str = "") -> list[Fault]:
    """Return the faults of a hundred answers."""
    schedule = FaultSchedule(faults_named(names), seed)
    found = []
    for _ in range(100):
        schedule.on_answer()
        found += [fault for fault in Fault if schedule.take(fault)]
    return found


def test_a_seed_is_a_schedule() -> None:
    assert drawn(5) == drawn(5) != drawn(6)
    assert {fault for seed in range(20) for fault in drawn(seed)} == {*Fault} - RULES - {Fault.QUOTA}


def test_with_names_a_seed_draws_these_alone() -> None:
    assert {*drawn(1, names="outage,quota")} == {Fault.OUTAGE, Fault.QUOTA}
