"""Encode microphone chunks and decode model speech without building messages.

These are the hot paths, one frame for each 20 to 40 ms of sound. They are exact: the encoder writes what the codec
would write, and the decoder returns what the codec would return.

The decoder matches templates. A frame of model speech is a long base64 string between a head and a tail that hardly
ever change. The first such frame is parsed by the codec. Then its head and tail are put around a random sentinel; when
the codec reads that as one piece of speech whose data is the sentinel, head and tail become a template. A later frame
with the same head and tail and strict base64 between them has the same meaning, because base64 has no quote and no
backslash that could change the structure around it. All other frames are parsed by the codec.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire import b64
from gemini_live_runtime.wire.codec import MODEL_PCM_RATE
from gemini_live_runtime.wire.codec import decode_server as decode_with_codec
from gemini_live_runtime.wire.messages import AudioFrame, ServerMessage
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES

CHUNK_RATE = 16_000
"""Sample rate of microphone chunks, in Hz."""

MAX_TEMPLATES = 8
"""Templates of a decoder, newest first; a server uses one or two. A new one displaces the oldest."""

MAX_TEMPLATE_ATTEMPTS = 1_000
"""Frames from which a decoder may derive a template; bounds the work for a server that never repeats itself."""

MAX_TEMPLATE_BYTES = 4_096
"""Bytes of the longest head and tail of a template."""

MAX_FAST_BYTES = MAX_MESSAGE_BYTES // 2
"""Bytes of speech up to which a frame is below the message limit, without measuring it."""

ChunkEncoder: TypeAlias = Callable[[bytes], str]
FrameDecoder: TypeAlias = Callable[[str | bytes], ServerMessage | AudioFrame]


class FrameTemplate(NamedTuple):
    """Head and tail around the base64 of a frame of model speech, and its format."""

    head: bytes
    tail: bytes
    start: int
    stop: int
    """Start and end of the base64 in a frame; `stop` counts from the end."""
    rate: int
    mime_type: str


def make_encoder(head: str, tail: str, encode_base64: Callable[[bytes], str]) -> ChunkEncoder:
    """Return a function from s16le mono PCM to a frame with `head` and `tail`.

    The function raises `ProtocolError` for an odd number of bytes.
    """

    def encode(pcm: bytes) -> str:
        if len(pcm) & 1:
            raise ProtocolError(
                f"A chunk of 16-bit PCM has {len(pcm)} bytes, an odd number", field="pcm", value=len(pcm)
            )
        return f"{head}{encode_base64(pcm)}{tail}"

    return encode


def make_chunk_encoder(encode_base64: Callable[[bytes], str] = b64.encode) -> ChunkEncoder:
    """Return the encoder of microphone chunks that uses a base64 function."""
    return make_encoder(
        f'{{"realtimeInput":{{"audio":{{"mimeType":"audio/pcm;rate={CHUNK_RATE}","data":"', '"}}}', encode_base64
    )


encode_audio_chunk: ChunkEncoder = make_chunk_encoder()
"""Encoder of a `realtimeInput.audio` frame from 16 kHz s16le mono PCM; raises `ProtocolError` for odd bytes."""

_MODEL_MIME_TYPE = f"audio/pcm;rate={MODEL_PCM_RATE}"
_MODEL_HEAD = (
    '{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":'
    f'{{"mimeType":"{_MODEL_MIME_TYPE}","data":"'
)
_MODEL_TAIL = '"}}]}}}'

encode_model_audio: ChunkEncoder = make_encoder(_MODEL_HEAD, _MODEL_TAIL, b64.encode)
"""Encoder of a server frame of model speech from 24 kHz s16le mono PCM; raises `ProtocolError` for odd bytes."""


def make_decoder(decode_base64: Callable[[bytes, None, bool], bytes] = b64.decode_strict) -> FrameDecoder:
    """Return a decoder of server frames that uses a strict base64 function.

    Each decoder has its own templates.
    """
    templates = [MODEL_AUDIO_TEMPLATE]
    # The template in use is kept in closure variables: unpacking it for every frame would be a tenth of the cost.
    head, tail, start, stop, rate, mime_type = MODEL_AUDIO_TEMPLATE
    attempts = MAX_TEMPLATE_ATTEMPTS
    new = tuple.__new__

    def decode(frame: str | bytes) -> ServerMessage | AudioFrame:
        if type(frame) is bytes and frame.startswith(head) and frame.endswith(tail):
            try:
                data = decode_base64(frame[start:stop], None, True)
            except ValueError:
                return decode_with_codec(frame)
            # Head and tail of a short frame may overlap, which leaves no data. Odd PCM is an error of the codec.
            size = len(data)
            if size & 1 or not 0 < size <= MAX_FAST_BYTES:
                return decode_with_codec(frame)
            # Same as AudioFrame(...), without the call of its constructor in Python.
            return new(AudioFrame, (data, rate, mime_type))
        return decode_slow(frame)

    def decode_slow(frame: str | bytes) -> ServerMessage | AudioFrame:
        nonlocal attempts
        if isinstance(frame, str):
            try:
                return decode(frame.encode())
            except UnicodeEncodeError:
                return decode_with_codec(frame)
        for template in templates:
            known = (template.head, template.tail)
            # The template in use did not match in `decode`, which would call back here for ever.
            if frame.startswith(known[0]) and frame.endswith(known[1]) and known != (head, tail):
                use(template)
                return decode(frame)
        result = decode_with_codec(frame)
        if attempts and isinstance(result, AudioFrame):
            attempts -= 1
            found = template_of(frame)
            if found is not None and found not in templates:
                templates.insert(0, found)
                del templates[MAX_TEMPLATES:]
                use(found)
        return result

    def use(template: FrameTemplate) -> None:
        nonlocal head, tail, start, stop, rate, mime_type
        head, tail, start, stop, rate, mime_type = template

    return decode


def template_of(frame: bytes) -> FrameTemplate | None:
    """Return the template of a frame, or None.

    None when the frame is more than one piece of speech whose base64 is its first `data`.
    """
    key = frame.find(b'"data"')
    start = frame.find(b'"', key + 6) + 1
    end = frame.find(b'"', start)
    if key < 0 or start == 0 or end < 0:
        return None
    head, tail = frame[:start], frame[end:]
    sentinel = secrets.token_bytes(48)
    try:
        result = decode_with_codec(head + b64.encode(sentinel).encode("ascii") + tail)
    except ProtocolError:
        return None
    if not isinstance(result, AudioFrame) or result.data != sentinel or len(head) + len(tail) > MAX_TEMPLATE_BYTES:
        return None
    return FrameTemplate(head, tail, len(head), -len(tail), result.rate, result.mime_type)


MODEL_AUDIO_TEMPLATE = FrameTemplate(
    _MODEL_HEAD.encode(), _MODEL_TAIL.encode(), len(_MODEL_HEAD), -len(_MODEL_TAIL), MODEL_PCM_RATE, _MODEL_MIME_TYPE
)
"""Template of `encode_model_audio`, with which every decoder starts."""

decode_server: FrameDecoder = make_decoder()
"""Decoder of a frame into a server message or an `AudioFrame`; raises `ProtocolError`."""
