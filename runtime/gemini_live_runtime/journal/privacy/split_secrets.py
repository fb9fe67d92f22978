"""Redact secrets that are split over the pieces of a text that is streamed.

Transcripts come in deltas, and so do the messages on the wire that carry them. Each stream keeps the end of what came
before, so that a secret is found in the joined text. A piece whose end may be the beginning of a secret is *open*: its
text is decided by the next piece of its stream, or by `close`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.redactor import Redactor, Spans, joined_spans, redacted_part

CONTEXT = 130
"""Characters kept of a text: longer than all that tells a secret by standing before it."""

_LONG = 20
"""Characters of a text from which on the one before it does not count for the next."""

_MAX_CHARS = 8192
"""Characters kept of a text that ends within a secret."""

_WORD = re.compile(r"[A-Z]?[a-z]{0,14}(?:[\s'].*)?", re.DOTALL)
"""Beginning of an ordinary text that would go on with the secret at the end of the last one."""

Use = Callable[[str], None]
"""Function that is called with the redacted text of a piece."""


class _Stream:
    """Text that comes in pieces."""

    __slots__ = ("before", "border", "decided", "hidden", "number", "pieces", "text", "words_may_follow")

    def __init__(self) -> None:
        self.text = ""
        self.before = ""
        """End of the text before this one."""
        self.border: int | None = None
        """Characters of `text` that are of the text before this one, as far as words may follow its secret."""
        self.words_may_follow = False
        """True when no registered secret goes on after `before`: words may follow it."""
        self.decided = 0
        """Characters of `text` whose pieces were decided."""
        self.hidden = False
        """True when the decided part ends within a secret that was replaced."""
        self.pieces: list[tuple[int, Use]] = []
        """Start of each open piece in `text`, and what to do with its redacted text."""
        self.number = -1
        """Turn or generation of the text."""

    def add(self, text: str, use: Use) -> None:
        """Add a piece; `use` is called once it is decided."""
        self.pieces.append((len(self.text), use))
        self.text += text

    def settle(self, redactor: Redactor) -> None:
        """Decide the open pieces, unless a secret may go on behind them."""
        if not redactor.may_hold_secret(self.text):
            self._decide([], None)
        elif redactor.open_at(self.text) is None:
            self._decide(redactor.spans(self.text), None)

    def close(self, redactor: Redactor) -> None:
        """Redact the open pieces by what is known now.

        A beginning that can hardly be anything else counts as the secret: the rest may come piece by piece.
        """
        self._decide(_spans_now(self.text, redactor), redactor.open_at(self.text))

    def newest(self, redactor: Redactor) -> str:
        """Return the newest open piece as `close` would redact it.

        Of a key its prefix is enough: who gets the piece does not learn what follows.
        """
        start = self.pieces[-1][0]
        spans = without_words(_spans_now(self.text, redactor), self.text, self.border)
        if (begun := redactor.begun_at(self.text)) is not None:
            spans = joined_spans([*spans, (begun, len(self.text))])
        return redacted_part(self.text[start:], start, self._new_spans(spans))

    def _new_spans(self, spans: Spans) -> Spans:
        if self.hidden:
            return spans
        # What was shown before cannot be taken back, but the rest of the secret is replaced.
        return [(max(first, self.decided), beyond) for first, beyond in spans if beyond > self.decided]

    def _decide(self, spans: Spans, open_at: int | None) -> None:
        text, found = self.text, without_words(spans, self.text, self.border)
        spans = self._new_spans(found)
        pieces, self.pieces = self.pieces, []
        end = len(text)
        for start, use in reversed(pieces):
            use(redacted_part(text[start:end], start, spans) if spans else text[start:end])
            end = start
        self.hidden = bool(spans) and spans[-1][1] == len(text)
        # From its very beginning, also what was shown before: only the whole text tells that it goes on.
        begin = found[-1][0] if self.hidden else len(text) if open_at is None else open_at
        self.text = text[max(0, begin - CONTEXT) :][-_MAX_CHARS:]
        self.decided = len(self.text)
        if self.border is not None:
            left = self.border - len(text) + len(self.text)
            self.border = left if left > 0 else None

    def begin(self, number: int, redactor: Redactor) -> None:
        """Begin a new text.

        A secret may go on in it, or the words that tell one: a server may interrupt an answer in mid-word.
        """
        self.number = number
        if ends_in_private_key(self.text):
            self.text, self.decided, self.hidden = "", 0, False
        elif self.border is not None and len(self.text) - self.border >= _LONG and not self.hidden:
            self.text = self.text[self.border :]
            self.decided = len(self.text)
        self.before = self.text
        self.words_may_follow = bool(self.text) and redactor.open_known_at(self.text) is None
        self.border = len(self.text) if self.words_may_follow else None


def ends_in_private_key(text: str) -> bool:
    """Return True when a private key begins in `text` and does not end.

    Anything may be within one, so that it would hide all the texts that follow.
    """
    return "PRIVATE KEY" in text and text.rfind("-----BEGIN ") > text.rfind("-----END ")


def without_words(spans: Spans, text: str, border: int | None) -> Spans:
    """Return spans without the words after a secret that ended at `border`."""
    if border is None:
        return spans
    return [
        (first, border) if first <= border < beyond and _WORD.fullmatch(text, border, beyond) else (first, beyond)
        for first, beyond in spans
    ]


def _spans_now(text: str, redactor: Redactor) -> Spans:
    """Return the secrets in a text that does not go on.

    A secret of which it has only the beginning is one of them.
    """
    spans, cut_at = redactor.spans(text), redactor.cut_at(text)
    return spans if cut_at is None else joined_spans([*spans, (cut_at, len(text))])


class HeldEvent:
    """Event that waits for more text; `event` has what is decided."""

    __slots__ = ("event",)

    def __init__(self, event: ev.Event) -> None:
        self.event = event

    def use_text(self, text: str) -> None:
        """Replace the text of a delta."""
        payload = self.event.payload
        if isinstance(payload, ev.TranscriptDelta) and payload.text != text:
            self.event = replace(self.event, payload=replace(payload, text=text))


class SplitSecrets:
    """Redactor of the streamed texts of one session."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._streams: dict[Hashable, _Stream] = {}
        self._open: set[_Stream] = set()

    @property
    def is_open(self) -> bool:
        """True when a piece is not decided yet."""
        return bool(self._open)

    def is_plain(self, key: Hashable, number: int, text: str) -> bool:
        """Return True for a piece without a trace of a secret, and take note of it.

        Much quicker than `add`, which must be called when this returns False.
        """
        stream = self._streams.get(key)
        if stream is None or stream.number != number or stream.pieces:
            return False
        joined = stream.text + text
        if self._redactor.may_hold_secret(joined):
            return False
        stream.text = joined = joined[-CONTEXT:]
        stream.decided, stream.hidden, stream.border = len(joined), False, None
        return True

    def add(self, key: Hashable, number: int, text: str, use: Use) -> None:
        """Add a piece of the stream `key`; a new `number` begins a new text."""
        self._settle(self._with_piece(key, number, text, use))

    def _with_piece(self, key: Hashable, number: int, text: str, use: Use) -> _Stream:
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream()
        if stream.number != number:
            if stream.pieces:
                stream.close(self._redactor)
            stream.begin(number, self._redactor)
        stream.add(text, use)
        return stream

    def _settle(self, stream: _Stream) -> None:
        stream.settle(self._redactor)
        if stream.pieces:
            self._open.add(stream)
        else:
            self._open.discard(stream)

    def is_plain_event(self, event: ev.Event) -> bool:
        """Return `is_plain` of the text of a delta or a message on the wire."""
        payload = event.payload
        if isinstance(payload, ev.TranscriptDelta):
            return self.is_plain(*_stream_of(event, payload), payload.text)
        assert isinstance(payload, ev.WireMessage)
        pieces = [*streamed_texts(payload.frame)] if payload.direction == "received" else []
        return not pieces or (len(pieces) == 1 and self.is_plain(pieces[0][0], 0, pieces[0][1][pieces[0][2]]))

    def add_event(self, held: HeldEvent) -> None:
        """Add the pieces of text of any event; most have none."""
        event, payload = held.event, held.event.payload
        if isinstance(payload, ev.TranscriptDelta):
            self.add(*_stream_of(event, payload), payload.text, held.use_text)
        elif isinstance(payload, ev.WireMessage) and payload.direction == "received":
            # One decision for all pieces of a message, of which there may be thousands.
            streams = {
                name: self._with_piece(name, 0, holder[key], partial(holder.__setitem__, key))
                for name, holder, key in streamed_texts(payload.frame)
            }
            for stream in streams.values():
                self._settle(stream)

    def without_open(self, event: ev.Event) -> ev.Event:
        """Return the newest delta as it would be shown now."""
        payload = event.payload
        if isinstance(payload, ev.TranscriptDelta):
            stream = self._streams.get(_stream_of(event, payload)[0])
            if stream is not None and stream.pieces:
                return replace(event, payload=replace(payload, text=stream.newest(self._redactor)))
        return event

    def cut_without_secrets(self, cut: ev.TurnInterrupted, gen: int) -> ev.TurnInterrupted:
        """Return `cut` with its two texts redacted as the one that they were.

        The one before it may end in the beginning of a secret.
        """
        stream = self._interrupted(gen)
        before = "" if stream is None else stream.before
        border = len(before) if stream is not None and stream.words_may_follow else None
        heard, whole = len(before + cut.heard_text), before + cut.heard_text + cut.unheard_text
        if not self._redactor.may_hold_secret(whole):
            return cut
        start = len(before)
        spans = without_words(_spans_now(whole, self._redactor), whole, border)
        spans = [(max(first, start), beyond) for first, beyond in spans if beyond > start]
        if not spans:
            return cut
        return replace(
            cut,
            heard_text=redacted_part(whole[start:heard], start, spans),
            unheard_text=redacted_part(whole[heard:], heard, spans),
        )

    def _interrupted(self, gen: int) -> _Stream | None:
        """Return the stream of generation `gen` whose text goes on with another."""
        found = (self._streams.get(name) for name in ("speech", "text"))
        return next((one for one in found if one is not None and one.number == gen and one.before), None)

    def close(self) -> None:
        """Decide all open pieces without waiting for more text."""
        for stream in self._open:
            stream.close(self._redactor)
        self._open.clear()


