"""Decode frames into messages and encode messages, by the message classes.

Decoding is tolerant, encoding is strict. Unknown fields are kept in `extra`; a field of the wrong type is kept there
too and named in `problems`, so that the rest of the message can be used. `ProtocolError` is raised only for a frame
that is of no use: text that is no JSON object, media that is not base64, PCM with half a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.closes import error_text
from gemini_live_runtime.wire.content import Blob, Content, FunctionResponse, Part
from gemini_live_runtime.wire.enums import Scheduling
from gemini_live_runtime.wire.fields import CodecRegistry, MessageCodec, Problems, WrongTypeError
from gemini_live_runtime.wire.json_frame import (
    MAX_TEXT_BYTES,
    check_size,
    count_commas,
    dump_object,
    is_all_text,
    parse_object,
    read_object,
    scalar_texts,
    text_sizes,
)
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerContent, ServerMessage

M = TypeVar("M", bound=Message)

MODEL_PCM_RATE = 24_000
"""Sample rate in Hz of model speech whose MIME type names none."""

PCM_RATES = range(8_000, 192_001)
"""Sample rates in Hz that a PCM MIME type may name."""


def decode_client(frame: str | bytes) -> ClientMessage:
    """Decode a frame of a client; raise `ProtocolError` or `FrameTooLargeError`."""
    problems = Problems()
    raw = parse_object(frame)
    message = _decode(ClientMessage, raw, problems)
    kinds = client_kinds(message)
    if len(kinds) != 1:
        got = ", ".join([*kinds, *message.extra][:5]) or "none"
        problems.add("message", f"expected exactly one kind of client message, got {got}")
    return replace(message, raw=raw, problems=problems.sentences())


def decode_server(frame: str | bytes) -> ServerMessage | AudioFrame:
    """Decode a frame of a server; return an `AudioFrame` for speech alone.

    Raises `ProtocolError` or `FrameTooLargeError`.
    """
    message = decode_server_message(frame)
    return message if (audio := as_audio_frame(message)) is None else audio


def decode_server_message(frame: str | bytes) -> ServerMessage:
    """Decode a frame of a server, also one of speech alone, into a message.

    Raises `ProtocolError` or `FrameTooLargeError`.
    """
    problems = Problems()
    check_size(frame)
    if is_all_text(frame):
        # Not parsed: that would take its memory twice more, and the event loop's time.
        raise _too_much_text()
    commas = count_commas(frame)
    value = read_object(frame)
    size, wide = text_sizes(frame, commas, value)
    if wide > MAX_TEXT_BYTES:
        # Before surrogates are looked for, which takes long. Speech is ASCII.
        raise _too_much_text()
    raw = scalar_texts(frame, value)
    message = _decode(ServerMessage, raw, problems)
    if size > MAX_TEXT_BYTES and size - _speech_size(message) > MAX_TEXT_BYTES:
        raise _too_much_text()
    if raw and len(message.extra) == len(raw):
        names = error_text(raw["error"]) if "error" in raw else ", ".join(list(raw)[:5])[:200]
        problems.add("message", f"no known kind of server message, got {names}")
    return replace(message, raw=raw, problems=problems.sentences())


def _too_much_text() -> ProtocolError:
    return ProtocolError(f"The frame has texts of more than {MAX_TEXT_BYTES:,} bytes", field="frame")


def _speech_size(message: ServerMessage) -> int:
    """Return the number of characters of base64 in which a message has speech."""
    content = message.server_content
    parts = content.model_turn.parts if content is not None and content.model_turn is not None else ()
    blobs = [part.inline_data for part in parts if part.inline_data is not None]
    return sum((len(blob.data) + 2) // 3 * 4 for blob in blobs if pcm_rate(blob.mime_type or "") is not None)


def as_audio_frame(message: ServerMessage) -> AudioFrame | None:
    """Return a message as an `AudioFrame`, or None when that would lose a field."""
    content = message.server_content
    if message.problems or content is None or (turn := content.model_turn) is None or len(turn.parts) != 1:
        return None
    blob = turn.parts[0].inline_data
    if blob is None or blob.mime_type is None or (rate := pcm_rate(blob.mime_type)) is None:
        return None
    # Equality with a message of the speech alone proves that no other field would be lost.
    if message != audio_message(blob.data, blob.mime_type, turn.role) or turn.role not in (None, "model"):
        return None
    return AudioFrame(blob.data, rate, blob.mime_type)


def audio_message(data: bytes, mime_type: str, role: str | None = "model") -> ServerMessage:
    """Return a server message with one piece of model speech."""
    part = Part(inline_data=Blob(mime_type=mime_type, data=data))
    return ServerMessage(server_content=ServerContent(model_turn=Content(role=role, parts=(part,))))


def pcm_rate(mime_type: str, *, default: int = MODEL_PCM_RATE, kinds: tuple[str, ...] = ("audio/pcm",)) -> int | None:
    """Return the sample rate in Hz that a MIME type of `kinds` names, or `default`.

    None for a MIME type of another kind, and for a rate outside `PCM_RATES`.
    """
    kind, *parameters = mime_type.lower().replace(" ", "").split(";")
    if kind not in kinds:
        return None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "rate":
            rate = int(value) if value.isascii() and value.isdigit() and len(value) < 7 else 0
            return rate if rate in PCM_RATES else None
    return default


def encode_server(message: ServerMessage) -> str:
    """Encode a server message.

    Raises `ProtocolError` naming a field that cannot be encoded, or `FrameTooLargeError`.
    """
    return dump_object(to_json(message))


def client_to_json(message: ClientMessage) -> dict[str, Any]:
    """Return the JSON object of a client message.

    Raises `ProtocolError` unless exactly one kind is set.
    """
    kinds = client_kinds(message)
    if len(kinds) + len(message.extra) != 1:
        raise ProtocolError(
            f"A client message must have exactly one kind, not {', '.join([*kinds, *message.extra]) or 'none'}",
            field="message",
        )
    return to_json(message)


def client_kinds(message: ClientMessage) -> tuple[str, ...]:
    """Return the JSON names of the kinds that are set."""
    return tuple(
        field.name for field in codec_of(ClientMessage).fields if getattr(message, field.attribute) is not None
    )


def to_json(message: Message) -> dict[str, Any]:
    """Return the JSON object of any message: without nulls, `extra` last.

    Raises `ProtocolError` naming a field of the wrong type.
    """
    return _write(message, "")


def from_json(cls: type[M], value: Mapping[str, Any]) -> tuple[M, tuple[str, ...]]:
    """Return a message of class `cls` from a JSON object, and its problems.

    Raises `ProtocolError`.
    """
    problems = Problems()
    return _decode(cls, dict(value), problems), problems.sentences()


def unknown_fields(message: Message) -> Iterator[str]:
    """Yield the paths of all fields in `extra`, which a strict server would refuse."""
    yield from message.extra
    for field in codec_of(type(message)).fields:
        value = getattr(message, field.attribute)
        if isinstance(value, Message):
            children = [(field.name, value)]
        elif isinstance(value, tuple):
            children = [(f"{field.name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, Message)]
        elif isinstance(value, Mapping):
            children = [(f"{field.name}.{k}", item) for k, item in value.items() if isinstance(item, Message)]
        else:
            continue
        for name, child in children:
            for path in unknown_fields(child):
                yield f"{name}.{path}"


def _decode(cls: type[M], raw: dict[str, Any], problems: Problems) -> M:
    try:
        return cast(M, _read(cls, raw, "", problems))
    except RecursionError:
        raise ProtocolError("The frame is nested too deeply", field="frame") from None


def _read(cls: type[Message], value: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        raise WrongTypeError("an object", value)
    by_key = codec_of(cls).by_key
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, item in value.items():
        field = by_key.get(key)
        if field is None:
            extra[key] = item
            continue
        # In proto3 JSON, null is the same as an absent field.
        if item is None:
            continue
        where = f"{path}.{key}" if path else key
        try:
            values[field.attribute] = field.read(item, where, problems)
        except WrongTypeError as error:
            if field.strict:
                raise ProtocolError(f"{where}: {error}", field=where) from None
            extra[key] = item
            problems.add(where, str(error))
    if extra:
        values["extra"] = extra
    if cls is Blob:
        _check_pcm(values, path)
    elif cls is FunctionResponse:
        _lift_scheduling(values)
    return cls(**values)


def _write(message: Message, path: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for field in codec_of(type(message)).fields:
        value = getattr(message, field.attribute)
        # proto3 JSON omits defaults, but the services require some empty fields (`always`).
        if value is None or (value == field.default and not field.always):
            continue
        where = f"{path}.{field.name}" if path else field.name
        try:
            result[field.name] = field.write(value, where)
        except WrongTypeError as error:
            raise ProtocolError(f"{where}: {error}", field=where) from None
    # A field of the class wins over an unreadable value of the same name in `extra`.
    for key, item in message.extra.items():
        if item is not None:
            result.setdefault(key, item)
    return result


_codecs = CodecRegistry(_read, _write)


def codec_of(cls: type[Message]) -> MessageCodec:
    """Return the codec of a message class."""
    return _codecs.codec_of(cls)


def _check_pcm(values: Mapping[str, Any], path: str) -> None:
    mime_type = values.get("mime_type") or ""
    if len(values.get("data", b"")) % 2 and mime_type.lower().partition(";")[0].strip() == "audio/pcm":
        raise ProtocolError(
            f"{path}.data has {len(values['data'])} bytes of 16-bit PCM, an odd number", field=f"{path}.data"
        )


def _lift_scheduling(values: dict[str, Any]) -> None:
    """Set `scheduling` and `will_continue` from the entries of `response`."""
    response = values.get("response", {})
    scheduling = response.get("scheduling")
    if "scheduling" not in values and isinstance(scheduling, str) and scheduling.upper() in list(Scheduling):
        values["scheduling"] = Scheduling(scheduling.upper())
    for key in ("willContinue", "will_continue"):
        if "will_continue" not in values and isinstance(response.get(key), bool):
            values["will_continue"] = response[key]
