"""Encode and decode base64 strictly (RFC 4648).

Encoding is standard with padding. Decoding takes both alphabets, with or without padding, and rejects characters
outside the alphabet (section 3.3): lenient decoders drop them, which would shift audio by bytes. `encode` and
`decode_strict` come from pybase64 (SIMD) where it is installed, else from `binascii`.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable

_URL_SAFE = str.maketrans("-_", "+/")


def stdlib_encode(data: bytes) -> str:
    """Return standard base64 with padding."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def stdlib_decode_strict(text: str | bytes, altchars: None = None, validate: bool = True) -> bytes:
    """Decode padded standard base64; raise `ValueError` for any other text.

    Has the parameters of `pybase64.b64decode`; the last two are ignored.
    """
    return binascii.a2b_base64(text, strict_mode=True)


encode: Callable[[bytes], str]
decode_strict: Callable[[str | bytes, None, bool], bytes]

try:
    import pybase64
except ImportError:
    ACCELERATED = False
    encode = stdlib_encode
    decode_strict = stdlib_decode_strict
else:
    ACCELERATED = True
    encode = pybase64.b64encode_as_string
    decode_strict = pybase64.b64decode


def decode(text: str) -> bytes:
    """Decode base64 of either alphabet, padded or not; raise `ValueError` otherwise."""
    try:
        return decode_strict(text, None, True)
    except ValueError:
        if not text.isascii() or len(text.rstrip("=")) % 4 == 1:
            raise
        standard = text.translate(_URL_SAFE)
        if not standard.endswith("="):
            standard += "=" * (-len(standard) % 4)
        return decode_strict(standard, None, True)
