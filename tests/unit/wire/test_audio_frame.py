"""The hot paths encode and decode exactly as the codec does."""

from __future__ import annotations

import base64
import inspect
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.wire.frames import encode_client, realtime_audio

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire import b64, codec
from gemini_live_runtime.wire.audio_frame import (
    MAX_TEMPLATE_ATTEMPTS,
    MAX_TEMPLATES,
    MODEL_AUDIO_TEMPLATE,
    FrameTemplate,
    encode_audio_chunk,
    encode_model_audio,
    make_chunk_encoder,
    make_decoder,
    template_of,
)
from gemini_live_runtime.wire.messages import AudioFrame, ServerMessage

PCM = bytes(random.Random(1).randbytes(1920))
SPAN = base64.b64encode(PCM).decode()


def frame(span: str = SPAN, **blob: Any) -> dict[str, Any]:
    inline = {"mimeType": "audio/pcm;rate=24000", "data": span, **blob}
    return {"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": inline}]}}}


def outcome(decode: Any, text: str | bytes) -> Any:
    """Return a decoded frame to compare; a message with its problems and raw JSON."""
    try:
        message = decode(text)
    except ProtocolError as error:
        return type(error), str(error)
    if isinstance(message, ServerMessage):
        return message, message.problems, message.raw
    return message, message.rate, message.mime_type


def speech(inside: str, beside: str = "", before: str = "") -> str:
    """Return a frame with `inside` in its inline data, where `SPAN` is the base64."""
    text = '{BEFORE"serverContent":{"modelTurn":{"parts":[{"inlineData":{INSIDE}}]}BESIDE}}'
    return text.replace("BEFORE", before).replace("INSIDE", inside).replace("BESIDE", beside).replace("SPAN", SPAN)


# Frames with `"data"` in other places than the speech.
TRAPS = [
    json.dumps(frame(), indent=2),
    json.dumps(frame(), separators=(",", ":")),
    json.dumps(frame()).replace("/", "\\/"),
    json.dumps(frame(), indent=2).replace('"data": ', '"data"\t:\n '),
    json.dumps({"serverContent": {"modelTurn": {"parts": [{"text": "data", "inlineData": {"data": SPAN}}]}}}),
    json.dumps({"serverContent": {"modelTurn": {"parts": [{"text": '"data":"AAAA"'}]}}}),
    json.dumps({"serverContent": {"modelTurn": {"parts": [{"functionCall": {"args": {"data": SPAN}}}]}}}),
    json.dumps({"toolCall": {"functionCalls": [{"id": "1", "name": "f", "args": {"data": SPAN}}]}}),
    speech('"data":"AAAA","mimeType":"audio/pcm","data":"SPAN"'),
    speech('"data":"SPAN","mimeType":"audio/pcm","data":"AAA="'),
    speech('"data":"SPAN"},"inlineData":{"mimeType":"audio/pcm"'),
    speech('"data":"SPAN","mimeType":"audio/pcm;rate=16000"'),
    speech('"data":"SPAN","mimeType":"audio/mp3"'),
    speech('"data":"SPAN","mimeType":"audio/pcm","displayName":"x"'),
    speech('"data":"SPAN","mimeType":"audio/pcm"').replace("serverContent", "server_content"),
    speech('"data":"SPAN","mimeType":"audio/pcm"', ',"turnComplete":true'),
    speech('"data":"SPAN","mimeType":"audio/pcm"}},{"text":"x","executableCode":{"code":"y"'),
    speech('"mimeType":"audio/pcm"', ',"x":{"data":"SPAN"}'),
    speech('"data":"SPAN","mimeType":"audio/pcm"', before='"usageMetadata":{"totalTokenCount":5},'),
    json.dumps(frame("")),
    json.dumps(frame("AAAA")),
    json.dumps(frame("AA")),
    json.dumps(frame("-_-_")),
    json.dumps(frame(SPAN[:-4] + "*AA=")),
    json.dumps(frame(SPAN, mimeType="audio/pcm;rate=ä")),
]
PIECES = [
    *'"\\{}:,[]= \n\x00ä',
    "\\u0041",
    "AAAA",
    "-_",
    "null",
    '"data"',
    '"data":"',
    '"text":"data"',
    '\\"data\\":\\"',
]


def mutate(text: str, random_: random.Random) -> str:
    """Make one to three small changes, mostly outside the long base64."""
    for _ in range(random_.randint(1, 3)):
        edge = random_.choice([0, len(text)])
        at = min(max(edge + random_.randint(-160, 160), 0), len(text))
        if random_.random() < 0.15:
            at = random_.randint(0, len(text))
        choice = random_.random()
        if choice < 0.35:
            text = text[:at] + random_.choice(PIECES) + text[at:]
        elif choice < 0.6:
            text = text[:at] + text[at + random_.randint(1, 12) :]
        elif choice < 0.8:
            text = text[:at] + random_.choice(PIECES) + text[at + 1 :]
        else:
            other = random_.randint(0, len(text))
            length = random_.randint(1, 80)
            text = text[:at] + text[other : other + length] + text[at:]
    return text


