"""Estimate costs from a dated price table.

An estimate is not a bill: prices change and the server rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.records import record

PRICES_AS_OF = "2026-11"
"""Month of the prices in `PRICES`."""


@record
class Price:
    """Price of a model in US dollars per million tokens."""

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
"""Prices by prefix of the model's name; the longest prefix wins."""


def price_of(model: str, prices: Mapping[str, Price] = PRICES) -> Price | None:
    """Return the price of `model`, or None when it is unknown.

    `model` may have the prefix `models/` or a Vertex path.
    """
    name = model.rsplit("/", 1)[-1]
    matches = [prefix for prefix in prices if name.startswith(prefix)]
    return prices[max(matches, key=len)] if matches else None


def cost_of(price: Price, prompt: Mapping[str, int], response: Mapping[str, int]) -> float:
    """Return the cost in US dollars of token counts by modality.

    Modalities other than AUDIO count as text.
    """
    dollars = 0.0
    for modality, tokens in prompt.items():
        dollars += tokens * (price.audio_in if modality == "AUDIO" else price.text_in)
    for modality, tokens in response.items():
        dollars += tokens * (price.audio_out if modality == "AUDIO" else price.text_out)
    return dollars / 1e6


def price_table(from_toml: Mapping[str, Any]) -> Mapping[str, Price]:
    """Return `PRICES` updated by a config file's `[prices]` section.

    `as_of = "2027-01"` dates it; each `[prices."MODEL-PREFIX"]` holds `text_in`, `audio_in`, `text_out` and `audio_out`
    in US dollars per million tokens. A known prefix may change some of them, a new one needs all four. Raises
    `ConfigError` naming the field.
    """
    prices = dict(PRICES)
    for prefix, table in from_toml.items():
        if prefix == "as_of":
            continue
        place = f'prices."{prefix}"'
        if not prefix or "/" in prefix:
            raise _refused(place, prefix, "is not the beginning of a model name", "Use a name such as gemini-3.8-live")
        if not isinstance(table, Mapping):
            raise _refused(place, table, "is not a table", f"Set {', '.join(_FIELDS)} in dollars per million tokens")
        known = asdict(prices[prefix]) if prefix in prices else {}
        for name, value in table.items():
            if name not in _FIELDS:
                raise _refused(f"{place}.{name}", value, "is not a price", f"Use {', '.join(_FIELDS)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise _refused(f"{place}.{name}", value, "is not a price", "Use dollars per million tokens, 0 or more")
            known[name] = float(value)
        missing = [name for name in _FIELDS if name not in known]
        if missing:
            raise _refused(f"{place}.{missing[0]}", None, "is missing", f"Add {', '.join(missing)}")
        prices[prefix] = Price(**known)
    prices_as_of(from_toml)
    return prices


def prices_as_of(from_toml: Mapping[str, Any]) -> str:
    """Return the month (`YYYY-MM`) of the prices in use.

    It is the config's `as_of` when the config has prices, else `PRICES_AS_OF`. Raises `ConfigError` for prices without
    a valid month.
    """
    if not from_toml:
        return PRICES_AS_OF
    value = from_toml.get("as_of")
    year, dash, month = value.partition("-") if isinstance(value, str) else ("", "", "")
    if not (dash and len(year) == 4 and len(month) == 2 and (year + month).isdecimal() and 1 <= int(month) <= 12):
        problem = "is missing" if value is None else "is not a month"
        raise _refused("prices.as_of", value, problem, f'Add the month of the prices, such as as_of = "{PRICES_AS_OF}"')
    return str(value)


_FIELDS = tuple(field.name for field in fields(Price))


def _refused(field: str, value: object, problem: str, remedy: str) -> ConfigError:
    shown = "" if value is None else f" ({value!r:.60})"
    return ConfigError(f"{field}{shown} {problem}", remedy=remedy, field=field, value=value)
