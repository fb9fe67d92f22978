"""Frames and messages of a client, for tests of the wire."""

from __future__ import annotations

from gemini_live_runtime.wire.codec import client_to_json
from gemini_live_runtime.wire.json_frame import dump_object
from gemini_live_runtime.wire.messages import Blob, ClientMessage, RealtimeInput


def encode_client(message: ClientMessage) -> str:
    """Return the frame of a client message, as a connection writes it."""
    return dump_object(client_to_json(message))


def realtime_audio(pcm: bytes) -> ClientMessage:
    """Return 16 kHz s16le mono PCM as streamed input."""
    return ClientMessage(realtime_input=RealtimeInput(audio=Blob(mime_type="audio/pcm;rate=16000", data=pcm)))
