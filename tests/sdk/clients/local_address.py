"""Let the Google SDK within another client connect to ws://.

The client is unmodified but for this: the SDK always connects to wss:// with TLS, so the two methods that make the
address are replaced.
"""

from __future__ import annotations

import os
import wave

from google.genai._api_client import BaseApiClient

MODEL = "gemini-3.8-live"
WEATHER = {"temperature_c": 21, "conditions": "sunny"}
"""Result of the tool `get_weather`."""


def connect_to(url: str) -> None:
    """Let every client of this process connect to `url`, without a key."""
    os.environ["GOOGLE_API_KEY"] = "no-key-needed"
    BaseApiClient._websocket_base_url = lambda *_: url
    BaseApiClient._ensure_websocket_ssl_ctx = staticmethod(lambda *_, **__: {})


def utterance(path: str) -> bytes:
    """Return the samples of a WAV file at 16 kHz, and a second of silence after them."""
    with wave.open(path) as file:
        assert file.getframerate() == 16_000
        return file.readframes(file.getnframes()) + bytes(32_000)