def templates_of(decode: Any) -> list[FrameTemplate]:
    """Return the templates of a decoder, from the closure of its slow path."""
    slow = inspect.getclosurevars(decode).nonlocals["decode_slow"]
    return inspect.getclosurevars(slow).nonlocals["templates"]


class TestReading:
    @pytest.mark.parametrize("text", TRAPS)
    @pytest.mark.parametrize("as_bytes", [True, False])
    def test_a_tricky_frame_decodes_the_same_with_and_without_templates(self, text: str, as_bytes: bool) -> None:
        decode = make_decoder()
        given_frame = text.encode() if as_bytes else text
        expected = outcome(codec.decode_server, given_frame)
        for _ in range(3):
            assert outcome(decode, given_frame) == expected

    def test_thirty_thousand_mutated_frames_decode_the_same_with_and_without_templates(self) -> None:
        random_ = random.Random(20_261_120)
        decode = make_decoder()
        kinds: dict[str, int] = {}
        for number in range(30_000):
            base = random_.choice(TRAPS)
            if number % 500 == 0:
                decode = make_decoder()
            if number % 5 == 0:
                decode(random_.choice(TRAPS[:2]))
            text: str | bytes = base if number % 4 == 0 else mutate(base, random_)
            if number % 2:
                text = text.encode("utf-8", "surrogatepass")
            expected = outcome(codec.decode_server, text)
            assert outcome(decode, text) == expected, text
            name = expected[0].__name__ if isinstance(expected[0], type) else type(expected[0]).__name__
            kinds[name] = kinds.get(name, 0) + 1
        assert set(kinds) == {"AudioFrame", "ServerMessage", "ProtocolError"}
        assert min(kinds.values()) > 1_500

    @given(st.binary(min_size=1, max_size=60).map(lambda data: data * 2), st.sampled_from([None, 2]))
    def test_speech_of_a_known_form_is_read_without_the_codec(self, data: bytes, indent: int | None) -> None:
        decode = make_decoder()
        decode(json.dumps(frame(), indent=indent))
        text = json.dumps(frame(base64.b64encode(data).decode()), indent=indent)
        template = template_of(text.encode())
        assert template is not None
        assert text.encode()[template.start : template.stop].decode() == base64.b64encode(data).decode()
        assert decode(text) == decode(text.encode()) == AudioFrame(data, 24_000, "audio/pcm;rate=24000")

    def test_head_and_tail_that_overlap_are_no_frame_of_the_form(self) -> None:
        decode = make_decoder()
        whole = speech('"mimeType":"audio/pcm","data":"SPAN"')
        decode(whole)
        text = whole.replace(SPAN + '"', "")
        assert outcome(decode, text) == outcome(codec.decode_server, text)

    def test_forms_that_take_turns_are_all_remembered(self) -> None:
        decode = make_decoder()
        texts = [json.dumps(frame(), indent=indent) for indent in (None, 1, 2)]
        for text in texts:
            decode(text)
        templates = list(templates_of(decode))
        for text in texts * 2:
            assert decode(text) == AudioFrame(PCM, 24_000, "audio/pcm;rate=24000")
        assert templates_of(decode) == templates

    def test_the_form_of_our_own_server_is_known_from_the_start(self) -> None:
        assert template_of(encode_model_audio(PCM).encode()) == MODEL_AUDIO_TEMPLATE

    def test_the_plain_library_reads_the_same(self) -> None:
        decode = make_decoder(b64.stdlib_decode_strict)
        for text in TRAPS:
            assert outcome(decode, text) == outcome(codec.decode_server, text)

    def test_the_number_of_templates_is_bounded(self) -> None:
        decode = make_decoder()
        templates = templates_of(decode)
        for number in range(MAX_TEMPLATE_ATTEMPTS + 50):
            decode(json.dumps(frame()).replace('"role"', " " * number + '"role"'))
        assert len(templates) == MAX_TEMPLATES
        before = list(templates)
        decode(json.dumps(frame()).replace('"role"', "\t" + '"role"'))
        assert templates == before

    def test_a_form_longer_than_four_kibibytes_is_not_remembered(self) -> None:
        assert template_of((" " * 5_000 + json.dumps(frame())).encode()) is None


class TestWriting:
    @given(st.binary(max_size=50).map(lambda data: data * 2))
    def test_a_microphone_chunk_is_encoded_as_by_the_codec(self, pcm: bytes) -> None:
        expected = encode_client(realtime_audio(pcm))
        assert encode_audio_chunk(pcm) == expected
        assert make_chunk_encoder(b64.stdlib_encode)(pcm) == expected

    @given(st.binary(max_size=50).map(lambda data: data * 2))
    def test_model_speech_is_encoded_as_by_the_codec(self, pcm: bytes) -> None:
        written = encode_model_audio(pcm)
        assert written == codec.encode_server(codec.audio_message(pcm, "audio/pcm;rate=24000"))
        assert make_decoder()(written) == AudioFrame(pcm, 24_000, "audio/pcm;rate=24000")

    @pytest.mark.parametrize("encode", [encode_audio_chunk, encode_model_audio])
    def test_an_odd_number_of_bytes_is_refused(self, encode: Any) -> None:
        with pytest.raises(ProtocolError, match="16-bit PCM has 3 bytes, an odd number"):
            encode(b"abc")
