"""Parse and write the JSON object of a frame, strictly (RFC 8259) and with limits.

A frame is UTF-8, without NaN and infinity, of at most `MAX_DEPTH` levels and `MAX_MESSAGE_BYTES`. Lone surrogates,
which `\\u` escapes can spell, become U+FFFD: they cannot be encoded as UTF-8 later, in the journal for example.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from gemini_live_runtime.errors import FrameTooLargeError, ProtocolError
from gemini_live_runtime.json_values import NotFiniteError, strict_decoder
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES

MAX_DEPTH = 100
"""Levels of nesting that are read and written: the limit of protobuf's JSON parsers."""

MAX_VALUES = 5_000
"""Values of a server's message: what follows from them is done at once."""

MAX_TEXT_BYTES = 125_000
"""Bytes (UTF-8) of texts in a server's message, which are all searched for secrets; speech is not counted.

Several times as many as the longest answer of a live model, 8,192 tokens."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE_ESCAPE_BYTES = re.compile(rb"\\u[dD][89a-fA-F]")
_MEGABYTE = 1024 * 1024


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def frame_size(frame: str | bytes) -> int:
    """Return the size of a frame in bytes."""
    if isinstance(frame, bytes) or frame.isascii():
        return len(frame)
    return len(frame.encode("utf-8", "surrogatepass"))


def check_size(frame: str | bytes) -> None:
    """Raise `FrameTooLargeError` for a frame above `MAX_MESSAGE_BYTES`."""
    # UTF-8 has at most four bytes a character, so most frames need not be measured.
    if len(frame) * 4 > MAX_MESSAGE_BYTES and (size := frame_size(frame)) > MAX_MESSAGE_BYTES:
        raise FrameTooLargeError(
            f"A frame of {size / _MEGABYTE:.1f} MiB is above the limit of {MAX_MESSAGE_BYTES // _MEGABYTE} MiB",
            field="frame",
            value=size,
        )


def parse_object(frame: str | bytes) -> dict[str, Any]:
    """Parse the JSON object of a frame; raise `ProtocolError` for anything else.

    Raises `FrameTooLargeError` for a frame above `MAX_MESSAGE_BYTES`.
    """
    return scalar_texts(frame, read_object(frame))


def read_object(frame: str | bytes) -> dict[str, Any]:
    """Parse a frame as `parse_object` does, but keep lone surrogates."""
    check_size(frame)
    try:
        text = frame if isinstance(frame, str) else frame.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"The frame is not UTF-8 at byte {error.start}", field="frame") from None
    try:
        value: Any = strict_decoder.decode(text)
    except NotFiniteError as error:
        raise ProtocolError(f"The frame has {error.text}, which is not a JSON number", field="frame") from None
    except json.JSONDecodeError as error:
        raise ProtocolError(f"The frame is not JSON: {error.msg} at character {error.pos}", field="frame") from None
    except RecursionError:
        raise _too_deep() from None
    # Python limits the digits of an integer (sys.set_int_max_str_digits).
    except ValueError:
        raise ProtocolError("The frame has a number with too many digits", field="frame") from None
    if not isinstance(value, dict):
        raise ProtocolError(f"The frame is {json_kind(value)}, not a JSON object", field="frame")
    _check_depth(text, value)
    return cast(dict[str, Any], value)


def scalar_texts(frame: str | bytes, value: dict[str, Any]) -> dict[str, Any]:
    """Return the object of a frame with U+FFFD in place of lone surrogates."""
    # Bytes that were decoded have no surrogates of their own; escapes, and text that came as `str`, may have.
    if isinstance(frame, bytes):
        may_have = b"\\u" in frame and _SURROGATE_ESCAPE_BYTES.search(frame) is not None
    else:
        may_have = not frame.isascii() or ("\\u" in frame and _SURROGATE_ESCAPE.search(frame) is not None)
    return cast(dict[str, Any], without_surrogates(value)) if may_have else value


def count_commas(frame: str | bytes) -> int:
    """Return the number of commas; raise `ProtocolError` for too many values."""
    commas = frame.count(b",") if isinstance(frame, bytes) else frame.count(",")
    # Most of them may be in texts. Parsing a million values, to count them then, would take a second.
    if commas > MAX_VALUES and _count_values(frame if isinstance(frame, bytes) else _encoded(frame)) > MAX_VALUES:
        raise _too_many_values()
    return commas


def _encoded(frame: str) -> bytes:
    return frame.encode("utf-8", "surrogatepass")


def _count_values(frame: bytes) -> int:
    """Return a lower bound of the number of values in a JSON text of more than one."""
    if b"\\" in frame:
        frame = frame.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Without escaped quotes each quote begins or ends a text, of which every second at least is a value.
    quotes = frame.count(b'"')
    if quotes > 4 * MAX_VALUES:
        return quotes // 4
    return sum(piece.count(b",") for piece in frame.split(b'"')[::2])


def is_all_text(frame: str | bytes) -> bool:
    """Return True for a frame that has more than `MAX_TEXT_BYTES` for certain.

    Only sound is longer; a byte of a text takes six at most, as an escape.
    """
    if len(frame) <= 6 * MAX_TEXT_BYTES:
        return False
    names = (b"inlineData", b"inline_data") if isinstance(frame, bytes) else ("inlineData", "inline_data")
    return not any(name in frame for name in names)  # type: ignore[operator]  # both are of one type


def text_sizes(frame: str | bytes, commas: int, value: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes (UTF-8) of texts in an object, and of those beyond ASCII.

    0 for a small object. Raises `ProtocolError` for one of more than `MAX_VALUES`.
    """
    # Commas bound the number of values from above; few frames have as many.
    longest = MAX_TEXT_BYTES if isinstance(frame, bytes) or frame.isascii() else MAX_TEXT_BYTES // 4
    if commas < MAX_VALUES // MAX_DEPTH and len(frame) <= longest:
        return 0, 0
    values, size, wide, waiting = 0, 0, 0, [value]
    while waiting:
        node: Any = waiting.pop()
        values += len(node)
        if values > MAX_VALUES:
            raise _too_many_values()
        texts: list[str] = []
        if isinstance(node, dict):
            texts += node
            node = node.values()
        for item in node:
            if isinstance(item, str):
                texts.append(item)
            elif isinstance(item, dict | list):
                waiting.append(cast(Any, item))
        for text in texts:
            if text.isascii():
                size += len(text)
            else:
                wide += len(_encoded(text))
    return size + wide, wide


def dump_object(value: Mapping[str, Any]) -> str:
    """Return compact JSON; raise `ProtocolError` naming a field that JSON cannot hold.

    Raises `FrameTooLargeError` for a frame above `MAX_MESSAGE_BYTES`.
    """
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
    """Replace lone surrogates by U+FFFD in every string of a JSON value."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    return value


def json_kind(value: object) -> str:
    """Return the type of a JSON value in words, without the value: it may be secret."""
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
    # Brackets bound the depth from above, those in strings included; few frames have more than the limit.
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


def _too_many_values() -> ProtocolError:
    return ProtocolError(f"The frame has more than {MAX_VALUES:,} values", field="frame")


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
