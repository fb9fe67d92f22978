"""Cost estimates from a dated price table. An estimate, never a bill: prices change and the server rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PRICES_AS_OF = "2026-11"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    text_in: float
    audio_in: float
    text_out: float
    audio_out: float


PRICES: Mapping[str, Price] = {
    # Published text prices; audio prices follow from $0.005 and $0.018 a minute at 25 tokens a second.
    "gemini-3.8-live": Price(text_in=0.75, audio_in=3.00, text_out=4.50, audio_out=12.00),
    "gemini-3.1-flash-live": Price(text_in=0.75, audio_in=3.00, text_out=4.50, audio_out=12.00),
    "local-": Price(0.0, 0.0, 0.0, 0.0),
}
"""By model name prefix; the longest prefix wins."""


def price_of(model: str, prices: Mapping[str, Price] = PRICES) -> Price | None:
    """The price of `model` (with or without `models/` or a Vertex path), or None when it is unknown."""
    name = model.rsplit("/", 1)[-1]
    matches = [prefix for prefix in prices if name.startswith(prefix)]
    return prices[max(matches, key=len)] if matches else None


def cost_of(price: Price, prompt: Mapping[str, int], response: Mapping[str, int]) -> float:
    """US dollars for token counts by modality; modalities other than AUDIO count as text on both sides."""
    dollars = 0.0
    for modality, tokens in prompt.items():
        dollars += tokens * (price.audio_in if modality == "AUDIO" else price.text_in)
    for modality, tokens in response.items():
        dollars += tokens * (price.audio_out if modality == "AUDIO" else price.text_out)
    return dollars / 1e6
