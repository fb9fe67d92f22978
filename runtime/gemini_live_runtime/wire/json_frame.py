"""JSON text of one frame, read strictly and bounded, and written so that any peer can read it.

Read: UTF-8, no NaN or infinity, at most `MAX_DEPTH` levels, at most `MAX_MESSAGE_BYTES`, an object at the top. Lone
surrogates become U+FFFD, because nothing after this could write them as UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from gemini_live_runtime.errors import FrameTooLargeError, ProtocolError
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES

MAX_DEPTH = 100
"""Deepest nesting read or written: the limit of protobuf's own JSON parsers."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_MEGABYTE = 1024 * 1024


class _NotFiniteError(ValueError):
    """A number JSON has no spelling for."""


def _refuse_constant(name: str) -> float:
    raise _NotFiniteError(name)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _NotFiniteError(text[:20])
    return number


_decoder = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def frame_size(frame: str | bytes) -> int:
    """Bytes of `frame` on the wire."""
    if isinstance(frame, bytes) or frame.isascii():
        return len(frame)
    return len(frame.encode("utf-8", "surrogatepass"))


def check_size(frame: str | bytes) -> None:
    """Raise `FrameTooLargeError` when `frame` is above the message limit."""
    # A character takes at most four bytes, so most frames need no counting.
    if len(frame) * 4 > MAX_MESSAGE_BYTES and (size := frame_size(frame)) > MAX_MESSAGE_BYTES:
        raise FrameTooLargeError(
            f"A frame of {size / _MEGABYTE:.1f} MiB is above the limit of {MAX_MESSAGE_BYTES // _MEGABYTE} MiB",
            field="frame",
            value=size,
        )


def parse_object(frame: str | bytes) -> dict[str, Any]:
    """The JSON object in `frame`; raises `ProtocolError` or `FrameTooLargeError`."""
    check_size(frame)
    try:
        text = frame if isinstance(frame, str) else frame.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"The frame is not UTF-8 at byte {error.start}", field="frame") from None
    try:
        value: Any = _decoder.decode(text)
    except _NotFiniteError as error:
        raise ProtocolError(f"The frame holds {error}, which is not a JSON number", field="frame") from None
    except json.JSONDecodeError as error:
        raise ProtocolError(f"The frame is not JSON: {error.msg} at character {error.pos}", field="frame") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise ProtocolError("The frame holds a number that is too long", field="frame") from None
    if not isinstance(value, dict):
        raise ProtocolError(f"The frame is {json_kind(value)}, not a JSON object", field="frame")
    _check_depth(text, value)
    if ("\\u" in text and _SURROGATE_ESCAPE.search(text)) or (text is frame and not text.isascii()):
        value = without_surrogates(value)
    return cast(dict[str, Any], value)


def dump_object(value: Mapping[str, Any]) -> str:
    """Compact JSON of `value`; raises `ProtocolError` naming the field that JSON cannot hold."""
    try:
        text = _encoder.encode(value)
    except (ValueError, TypeError, RecursionError):
        raise _unwritable(value) from None
    _check_depth(text, value)
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    check_size(text)
    return text


def without_surrogates(value: Any) -> Any:
    """`value` with lone surrogates replaced by U+FFFD; the same object where there are none."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    return value


def json_kind(value: object) -> str:
    """What a JSON value is, in words; never the value itself, which may be a secret."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"


def _check_depth(text: str, value: Mapping[str, Any]) -> None:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, Mapping) else node)
            if isinstance(child, Mapping | list | tuple)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> ProtocolError:
    return ProtocolError(f"The frame is nested deeper than {MAX_DEPTH} levels", field="frame")


def _unwritable(value: Mapping[str, Any]) -> ProtocolError:
    for path, item in _leaves(value, "", MAX_DEPTH):
        try:
            _encoder.encode({item: 0} if path.endswith("(key)") else item)
        except (ValueError, TypeError, RecursionError):
            return ProtocolError(f"{path} holds {json_kind(item)} that JSON cannot write: {item!r:.60}", field=path)
    return _too_deep()


def _leaves(value: object, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and depth:
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"{path} (key)", key
            yield from _leaves(item, f"{path}.{key}".lstrip("."), depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]", depth - 1)
    elif depth:
        yield path, value
