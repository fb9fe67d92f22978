"""Test which setups and messages a server accepts, and how it refuses others."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_support import Client, TestParts, join, refused, server, session, setup, tools, virtual

from gemini_live_runtime.local.protocol.live_config import MAX_LABEL_CHARS, MAX_TOOLS
from gemini_live_runtime.local.protocol.live_session import SETUP_TIMEOUT_S
from gemini_live_runtime.local.server import MAX_CONNECTIONS
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES


@virtual
async def test_the_answer_to_a_setup_is_setup_complete_with_a_session_id_of_its_own() -> None:
    async with server() as running:
        ids = set()
        for _ in range(2):
            client = Client(running.connect())
            await client.send(setup())
            ids.add((await client.next())["setupComplete"]["sessionId"])
    assert len(ids) == 2


@pytest.mark.parametrize(
    "model", ["models/local-parrot", "local-parrot", "models/gemini-3.8-live", "projects/p/locations/l/models/any"]
)
@virtual
async def test_a_model_may_be_named_in_every_usual_way(model: str) -> None:
    async with session(model=model) as client:
        await client.text("hi")
        assert (await client.turn()).output == "You typed hi."


@virtual
async def test_an_unknown_local_model_is_refused_as_google_refuses_one() -> None:
    assert await refused(setup(model="models/local-nobody"), parts=TestParts()) == (
        1008,
        "models/local-nobody is not found for API version v1beta, or is not supported for bidiGenerateContent.",
    )


@virtual
async def test_of_a_label_without_end_the_beginning_is_kept() -> None:
    parts = TestParts()
    async with session(parts, labels={"agent": "a" * (MAX_LABEL_CHARS + 1)}):
        (parrot,) = parts.parrots
        assert parrot.labels == {"agent": "a" * MAX_LABEL_CHARS}


def of_generation(**fields: Any) -> dict[str, Any]:
    return setup(generationConfig=fields)


def of_detection(**fields: Any) -> dict[str, Any]:
    return setup(realtimeInputConfig={"automaticActivityDetection": fields})


REFUSED = {
    "no model": (setup(model=None), "setup.model"),
    "two modalities": (of_generation(responseModalities=["AUDIO", "TEXT"]), "more than one modality"),
    "a modality it has not": (of_generation(responseModalities=["VIDEO"]), "VIDEO"),
    "an unknown modality": (of_generation(responseModalities=["SMELL"]), "SMELL"),
    "an unknown field": (setup(wings=2), "Unknown name \"wings\" at 'setup'"),
    "an unknown nested field": (of_generation(warmth=2), "Unknown name \"warmth\" at 'setup.generationConfig'"),
    "an unknown top-level field": ({**setup(), "wings": 2}, 'Unknown name "wings"'),
    "a value of a wrong type": (setup(tools=3), "setup.tools"),
    "an unknown sensitivity": (of_detection(startOfSpeechSensitivity="START_SENSITIVITY_MEDIUM"), "MEDIUM"),
    "a negative padding": (of_detection(prefixPaddingMs=-1), "prefixPaddingMs"),
    "an endless silence": (of_detection(silenceDurationMs=10**6), "silenceDurationMs"),
    "a built-in tool": (setup(tools=[{"googleSearch": {}}]), "google_search"),
    "a tool without a name": (setup(tools=[{"functionDeclarations": [{"description": "x"}]}]), "name"),
    "a tool declared twice": (setup(tools=tools("clock", "clock")), "clock"),
    "two kinds of parameters": (
        setup(tools=[{"functionDeclarations": [{"name": "a", "parameters": {}, "parametersJsonSchema": {}}]}]),
        "parameters",
    ),
    "an unknown behavior": (setup(tools=tools("clock", behavior="LAZY")), "LAZY"),
    "a target above its trigger": (
        setup(contextWindowCompression={"triggerTokens": 10, "slidingWindow": {"targetTokens": 20}}),
        "targetTokens",
    ),
    "a trigger above the window": (setup(contextWindowCompression={"triggerTokens": 10**9}), "triggerTokens"),
    "too many functions": (setup(tools=tools(*(f"f{n}" for n in range(MAX_TOOLS + 1)))), f"at most {MAX_TOOLS}"),
    "an avatar": (setup(avatarConfig={"avatarName": "Ava"}), "avatarConfig"),
    "a translation": (of_generation(translationConfig={"targetLanguageCode": "de"}), "translationConfig"),
    "a replicated voice": (
        of_generation(speechConfig={"voiceConfig": {"replicatedVoiceConfig": {"mimeType": "audio/wav"}}}),
        "voice",
    ),
    "an unknown voice": (
        of_generation(speechConfig={"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Nonsense"}}}),
        "Nonsense",
    ),
    "another message first": ({"realtimeInput": {"text": "hi"}}, "setup must be the first message"),
    "no kind of message": ({}, "exactly one kind"),
}


@pytest.mark.parametrize("case", REFUSED)
@virtual
async def test_a_setup_is_refused_with_1007_and_a_reason_for(case: str) -> None:
    message, expected = REFUSED[case]
    code, reason = await refused(message)
    assert code == 1007
    assert expected in reason
    assert len(reason.encode()) <= 123


@pytest.mark.parametrize("frame", ["hello", b"\xff\xfe", "[1]", '{"setup": NaN}', "{" * 50_000])
@virtual
async def test_a_frame_that_is_no_json_object_is_refused_with_1007(frame: str | bytes) -> None:
    code, reason = await refused(frame)
    assert code == 1007
    assert reason.startswith("Invalid JSON payload received.")


@virtual
async def test_a_frame_above_the_limit_is_refused_with_1009() -> None:
    assert (await refused("x" * (MAX_MESSAGE_BYTES + 1)))[0] == 1009


@virtual
async def test_a_connection_that_says_nothing_is_closed() -> None:
    async with server() as running:
        client = Client(running.connect())
        code, _ = await client.closed()
        assert code == 1008
        assert asyncio.get_running_loop().time() == pytest.approx(SETUP_TIMEOUT_S)


@virtual
async def test_snake_case_and_text_or_binary_frames_mean_the_same() -> None:
    message = {
        "setup": {
            "model": "models/gemini-3.8-live",
            "generation_config": {"response_modalities": ["TEXT"]},
            "realtime_input_config": {"automatic_activity_detection": {"disabled": True}},
        }
    }
    for form in (json.dumps(message), json.dumps(message).encode()):
        async with server(TestParts()) as running:
            client = Client(running.connect())
            await client.transport.send(form)
            await client.until("setupComplete")
            await client.send({"realtime_input": {"text": "hi"}})
            assert (await client.turn()).written == "You typed hi."


MANUAL = {"automaticActivityDetection": {"disabled": True}}
WRONG_LATER: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a second setup": ({}, setup(), "setup must be the first message"),
    "an unknown field": ({}, {"realtimeInput": {"speech": "x"}}, "speech"),
    "two kinds at once": ({}, {"realtimeInput": {"text": "a"}, "clientContent": {}}, "exactly one kind"),
    "marks under automatic detection": ({}, {"realtimeInput": {"activityStart": {}}}, "Explicit activity control"),
    "an end of marked speech that never began": (
        {"realtimeInputConfig": MANUAL},
        {"realtimeInput": {"activityEnd": {}}},
        "activityStart",
    ),
    "a stream end under manual detection": (
        {"realtimeInputConfig": MANUAL},
        {"realtimeInput": {"audioStreamEnd": True}},
        "audioStreamEnd",
    ),
    "a compressed sound": ({}, {"realtimeInput": {"audio": {"data": "AAAA", "mimeType": "audio/mp3"}}}, "audio/mp3"),
    "a senseless rate": (
        {},
        {"realtimeInput": {"audio": {"data": "AAAAAA==", "mimeType": "audio/pcm;rate=1"}}},
        "rate=1",
    ),
    "half a sample": ({}, {"realtimeInput": {"audio": {"data": "AAAA", "mimeType": "audio/pcm"}}}, "odd number"),
    "too much text within marked activity": (
        {"realtimeInputConfig": MANUAL},
        {"realtimeInput": {"activityStart": {}, "text": "x" * 100_001}},
        "100000 characters",
    ),
    "data that is not base64": ({}, {"realtimeInput": {"audio": {"data": "?", "mimeType": "audio/pcm"}}}, "base64"),
    "a role that there is not": (
        {},
        {"clientContent": {"turns": [{"role": "assistant", "parts": [{"text": "x"}]}]}},
        "role",
    ),
}


@pytest.mark.parametrize("case", WRONG_LATER)
@virtual
async def test_a_session_is_closed_with_1007_and_a_reason_for(case: str) -> None:
    fields, message, expected = WRONG_LATER[case]
    async with session(**fields) as client:
        await client.send(message)
        code, reason = await client.closed()
    assert code == 1007
    assert expected in reason


@virtual
async def test_what_one_client_does_wrong_nobody_else_notices() -> None:
    async with server(TestParts()) as running:
        good = await join(running)
        await good.text("long")
        bad = await join(running)
        await bad.transport.send(b"\x00garbage")
        await bad.closed()
        assert (await good.turn()).contents("generationComplete") == [True]


@virtual
async def test_more_connections_than_the_limit_are_turned_away_until_one_ends() -> None:
    async with server(TestParts()) as running:
        clients = [await join(running) for _ in range(MAX_CONNECTIONS)]
        extra = Client(running.connect())
        await extra.send(setup())
        assert (await extra.closed())[0] == 1011
        await clients[0].transport.close()
        await asyncio.sleep(1)
        await join(running)


@virtual
async def test_stopping_closes_every_connection() -> None:
    async with server(TestParts()) as running:
        client = await join(running)
        await client.text("long")
        await client.until("modelTurn")
        await running.stop()
        assert (await client.closed())[0] == 1001
        assert running.connections == 0


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_kinds = st.sampled_from(["setup", "clientContent", "realtimeInput", "toolResponse", "contextUpdate", "client_content"])
_fields = st.sampled_from(
    ["model", "turns", "turnComplete", "text", "audio", "mediaChunks", "functionResponses", "tools", "activityStart"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(_kinds, st.dictionaries(_fields, _json, max_size=3) | _json, max_size=2), max_size=4))
def test_no_message_whatsoever_breaks_the_server(messages: list[dict[str, Any]]) -> None:
    @virtual
    async def talk() -> None:
        async with session() as client:
            for message in messages:
                await client.send(message)
            await client.send({"garbage": True})
            code, reason = await client.closed()
        assert code in (1007, 1008), reason

    talk()
