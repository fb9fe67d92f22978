"""Strict base64 (RFC 4648): standard out; both alphabets in, with or without padding, never with junk.

The standard library's lenient decoders drop characters they do not know, which would shift audio by bytes; these
refuse. `encode` and `validated` come from pybase64 (SIMD) where it is installed, else from `binascii`.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable

_URL_SAFE = str.maketrans("-_", "+/")


def stdlib_encode(data: bytes) -> str:
    """Standard base64 with padding."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def stdlib_validated(text: str | bytes, altchars: None = None, validate: bool = True) -> bytes:
    """Bytes of padded standard base64; raises `ValueError` for anything else. Called as pybase64's is."""
    return binascii.a2b_base64(text, strict_mode=True)


encode: Callable[[bytes], str]
validated: Callable[[str | bytes, None, bool], bytes]

try:
    import pybase64
except ImportError:
    ACCELERATED = False
    encode = stdlib_encode
    validated = stdlib_validated
else:
    ACCELERATED = True
    encode = pybase64.b64encode_as_string
    validated = pybase64.b64decode


def decode(text: str) -> bytes:
    """Bytes of base64 in either alphabet, padded or not; raises `ValueError` (`binascii.Error`) for anything else."""
    try:
        return validated(text, None, True)
    except ValueError:
        if not text.isascii() or len(text.rstrip("=")) % 4 == 1:
            raise
        standard = text.translate(_URL_SAFE)
        if not standard.endswith("="):
            standard += "=" * (-len(standard) % 4)
        return validated(standard, None, True)
