"""Compute contrast (WCAG 2.2), distance (CIE 1976) and colour-blind views."""

from __future__ import annotations

import math

Linear = tuple[float, float, float]

# Machado, Oliveira and Fernandes 2009, severity 1.
_EYES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(colour: str) -> Linear:
    """`#rrggbb` as linear light, 0 to 1 each."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _light(red), _light(green), _light(blue)


def _light(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    """Relative luminance."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours: 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def seen_with(eye: str, colour: str) -> Linear:
    """Return a colour as a `protan` or `deutan` eye sees it, in linear light."""
    red, green, blue = linear(colour)
    parts = [min(1.0, max(0.0, r * red + g * green + b * blue)) for r, g, b in _EYES[eye]]
    return parts[0], parts[1], parts[2]


def lab_distance(one: Linear, other: Linear) -> float:
    """Return the distance of two colours: about 2 is just noticeable, 25 is plain."""
    return math.dist(_lab(one), _lab(other))


def _lab(light: Linear) -> Linear:
    red, green, blue = light
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)
