"""Prices: the table, what a config lays over it, and what it may not say."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.session.core.pricing import (
    PRICES,
    PRICES_AS_OF,
    Price,
    cost_of,
    price_of,
    price_table,
    prices_as_of,
)


def table(text: str) -> dict[str, Any]:
    return tomllib.loads(f"[prices]\n{text}")["prices"]


WHOLE = "text_in = 1\naudio_in = 2.5\ntext_out = 3\naudio_out = 0"


def test_the_longest_prefix_wins() -> None:
    prices = {"g": Price(1, 1, 1, 1), "g-live": Price(2, 2, 2, 2)}
    assert price_of("models/g-live-7", prices) == Price(2, 2, 2, 2)
    assert price_of("x", prices) is None


def test_audio_has_its_own_price() -> None:
    price = Price(text_in=1, audio_in=10, text_out=2, audio_out=20)
    assert cost_of(price, {"TEXT": 1_000_000, "AUDIO": 100_000}, {"AUDIO": 50_000, "THOUGHT": 500_000}) == 4.0


def test_without_a_section_the_defaults_stand() -> None:
    assert price_table({}) == PRICES
    assert prices_as_of({}) == PRICES_AS_OF


def test_a_new_model_is_added() -> None:
    prices = price_table(table(f'as_of = "2027-01"\n[prices."gemini-4-live"]\n{WHOLE}'))
    assert price_of("gemini-4-live-preview", prices) == Price(1.0, 2.5, 3.0, 0.0)
    assert prices.items() >= PRICES.items()


def test_a_known_model_may_change_in_part() -> None:
    given = table('as_of = "2027-01"\n[prices."gemini-3.8-live"]\naudio_in = 9')
    before = PRICES["gemini-3.8-live"]
    assert price_table(given)["gemini-3.8-live"] == Price(before.text_in, 9.0, before.text_out, before.audio_out)
    assert PRICES["gemini-3.8-live"] == before
    assert prices_as_of(given) == "2027-01"


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (f'[prices."m"]\n{WHOLE}', "prices.as_of", None),
        ('as_of = "soon"', "prices.as_of", "soon"),
        ('as_of = "2027-13"', "prices.as_of", "2027-13"),
        ("as_of = 2027-01-01", "prices.as_of", ...),
        ("m = 3", 'prices."m"', 3),
        ('[prices."m"]\ntext_in = 1', 'prices."m".audio_in', None),
        (f'[prices."m"]\n{WHOLE}\nvideo_in = 1', 'prices."m".video_in', 1),
        ('[prices."m"]\ntext_in = -1', 'prices."m".text_in', -1),
        ('[prices."m"]\ntext_in = true', 'prices."m".text_in', True),
        ('[prices."m"]\ntext_in = "1"', 'prices."m".text_in', "1"),
        ('[prices."m"]\ntext_in = inf', 'prices."m".text_in', float("inf")),
        (f'[prices."models/m"]\n{WHOLE}', 'prices."models/m"', "models/m"),
        (f'[prices.""]\n{WHOLE}', 'prices.""', ""),
    ],
)
def test_a_mistake_is_told_by_field_value_and_remedy(text: str, field: str, value: object) -> None:
    with pytest.raises(ConfigError) as error:
        price_table(table(text))
    assert error.value.field == field
    assert value is ... or error.value.value == value
    assert error.value.remedy
    assert field in str(error.value)
