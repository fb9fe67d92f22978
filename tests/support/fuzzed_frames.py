"""Make frames of a server from captured ones, most of them broken, by seed.

`Fuzzer(seed).frame()` returns the next frame. A frame is a captured message, or one with nodes replaced, renamed,
dropped or wrapped, or with fields of another, or its text with bytes changed, keys doubled, or numbers and escapes that
JSON can spell and Python cannot hold. `LARGE` are frames at the limits of the codec, which cost the most.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections import deque
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from gemini_live_runtime.wire.json_frame import MAX_DEPTH, MAX_TEXT_BYTES, MAX_VALUES

FRAMES = Path(__file__).parents[1] / "data" / "frames"

MAX_IDS = 20
"""Newest ids of calls that are used again, or cancelled."""

BURST_EVERY, BURST = 4_000, 12
"""A run of so many unreadable frames comes about so often: after ten a session leaves the server."""

ODD_TEXTS = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202eevil\u2066",
    "e" + "\u0301" * 50,
    "\ud800",
    "\udc00 alone",
    "\ufeff",
    "\n" * 30,
    "漢字👩‍👩‍👧",
    "AIza" + "x" * 35,
    "AIza" + "x" * 12,
    "access_token=ya29.",
    "[bold]x[/]",
    "word " * 60,
    "NaN",
)

ODD_NUMBERS: tuple[Any, ...] = (0, -1, 1, 2**31, -(2**63), 2**63, 2**70, 10**300, 1e308, -0.0, 0.5, 1e-300)

ODD_LITERALS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "0x10", "01", "True", "'x'", "\\u0041")
"""Spellings in place of a value, some of which are no JSON."""

MIME_TYPES = (
    "audio/pcm;rate=24000",
    "audio/pcm;rate=24000",
    "audio/pcm",
    "audio/pcm;rate=16000",
    "audio/pcm;rate=0",
    "audio/pcm;rate=-5",
    "audio/pcm;rate=999999999999",
    "audio/pcm; rate=24000;rate=x",
    "AUDIO/PCM;RATE=24000",
    "audio/opus",
    "image/png",
    "",
)

Frame = str | bytes


@cache
def captured(name: str = "server") -> tuple[dict[str, Any], ...]:
    """Return the captured messages of one side, as JSON objects."""
    lines = [json.loads(line) for line in (FRAMES / f"{name}-frames.jsonl").read_text("utf-8").splitlines()]
    if name == "client":
        return tuple(frame["json"] for line in lines for frame in line["frames"])
    return tuple(line["wire"] for line in lines if isinstance(line["wire"], dict))


@cache
def captured_texts() -> tuple[str, ...]:
    """Return the captured messages of the server, as JSON."""
    return tuple(map(json.dumps, captured()))


@cache
def words() -> tuple[str, ...]:
    """Return every key of the captured messages, in both spellings."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value)
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(list(captured()))
    return tuple(sorted(found | {_snake_case(word) for word in found}))


def _snake_case(word: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in word)


