"""Record traffic as events and tracks: complete, once, without secrets."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.support.canaries import PROVIDERS_KEYS

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.events import Payload, Side, WireAudio, WireMessage
from gemini_live_runtime.journal.recording.wire_recorder import WireRecorder
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.codec import client_to_json, decode_server_message
from gemini_live_runtime.wire.json_frame import dump_object
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage

SPEECH = "audio/pcm;rate=24000"


class Kept:
    def __init__(self) -> None:
        self.events: list[Payload] = []
        self.tracks: dict[str, bytes] = {"user": b"", "model": b""}
        self.pieces = 0
        self.now = 0.0
        self.recorder = WireRecorder(self.events.append, self, lambda: self.now)

    def audio(self, track: Side, pcm: bytes) -> None:
        self.tracks[track] += pcm
        self.pieces += 1

    def receives(self, **fields: Any) -> None:
        frame = dump_object(fields)
        self.recorder.on_received(decode_server_message(frame), len(frame))

    @property
    def messages(self) -> list[WireMessage]:
        return [event for event in self.events if isinstance(event, WireMessage)]

    @property
    def spans(self) -> list[WireAudio]:
        return [event for event in self.events if isinstance(event, WireAudio)]


def test_a_secret_as_the_name_of_a_message_is_in_no_field() -> None:
    kept = Kept()
    kept.receives(**{PROVIDERS_KEYS[1]: {"x": 1}, "serverContent": {"turnComplete": True}})
    assert PROVIDERS_KEYS[1] not in repr(kept.messages)
    assert kept.messages[0].kinds == ("[redacted]", "serverContent")


def test_a_run_of_chunks_is_one_event_a_second() -> None:
    kept = Kept()
    for _ in range(125):
        kept.recorder.on_audio_sent(bytes(640), 900)
    kept.recorder.flush()
    assert [(span.first, span.count, span.frames) for span in kept.spans] == [
        (0, 16_000, ((320, 50),)),
        (16_000, 16_000, ((320, 50),)),
        (32_000, 8_000, ((320, 25),)),
    ]


def test_a_run_of_chunks_reaches_the_track_in_one_piece_a_second() -> None:
    kept = Kept()
    for number in range(99):
        kept.recorder.on_audio_sent(bytes([number]) * 640, 900)
    assert (kept.pieces, len(kept.spans)) == (1, 1)
    kept.recorder.flush()
    assert kept.pieces == 2
    assert kept.tracks["user"] == b"".join(bytes([number]) * 640 for number in range(99))


def test_an_event_of_the_microphones_sound_says_how_long_ago_its_last_sample_was_captured() -> None:
    kept = Kept()
    kept.recorder.on_audio_sent(bytes(640), 900, 9.9)
    kept.recorder.on_audio_sent(bytes(640), 900, 9.97)
    kept.now = 10.0
    kept.recorder.flush()
    kept.recorder.on_audio_sent(bytes(640), 900, None)
    kept.recorder.flush()
    assert [span.late_ms for span in kept.spans] == [30.0, 0.0]


def test_a_message_keeps_its_place_among_the_audio() -> None:
    kept = Kept()
    kept.recorder.on_audio_sent(bytes(640), 900)
    kept.recorder.on_sent(compose.audio_stream_end(), client_to_json(compose.audio_stream_end()), 50)
    kept.recorder.on_audio_sent(bytes(640), 900)
    kept.recorder.flush()
    assert [event.type for event in kept.events] == ["wire.audio", "wire.message", "wire.audio"]


def test_audio_beside_other_things_goes_to_the_track_and_leaves_its_address() -> None:
    kept = Kept()
    pcm = b"\x01\x00" * 480
    kept.recorder.on_audio_received(AudioFrame(pcm, 24_000, SPEECH), 900)
    part = {"inlineData": {"mimeType": SPEECH, "data": base64.b64encode(pcm).decode()}}
    kept.receives(serverContent={"modelTurn": {"parts": [part]}, "outputTranscription": {"text": "hi"}})
    content = kept.messages[0].frame["serverContent"]
    address = {"$audio": {"track": "model", "first": 480, "count": 480}}
    assert content["modelTurn"]["parts"][0]["inlineData"] == {"mimeType": SPEECH, "data": address}
    assert content["outputTranscription"] == {"text": "hi"}
    assert kept.tracks["model"] == pcm + pcm


def test_speech_at_another_rate_is_kept_as_it_travelled() -> None:
    kept = Kept()
    kept.recorder.on_audio_received(AudioFrame(b"\x01\x00", 48_000, "audio/pcm;rate=48000"), 90)
    blob = kept.messages[0].frame["serverContent"]["modelTurn"]["parts"][0]["inlineData"]
    assert base64.b64decode(blob["data"]) == b"\x01\x00"
    assert kept.tracks["model"] == b""


def test_handles_and_keys_are_not_kept() -> None:
    kept = Kept()
    kept.receives(sessionResumptionUpdate={"newHandle": "h-secret", "resumable": True})
    setup = ClientMessage(setup=compose.build_setup("models/m", instruction="key AIzaSyA1234567890abcdefghijk"))
    kept.recorder.on_sent(setup, client_to_json(setup), 10)
    assert "h-secret" not in repr(kept.events)
    assert "AIzaSyA1234567890" not in repr(kept.events)


def test_an_unreadable_frame_leaves_a_trace() -> None:
    kept = Kept()
    kept.recorder.on_unreadable(ProtocolError("The frame is not JSON"), 9)
    assert (kept.messages[0].size, kept.messages[0].problems) == (9, ("The frame is not JSON",))


@given(st.lists(st.tuples(st.sampled_from(["chunk", "speech", "message"]), st.integers(1, 4000)), max_size=60))
def test_spans_cover_both_tracks_without_gap_or_overlap(traffic: list[tuple[str, int]]) -> None:
    kept = Kept()
    for kind, samples in traffic:
        if kind == "chunk":
            kept.recorder.on_audio_sent(bytes(samples * 2), 1)
        elif kind == "speech":
            kept.recorder.on_audio_received(AudioFrame(bytes(samples * 2), 24_000, SPEECH), 1)
        else:
            kept.receives(serverContent={"turnComplete": True})
    kept.recorder.flush()
    for track in ("user", "model"):
        spans = [span for span in kept.spans if span.track == track]
        position = 0
        for span in spans:
            assert span.first == position
            assert span.count == sum(size * times for size, times in span.frames)
            position += span.count
        assert position * 2 == len(kept.tracks[track])
