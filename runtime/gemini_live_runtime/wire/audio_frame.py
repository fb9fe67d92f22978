"""The hot paths: one microphone chunk out, one piece of model speech in, without building messages.

Both are exact: what they write is what the codec would write, and what they read is what the codec would read.

Reading splices. A frame of model speech is a long base64 string between a head and a tail that hardly ever change. The
first such frame takes the full parse and teaches a form: the head and the tail are put around a sentinel, and only when
the codec then reads exactly one piece of speech whose data is the sentinel is the form kept. A later frame with that
head and tail whose middle is strict base64 means the same, because base64 holds no quote and no backslash that could
change the structure around it. Everything else takes the full parse.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire import b64
from gemini_live_runtime.wire.codec import MODEL_PCM_RATE
from gemini_live_runtime.wire.codec import decode_server as decode_fully
from gemini_live_runtime.wire.messages import AudioFrame, ServerMessage
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES

CHUNK_RATE = 16_000
"""Hz of the microphone chunks written here."""

MAX_FORMS = 8
"""Forms remembered by a decoder, newest first; a server uses one or two. The oldest makes room."""

MAX_LESSONS = 1_000
"""Frames a decoder may try to learn from: bounds the work caused by a server that never repeats itself."""

MAX_AROUND = 4_096
"""Bytes of head and tail of the longest form remembered."""

MAX_SPLICED = MAX_MESSAGE_BYTES // 2
"""Bytes of speech up to which a frame cannot be above the message limit, so nobody has to look."""

ChunkEncoder: TypeAlias = Callable[[bytes], str]
FrameDecoder: TypeAlias = Callable[[str | bytes], ServerMessage | AudioFrame]


class Form(NamedTuple):
    """What stands around the base64 of a frame of model speech, and what the frame then means."""

    head: bytes
    tail: bytes
    start: int
    stop: int
    """Where the base64 begins and ends in a frame; `stop` counts from the end."""
    rate: int
    mime_type: str


def make_encoder(head: str, tail: str, encode_base64: Callable[[bytes], str]) -> ChunkEncoder:
    """A function from s16le mono PCM to a frame; it raises `ProtocolError` for an odd number of bytes."""

    def encode(pcm: bytes) -> str:
        if len(pcm) & 1:
            raise ProtocolError(
                f"A chunk of {len(pcm)} bytes of 16-bit PCM is an odd number", field="pcm", value=len(pcm)
            )
        return f"{head}{encode_base64(pcm)}{tail}"

    return encode


def make_chunk_encoder(encode_base64: Callable[[bytes], str] = b64.encode) -> ChunkEncoder:
    """The encoder of microphone chunks over a given base64 function."""
    return make_encoder(
        f'{{"realtimeInput":{{"audio":{{"mimeType":"audio/pcm;rate={CHUNK_RATE}","data":"', '"}}}', encode_base64
    )


encode_audio_chunk: ChunkEncoder = make_chunk_encoder()
"""One `realtimeInput.audio` frame from 16 kHz s16le mono PCM; raises `ProtocolError` for an odd number of bytes."""

_MODEL_MIME_TYPE = f"audio/pcm;rate={MODEL_PCM_RATE}"
_MODEL_HEAD = (
    '{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":'
    f'{{"mimeType":"{_MODEL_MIME_TYPE}","data":"'
)
_MODEL_TAIL = '"}}]}}}'

encode_model_audio: ChunkEncoder = make_encoder(_MODEL_HEAD, _MODEL_TAIL, b64.encode)
"""One server frame of model speech from 24 kHz s16le mono PCM; raises `ProtocolError` for an odd number of bytes."""


def make_decoder(decode_base64: Callable[[bytes, None, bool], bytes] = b64.validated) -> FrameDecoder:
    """A decoder of server frames with its own forms, over a given strict base64 function."""
    forms = [OWN_FORM]
    # The form in use lies in plain variables: unpacking it for every frame would be a tenth of the cost.
    head, tail, start, stop, rate, mime_type = OWN_FORM
    lessons = MAX_LESSONS
    new = tuple.__new__

    def decode(frame: str | bytes) -> ServerMessage | AudioFrame:
        if type(frame) is bytes and frame.startswith(head) and frame.endswith(tail):
            try:
                data = decode_base64(frame[start:stop], None, True)
            except ValueError:
                return decode_fully(frame)
            # Nothing between head and tail may mean that they overlap.
            size = len(data)
            if size & 1 or not 0 < size <= MAX_SPLICED:
                return decode_fully(frame)
            # The class's own constructor is a Python call; this is the same without it.
            return new(AudioFrame, (data, rate, mime_type))
        return decode_otherwise(frame)

    def decode_otherwise(frame: str | bytes) -> ServerMessage | AudioFrame:
        nonlocal lessons
        if isinstance(frame, str):
            try:
                return decode(frame.encode())
            except UnicodeEncodeError:
                return decode_fully(frame)
        for form in forms:
            if frame.startswith(form.head) and frame.endswith(form.tail) and (form.head, form.tail) != (head, tail):
                use(form)
                return decode(frame)
        result = decode_fully(frame)
        if lessons and isinstance(result, AudioFrame):
            lessons -= 1
            form_of_frame = learn(frame)
            if form_of_frame is not None and form_of_frame not in forms:
                forms.insert(0, form_of_frame)
                del forms[MAX_FORMS:]
                use(form_of_frame)
        return result

    def use(form: Form) -> None:
        nonlocal head, tail, start, stop, rate, mime_type
        head, tail, start, stop, rate, mime_type = form

    return decode


def learn(frame: bytes) -> Form | None:
    """The form of `frame`, when any base64 in place of its first `data` makes it an `AudioFrame` of that data."""
    key = frame.find(b'"data"')
    start = frame.find(b'"', key + 6) + 1
    end = frame.find(b'"', start)
    if key < 0 or start == 0 or end < 0:
        return None
    head, tail = frame[:start], frame[end:]
    sentinel = secrets.token_bytes(48)
    try:
        result = decode_fully(head + b64.encode(sentinel).encode("ascii") + tail)
    except ProtocolError:
        return None
    if not isinstance(result, AudioFrame) or result.data != sentinel or len(head) + len(tail) > MAX_AROUND:
        return None
    return Form(head, tail, len(head), -len(tail), result.rate, result.mime_type)


OWN_FORM = Form(
    _MODEL_HEAD.encode(), _MODEL_TAIL.encode(), len(_MODEL_HEAD), -len(_MODEL_TAIL), MODEL_PCM_RATE, _MODEL_MIME_TYPE
)
"""The form of `encode_model_audio`, known to every decoder from the start."""

decode_server: FrameDecoder = make_decoder()
"""The server message in a frame, or an `AudioFrame`; raises `ProtocolError` or `FrameTooLargeError`."""