def mutate_tree(value: Any, chance: random.Random, names: tuple[str, ...] = ()) -> Any:
    """Return `value` with some node replaced, renamed, dropped or wrapped."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(list(value))
        copy = dict(value)
        roll = chance.random()
        if roll < 0.6:
            copy[key] = mutate_tree(copy[key], chance, names)
        elif roll < 0.8:
            copy[chance.choice(names or words())] = copy.pop(key)
        else:
            del copy[key]
        return copy
    if isinstance(value, list) and value and chance.random() < 0.8:
        return [mutate_tree(item, chance, names) if chance.random() < 0.5 else item for item in value]
    return _other(value, chance)


def _other(value: Any, chance: random.Random) -> Any:
    """Return something of another type or size in place of `value`."""
    roll = chance.random()
    if roll < 0.3:
        return chance.choice(ODD_TEXTS)
    if roll < 0.5:
        return chance.choice(ODD_NUMBERS)
    others: tuple[Any, ...] = (None, True, False, [], {}, [value], {"text": value}, [None], [value] * 3, "AAAA")
    return chance.choice(others)


class Fuzzer:
    """Endless source of frames; equal seeds give equal frames."""

    def __init__(self, seed: int, tools: tuple[str, ...] = ("set_timer",)) -> None:
        """`tools` are the names that calls may have."""
        self._chance = random.Random(seed)
        self._tools = tools
        self._ids = deque(["call-0"], MAX_IDS)
        self._calls = 0
        self._burst = 0
        self._kinds: tuple[Callable[[], Frame], ...] = (
            *[self._valid] * 5,
            *[self._mutated] * 8,
            *[self._sound] * 3,
            *[self._call] * 3,
            *[self._spliced] * 2,
            self._bytes_changed,
            self._bytes_changed,
            self._doubled_key,
            self._literal,
            self._nested,
            self._unknown,
            self._words,
        )

    def frame(self) -> Frame:
        """Return the next frame, as text or UTF-8."""
        if self._burst or self._chance.random() < 1 / BURST_EVERY:
            self._burst = (self._burst or BURST) - 1
            return self._chance.choice(("", "{", "[]", '{"a":NaN}', b"\xff\xfe", "9" * 5000))
        made = self._chance.choice(self._kinds)()
        if isinstance(made, str) and self._chance.random() < 0.7:
            return made.encode("utf-8", "surrogatepass")
        return made

    def _message(self) -> dict[str, Any]:
        return self._chance.choice(captured())

    def _valid(self) -> str:
        return self._chance.choice(captured_texts())

    def _mutated(self) -> Frame:
        value: Any = mutate_tree(self._message(), self._chance)
        while self._chance.random() < 0.4:
            value = mutate_tree(value, self._chance)
        return json.dumps(value)

    def _sound(self) -> Frame:
        chance = self._chance
        pcm = chance.randbytes(chance.choice((0, 1, 2, 3, 480, 961, 1920)))
        data = base64.b64encode(pcm).decode()
        roll = chance.random()
        if roll < 0.15:
            data = data.replace("+", "-").replace("/", "_")
        elif roll < 0.3:
            at = chance.randint(0, len(data))
            data = data[:at] + chance.choice(('"', "\\", "=", "%", "\n", "é", '"}}]}},"goAway":{"x":"')) + data[at:]
            if chance.random() < 0.5:
                # Not escaped: what follows it is structure where a decoder looks no closer.
                head = '{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":'
                return f'{head}"audio/pcm;rate=24000","data":"{data}"}}}}]}}}}}}'
        elif roll < 0.4:
            data = data.rstrip("=") + "A" * chance.randint(0, 3)
        blob: dict[str, Any] = {"mimeType": chance.choice(MIME_TYPES), "data": data}
        if chance.random() < 0.1:
            blob = mutate_tree(blob, chance)
        content: dict[str, Any] = {"modelTurn": {"role": "model", "parts": [{"inlineData": blob}]}}
        if chance.random() < 0.1:
            content["turnComplete"] = True
        return json.dumps({"serverContent": content}, separators=(",", ":") if chance.random() < 0.7 else None)

    def _call(self) -> Frame:
        chance = self._chance
        if chance.random() < 0.25:
            ids = chance.sample(self._ids, chance.randint(0, min(5, len(self._ids))))
            return json.dumps({"toolCallCancellation": {"ids": ids}})
        calls = []
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            args: Any = {"text": chance.choice(ODD_TEXTS), "count": chance.choice(ODD_NUMBERS)}
            if chance.random() < 0.4:
                args = mutate_tree(args, chance, ("text", "count", "other"))
            if chance.random() < 0.7:
                self._calls += 1
                self._ids.append(f"call-{self._calls}")
            call = {"id": chance.choice(self._ids), "name": chance.choice(self._tools), "args": args}
            calls.append(mutate_tree(call, chance) if chance.random() < 0.2 else call)
        if chance.random() < 0.15:
            return json.dumps({"serverContent": {"modelTurn": {"parts": [{"functionCall": call} for call in calls]}}})
        return json.dumps({"toolCall": {"functionCalls": calls}})

    def _spliced(self) -> Frame:
        """Return several messages in one."""
        whole: dict[str, Any] = {}
        for _ in range(self._chance.randint(2, 4)):
            for key, value in self._message().items():
                if isinstance(value, dict) and isinstance(whole.get(key), dict):
                    whole[key] = {**whole[key], **value}
                else:
                    whole[key] = value
        return json.dumps(whole)

    def _bytes_changed(self) -> Frame:
        chance = self._chance
        data = bytearray(self._valid().encode())
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(data))
            data[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        return bytes(data) if chance.random() < 0.5 else data.decode("latin-1")

    def _doubled_key(self) -> Frame:
        """Return a message with another value of a key that it has."""
        message = self._message()
        text = json.dumps(message)
        if not message:
            return text
        key = self._chance.choice(list(message))
        other = json.dumps(mutate_tree(message[key], self._chance))
        pair = f"{json.dumps(key)}: {other}"
        return f"{text[:-1]}, {pair}}}" if self._chance.random() < 0.5 else f"{{{pair}, {text[1:]}"

    def _literal(self) -> Frame:
        """Return a message with a value spelled as only some parsers take it."""
        marked = mutate_tree(self._message(), self._chance)
        text = json.dumps(marked)
        for old in ("true", "false", "null", "{}", "[]", '""'):
            if old in text:
                return text.replace(old, self._chance.choice(ODD_LITERALS), 1)
        return f'{text[:-1]}, "usageMetadata": {{"totalTokenCount": {self._chance.choice(ODD_LITERALS)}}}}}'

    def _nested(self) -> Frame:
        depth = self._chance.choice((5, MAX_DEPTH - 2, MAX_DEPTH, MAX_DEPTH + 1, 400, 3000))
        opened, closed = self._chance.choice((('{"a":', "}"), ("[", "]"), ('{"serverContent":', "}")))
        return f'{{"serverContent": {opened * depth}1{closed * depth}}}'

    def _unknown(self) -> Frame:
        chance = self._chance
        name = chance.choice((f"kind{chance.randrange(1000)}", *ODD_TEXTS[:12]))
        return json.dumps(
            {name: mutate_tree(self._message(), chance), **(self._message() if chance.random() < 0.3 else {})}
        )

    def _words(self) -> Frame:
        """Return long or odd words of either side."""
        chance = self._chance
        text = chance.choice(ODD_TEXTS) * chance.choice((1, 1, 3, 40))
        field = chance.choice(("inputTranscription", "outputTranscription", "interimInputTranscription"))
        return json.dumps({"serverContent": {field: {"text": text}}}, ensure_ascii=chance.random() < 0.5)


def _content(**fields: Any) -> str:
    return json.dumps({"serverContent": fields})


def _spoken(text: str) -> str:
    return _content(outputTranscription={"text": text})


def _wide(text: str) -> str:
    return json.dumps({"serverContent": {"outputTranscription": {"text": text}}}, ensure_ascii=False)


def _parts(*parts: dict[str, Any]) -> str:
    return _content(modelTurn={"parts": parts})


def _calls(*calls: dict[str, Any]) -> str:
    return json.dumps({"toolCall": {"functionCalls": calls}})


BYTES = MAX_TEXT_BYTES - 200
VALUES = MAX_VALUES - 20
KEY_SIGNS = string.ascii_letters + string.digits + "_-=./+"
TOO_LONG = 15 << 20

LARGE: dict[str, Callable[[], Frame]] = {
    "one long word": lambda: _spoken("x" * BYTES),
    "one long word like a key": lambda: _spoken("".join(random.Random(1).choices(KEY_SIGNS, k=BYTES))),
    "many words": lambda: _spoken("w " * (BYTES // 2)),
    "escaped words": lambda: _spoken("漢" * (BYTES // 3)),
    "escaped surrogates": lambda: '{"a":"' + "\\ud800x" * (BYTES // 4) + '"}',
    "wide words": lambda: _wide("漢 " * (BYTES // 4)).encode(),
    "a wide name": lambda: json.dumps({"漢" * (BYTES // 3): 1}, ensure_ascii=False),
    "emoji": lambda: _wide("🎈" * (BYTES // 4)),
    "dashes": lambda: _wide("—" * (BYTES // 3)),
    "accents": lambda: _wide("\u0301" * (BYTES // 2)),
    "joined signs": lambda: _wide("a\u200d" * (BYTES // 4)),
    "too many escaped words": lambda: _spoken("漢" * BYTES),
    "too many escaped surrogates": lambda: '{"inlineData":"' + "\\ud800" * BYTES + '"}',
    "many parts": lambda: _parts(*[{"text": "a"}] * (VALUES // 2)),
    "many fields": lambda: _content(**{f"field{number}": number for number in range(VALUES)}),
    "many kinds": lambda: json.dumps({f"kind{number}": number for number in range(VALUES)}),
    "many calls": lambda: _calls(*({"id": f"many-{number}", "name": "x"} for number in range(VALUES // 3))),
    "a long argument": lambda: _calls({"id": "long", "name": "x", "args": {"text": "a" * BYTES}}),
    "much sound": lambda: _parts({"inlineData": {"mimeType": MIME_TYPES[0], "data": "AAAA" * (1 << 20)}}),
    "too many parts": lambda: _parts(*[{"text": "a"}] * (3 * VALUES)),
    "too many characters": lambda: _spoken("x" * (MAX_TEXT_BYTES + 1)),
    "far too many characters": lambda: _spoken("x" * TOO_LONG),
    "one long number": lambda: '{"usageMetadata": {"totalTokenCount": ' + "9" * TOO_LONG + "}}",
    "commas": lambda: "[" + "," * TOO_LONG,
    "brackets": lambda: "[" * TOO_LONG,
    "braces": lambda: '{"a":' * (TOO_LONG // 5),
    "lists": lambda: '{"a":[' + "[]," * (TOO_LONG // 3),
    "texts": lambda: '{"a":[' + '"",' * (TOO_LONG // 3),
    "quotes": lambda: '{"a":"' + '\\",' * (TOO_LONG // 3),
}
"""Frames at the codec's limits and beyond, by name."""
