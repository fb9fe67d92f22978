"""Typical weather of well-known cities, for a demo without a network."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from gemini_live_runtime.records import record


@record
class Climate:
    """Climate of a city: mean highs and day-night spread in °C, rainy half-year."""

    january: int
    july: int
    spread: int
    wet: str


def _c(january: int, july: int, spread: int, wet: str) -> Climate:
    return Climate(january, july, spread, wet)


# Rounded climate normals. `wet` names the rainier half of the year: winter, summer, even or dry.
CITIES: dict[str, Climate] = {
    "amsterdam": _c(6, 22, 6, "even"),
    "athens": _c(13, 34, 9, "winter"),
    "auckland": _c(24, 15, 7, "winter"),
    "bangkok": _c(32, 33, 8, "summer"),
    "barcelona": _c(14, 29, 8, "even"),
    "beijing": _c(2, 31, 10, "summer"),
    "berlin": _c(3, 25, 9, "even"),
    "bogota": _c(20, 19, 11, "even"),
    "boston": _c(2, 28, 9, "even"),
    "brussels": _c(6, 23, 8, "even"),
    "budapest": _c(3, 28, 11, "even"),
    "buenos aires": _c(30, 16, 9, "even"),
    "cairo": _c(19, 35, 11, "dry"),
    "cape town": _c(27, 18, 10, "winter"),
    "chicago": _c(0, 29, 9, "summer"),
    "copenhagen": _c(3, 22, 7, "even"),
    "dallas": _c(14, 36, 11, "even"),
    "delhi": _c(20, 35, 10, "summer"),
    "denver": _c(7, 32, 15, "summer"),
    "dubai": _c(24, 41, 10, "dry"),
    "dublin": _c(8, 20, 7, "even"),
    "edinburgh": _c(7, 19, 7, "even"),
    "frankfurt": _c(4, 26, 9, "even"),
    "geneva": _c(4, 27, 10, "even"),
    "hamburg": _c(4, 23, 8, "even"),
    "helsinki": _c(-2, 22, 8, "even"),
    "hong kong": _c(19, 32, 5, "summer"),
    "houston": _c(17, 34, 10, "even"),
    "istanbul": _c(9, 29, 7, "winter"),
    "jakarta": _c(30, 32, 7, "even"),
    "johannesburg": _c(26, 17, 12, "summer"),
    "kyoto": _c(9, 32, 9, "summer"),
    "lagos": _c(33, 29, 7, "summer"),
    "lima": _c(26, 19, 5, "dry"),
    "lisbon": _c(15, 28, 9, "winter"),
    "london": _c(8, 24, 8, "even"),
    "los angeles": _c(20, 28, 9, "winter"),
    "madrid": _c(10, 33, 13, "winter"),
    "manchester": _c(7, 20, 7, "even"),
    "manila": _c(30, 31, 7, "summer"),
    "melbourne": _c(27, 14, 10, "even"),
    "mexico city": _c(22, 23, 12, "summer"),
    "miami": _c(25, 33, 7, "summer"),
    "milan": _c(6, 30, 10, "even"),
    "montreal": _c(-5, 27, 9, "even"),
    "moscow": _c(-4, 24, 9, "even"),
    "mumbai": _c(31, 30, 8, "summer"),
    "munich": _c(3, 25, 10, "summer"),
    "nairobi": _c(26, 22, 11, "even"),
    "new york": _c(4, 29, 8, "even"),
    "oslo": _c(-1, 23, 9, "even"),
    "paris": _c(7, 26, 9, "even"),
    "philadelphia": _c(5, 31, 9, "even"),
    "phoenix": _c(20, 41, 13, "dry"),
    "prague": _c(2, 25, 11, "even"),
    "reykjavik": _c(2, 14, 5, "even"),
    "rome": _c(12, 31, 11, "winter"),
    "san diego": _c(19, 24, 8, "winter"),
    "san francisco": _c(14, 20, 7, "winter"),
    "santiago": _c(30, 15, 14, "winter"),
    "seattle": _c(8, 25, 8, "winter"),
    "seoul": _c(2, 29, 8, "summer"),
    "shanghai": _c(8, 33, 7, "summer"),
    "singapore": _c(31, 32, 7, "even"),
    "stockholm": _c(1, 23, 8, "even"),
    "sydney": _c(27, 17, 8, "even"),
    "tel aviv": _c(18, 30, 8, "winter"),
    "tokyo": _c(10, 30, 8, "summer"),
    "toronto": _c(0, 27, 9, "even"),
    "vancouver": _c(7, 22, 7, "winter"),
    "venice": _c(6, 28, 9, "even"),
    "vienna": _c(4, 27, 10, "even"),
    "warsaw": _c(1, 25, 10, "even"),
    "washington": _c(7, 32, 9, "even"),
    "zurich": _c(4, 25, 10, "even"),
}


@record
class TypicalWeather:
    """Typical temperatures in °C and a word for the sky."""

    high: int
    low: int
    sky: str


def typical(climate: Climate, month: int) -> TypicalWeather:
    """Return the typical weather in `month` (1 to 12).

    The high follows a cosine between those of January and July.
    """
    if not 1 <= month <= 12:
        raise ValueError(f"month must be 1 to 12, not {month}")
    july_share = (1 - math.cos((month - 1) * math.pi / 6)) / 2
    high = round(climate.january + (climate.july - climate.january) * july_share)
    northern_summer = 4 <= month <= 9
    south = climate.january > climate.july
    summer = northern_summer != south
    wet = {"winter": not summer, "summer": summer, "even": False, "dry": False}[climate.wet]
    sky = "sunny" if climate.wet == "dry" else "rainy" if wet else "cloudy" if climate.wet == "even" else "clear"
    return TypicalWeather(high, high - climate.spread, sky)


def weather_in(city: str, now: datetime) -> dict[str, Any]:
    """Return the typical weather of `city` in the month of `now`, or an error.

    `summary` is a sentence to say.
    """
    climate = CITIES.get(" ".join(city.lower().split()))
    if climate is None:
        name = city.title() if city.islower() else city
        return {"error": f"there is no climate data for {name}", "known_cities": len(CITIES)}
    weather, month = typical(climate, now.month), now.strftime("%B")
    return {
        "city": city,
        "month": month,
        "high_c": weather.high,
        "low_c": weather.low,
        "sky": weather.sky,
        "source": "climate normals, not a forecast",
        "summary": f"In {month} it is typically {weather.sky} in {city}, with {_degrees(weather.high)} by day and "
        f"{_degrees(weather.low)} at night.",
    }


def _degrees(celsius: int) -> str:
    degrees = f"{abs(celsius)} {'degree' if abs(celsius) == 1 else 'degrees'}"
    return f"minus {degrees}" if celsius < 0 else degrees