def _stream_of(event: ev.Event, delta: ev.TranscriptDelta) -> tuple[str, int]:
    """Return the stream of a delta, and the number of its text in the stream."""
    return (delta.channel, event.gen) if delta.side == "model" else ("user", event.turn)


def streamed_texts(frame: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the pieces of texts in a received message.

    Each as the name of its stream, the object that holds it and its key there.
    """
    content = _member(frame, "serverContent", "server_content")
    if not content:
        return
    for name, snake in (("inputTranscription", "input_transcription"), ("outputTranscription", "output_transcription")):
        holder = _member(content, name, snake)
        if isinstance(holder.get("text"), str):
            yield name, holder, "text"
    parts = _member(content, "modelTurn", "model_turn").get("parts")
    for part in parts if isinstance(parts, list | tuple) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield "thoughtPart" if part.get("thought") else "part", part, "text"
        elif isinstance(part, dict) and "inlineData" not in part:
            for name, snake, key in _CODE:
                holder = _member(part, name, snake)
                if isinstance(holder.get(key), str):
                    yield name, holder, key


_CODE = (("executableCode", "executable_code", "code"), ("codeExecutionResult", "code_execution_result", "output"))
"""Parts with texts of their own: their names, and the key of the text."""


def _member(value: Any, name: str, snake: str) -> dict[str, Any]:
    found = value.get(name, value.get(snake)) if isinstance(value, Mapping) else None
    return found if isinstance(found, dict) else {}
