"""`talk` against servers that refuse, hang up, send garbage or stay silent.

Each ends with a sentence and the exit code of what is missing, without a traceback.
"""

from __future__ import annotations

import asyncio
import base64
import json

import pytest
from tests.support.command_line import Ended, run
from tests.support.fake_live_server import (
    Behaviour,
    FakeLiveServer,
    RawServer,
    accept_setup,
    answers,
    next_text,
    says,
    send,
)
from tests.support.patience import PATIENCE_S
from websockets.asyncio.server import ServerConnection

from gemini_live_runtime.engine import console_outbox
from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES


@pytest.fixture(autouse=True)
def quickly_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation counts as over sooner: nothing here pauses."""
    monkeypatch.setattr("gemini_live_tui.cli.headless.IDLE_S", 0.05)


def talk(url: str, *options: str) -> Ended:
    once = ("--reconnect-for", "0")
    return run(
        "talk", "--backend", url, "--text", "hello", "--record", "off", "--timeout", f"{PATIENCE_S}", *once, *options
    )


def _failed(ended: Ended, *words: str) -> None:
    assert ended.code == EXIT_CODES["links"], ended
    assert [word for word in words if word not in ended.sentence] == [], ended.sentence
    assert "Traceback" not in ended.out + ended.err
    assert ended.control == []


REFUSALS = {
    401: ["does not accept the credential", "HTTP 401: key expired", "Check the key"],
    403: ["does not allow this", "HTTP 403: key expired"],
    404: ["no Live API at this address", "Check the URL"],
    429: ["no quota left", "HTTP 429: key expired", "Wait"],
    500: ["unavailable", "Try again"],
    302: ["another address, which is not followed", "final address"],
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refused_upgrade_is_told_with_status_reason_and_remedy(status: int) -> None:
    body = json.dumps({"error": {"code": status, "message": "key \x1b[31mexpired\x1b[0m\u202e"}})
    with FakeLiveServer(status=status, body=body) as server:
        _failed(talk(server.url), *REFUSALS[status], server.url.removeprefix("ws://"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n<title>A blog</title>\r\n", ["HTTP 200: A blog"]),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ["WebSocket"]),
        (b"\x00\xff\x1b[2J\r\n\r\n", ["WebSocket"]),
        (b"", ["closed the connection during the handshake"]),
    ],
    ids=["a web page", "another protocol", "noise", "nothing"],
)
def test_something_that_is_no_websocket_server_is_said_to_be_none(data: bytes, words: list[str]) -> None:
    with RawServer(data) as server:
        _failed(talk(server.url), *words, "heck the address")


def test_a_port_where_nobody_listens_is_named() -> None:
    _failed(talk("ws://127.0.0.1:1"), "Nothing listens at 127.0.0.1:1", "Check the port")


def closes(code: int, reason: str, *, setup: bool) -> Behaviour:
    async def behave(socket: ServerConnection) -> None:
        if setup:
            await accept_setup(socket)
        else:
            await socket.recv()
        await socket.close(code, reason)

    return behave


@pytest.mark.parametrize("setup", [False, True], ids=["instead of accepting the setup", "in mid-call"])
@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (1007, "Invalid JSON payload: \x1b[1munknown name", ["1007: Invalid JSON payload: unknown name", "setup"]),
        (1008, "models/x is not found for API version v1beta", ["1008: models/x is not found", "model's name"]),
        (1008, "API key not valid", ["1008: API key not valid", "Check the key"]),
        (1011, "Resource has been exhausted (e.g. check quota).", ["1011: Resource", "quota"]),
        (1011, "", ["1011, no reason given", "Connect again"]),
        (4999, "\u202eodd", ["4999: odd"]),
    ],
)
def test_a_close_is_told_with_code_reason_and_remedy(code: int, reason: str, words: list[str], setup: bool) -> None:
    with FakeLiveServer(closes(code, reason, setup=setup)) as server:
        _failed(talk(server.url), *words)


async def goes_away(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    await send(
        socket,
        {"sessionResumptionUpdate": {"newHandle": "handle-of-the-session", "resumable": True}},
        {"goAway": {"timeLeft": "0s"}},
    )
    await socket.wait_closed()


def test_a_text_that_no_connection_answers_is_no_fault_of_the_last_move() -> None:
    with FakeLiveServer(goes_away) as server:
        ended = talk(server.url)
    assert ended.code == EXIT_CODES["deliveries"], ended
    assert ended.sentence.startswith("The run is not complete: ")
    assert "1 text was not delivered" in ended.sentence


def sends(*frames: str | bytes) -> Behaviour:
    async def behave(socket: ServerConnection) -> None:
        await accept_setup(socket)
        await next_text(socket)
        for frame in frames:
            await socket.send(frame)
        await send(socket, says("Still here."), {"serverContent": {"turnComplete": True}})
        await socket.wait_closed()

    return behave


GARBAGE = ("{", b"\xff\xfe\x00", "[]", "null", '{"serverContent": 3}', "\ud83d\ude00" * 10)


def test_frames_that_cannot_be_read_are_reported_and_passed_over() -> None:
    with FakeLiveServer(sends(*GARBAGE[:3])) as server:
        ended = talk(server.url)
    assert ended.code == 0, ended
    assert ended.out.count("cannot be read") == 3
    assert "model: Still here." in ended.out
    assert ended.control == []


def test_a_server_that_sends_nothing_but_garbage_is_given_up() -> None:
    with FakeLiveServer(sends(*GARBAGE * 20)) as server:
        ended = talk(server.url)
    assert ended.code == EXIT_CODES["links"]
    assert ended.sentence
    assert "Traceback" not in ended.err
    assert ended.control == []


def test_a_frame_above_the_limit_ends_the_call_with_a_sentence() -> None:
    with FakeLiveServer(sends('{"x": "' + "y" * MAX_MESSAGE_BYTES + '"}')) as server:
        _failed(talk(server.url), "The server sent a message above 16 MiB", "so this side closed")


def audio(pcm: bytes, mime_type: str = "audio/pcm;rate=24000") -> str:
    data = base64.b64encode(pcm).decode()
    part = {"inlineData": {"mimeType": mime_type, "data": data}}
    return json.dumps({"serverContent": {"modelTurn": {"parts": [part]}}})


@pytest.mark.parametrize(
    "frame",
    [
        audio(b"\x00\x01\x02"),
        audio(b""),
        audio(b"\x00\x01", "audio/pcm;rate=0"),
        audio(b"\x00\x01", "audio/pcm;rate=99999999999"),
        audio(b"\x00\x01\x02", "image/png"),
        audio(b"\x00\x01").replace("AAE=", "\u001b]0;x"),
    ],
    ids=["an odd number of bytes", "no bytes", "no rate", "an impossible rate", "a picture", "no base64"],
)
def test_odd_sound_does_not_end_the_call(frame: str) -> None:
    with FakeLiveServer(sends(frame)) as server:
        ended = talk(server.url)
    assert ended.code == 0, ended
    assert "model: Still here." in ended.out
    assert "Traceback" not in ended.out + ended.err


def test_a_server_that_never_answers_the_setup_runs_into_the_timeout() -> None:
    async def silent(socket: ServerConnection) -> None:
        await socket.wait_closed()

    with FakeLiveServer(silent) as server:
        ended = run("talk", "--backend", server.url, "--text", "x", "--record", "off", "--timeout", "0.4")
    _failed(ended, "did not end within 0.4 s", "--timeout")


def test_a_server_that_breaks_off_without_a_word_is_a_broken_connection() -> None:
    async def vanish(socket: ServerConnection) -> None:
        await accept_setup(socket)
        socket.transport.abort()
        await asyncio.sleep(0)

    with FakeLiveServer(vanish) as server:
        _failed(talk(server.url), "The connection broke", "Check the network")


def test_a_model_that_the_embedded_server_does_not_have_is_named() -> None:
    arguments = ("talk", "--backend", "local", "--model", "local-nope", "--text", "x", "--record", "off", "--fast")
    _failed(run(*arguments), "local-nope", "Check the model's name")


def test_a_conversation_that_goes_well_ends_with_0_and_nothing_on_standard_error() -> None:
    with FakeLiveServer(answers(says("Good "), says("day."))) as server:
        ended = talk(server.url, "--text", "again")
    assert (ended.code, ended.err) == (0, "")
    lines = [line for line in ended.out.splitlines() if line.startswith(("user:", "model:"))]
    assert lines == ["user: hello", "model: Good day.", "user: again", "model: Good day."]


def test_json_output_is_json_lines_and_nothing_else() -> None:
    with FakeLiveServer(closes(1011, "", setup=True)) as server:
        ended = talk(server.url, "--json")
    types = [json.loads(line)["type"] for line in ended.out.splitlines()]
    assert types[0] == "session.started"
    assert types[-1] == "session.ended"
    assert ended.code == EXIT_CODES["links"]
    assert ended.sentence


def test_an_output_that_falls_behind_prints_every_event_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_outbox, "MAX_OUTBOX_LINES", 5)
    with FakeLiveServer(answers(*[says(f"Word {number}. ") for number in range(40)])) as server:
        ended = run("talk", "--backend", server.url, "--text", "hello", "--record", "text", "--json")
    seqs = [json.loads(line)["seq"] for line in ended.out.splitlines()]
    assert seqs == list(range(1, len(seqs) + 1))
    assert json.loads(ended.out.splitlines()[-1])["type"] == "session.ended"
    assert (ended.code, ended.err) == (0, "")


def test_lines_of_standard_input_are_sent_one_by_one_until_its_end() -> None:
    with FakeLiveServer() as server:
        ended = run("talk", "--backend", server.url, "--record", "off", stdin="one\n\ntwo\n")
    assert ended.code == 0
    assert [line for line in ended.out.splitlines() if line.startswith("user:")] == ["user: one", "user: two"]


def test_a_line_of_a_file_waits_for_the_answer_to_the_one_before() -> None:
    ended = run("talk", "restaurant", "--backend", "local", "--fast", stdin="two pasta please\nand a coffee\n")
    said = [line for line in ended.out.splitlines() if line.startswith(("user:", "model:"))]
    first, second = said.index("user: two pasta please"), said.index("user: and a coffee")
    assert any("2 pasta, 22 dollars" in line for line in said[first:second]), said
    assert any("1 coffee, 25 dollars" in line for line in said[second:]), said


def test_an_empty_standard_input_ends_the_conversation_without_an_answer() -> None:
    with FakeLiveServer() as server:
        ended = run("talk", "--backend", server.url, "--record", "off")
    assert ended.code == EXIT_CODES["output"]
    assert "the model said nothing" in ended.sentence


def costs(tokens: int) -> Behaviour:
    details = [{"modality": "AUDIO", "tokenCount": tokens}]
    usage = {"promptTokenCount": 0, "responseTokenCount": tokens, "responseTokensDetails": details}
    return answers(says("Dear."), {"usageMetadata": usage})


def test_cost_warns_at_80_percent_and_then_hangs_up() -> None:
    # A million audio tokens of gemini-3.8-live cost 12 dollars: each answer here costs 0.6 cents.
    with FakeLiveServer(costs(500)) as server:
        ended = talk(server.url, *("--text", "again") * 3, "--max-cost", "0.012", "--model", "gemini-3.8-live")
    assert ended.code == 1
    assert ended.sentence == "2 of the texts were not sent: the cost limit was reached."
    assert "The session is over" not in ended.out
    assert "The cost limit is reached: hanging up ($0.01 of $0.01)." in ended.out
    with FakeLiveServer(costs(500)) as server:
        ended = talk(server.url, "--text", "again", "--max-cost", "0.014", "--model", "gemini-3.8-live")
    assert ended.code == 0
    assert ended.out.count("The cost limit is near") == 1


def test_a_cost_limit_on_a_model_without_a_price_is_not_taken_silently() -> None:
    with FakeLiveServer(costs(500)) as server:
        ended = talk(server.url, "--max-cost", "0.012", "--model", "somebody-elses")
    assert "somebody-elses" in ended.out + ended.err
    assert "price" in ended.out + ended.err


@pytest.mark.parametrize(("turns", "by_client"), [("auto", False), ("server", False), ("client", True)])
def test_the_server_is_told_who_detects_turns(turns: str, by_client: bool) -> None:
    setups = []

    async def note_setup(socket: ServerConnection) -> None:
        setups.append(await accept_setup(socket))
        await socket.close()

    with FakeLiveServer(note_setup) as server:
        talk(server.url, "--turns", turns)
    detection = setups[0]["setup"].get("realtimeInputConfig", {}).get("automaticActivityDetection", {})
    assert detection.get("disabled", False) is by_client
