"""The figures of a session: sound, latencies, turns, tokens, cost. Plain counting that needs no listener.

All times are seconds of one monotonic clock, passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, OWED_PATIENCE_S
from gemini_live_runtime.session.core.turns import OpenedBy
from gemini_live_runtime.session.metrics.distribution import Distribution
from gemini_live_runtime.session.metrics.waterfall import STAGES, Answer, Input, LatencySource, Waterfall


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMetrics:
    """One turn in figures. `latency_ms` is None when nothing answered an input; token counts are by modality.

    `duration_ms`: from the turn's first activity to its completion.
    """

    turn: int
    by: OpenedBy
    interrupted: bool
    duration_ms: float
    latency_ms: float | None
    latency_source: LatencySource | None
    audio_bytes: int
    prompt: Mapping[str, int]
    response: Mapping[str, int]
    waterfall: Waterfall


@dataclass(slots=True)
class _Turn:
    number: int
    by: OpenedBy
    since: float
    ended_at: float | None = None
    answer: Answer = field(default_factory=Answer)
    answering: bool = False
    interrupted: bool = False
    bytes_before: int = 0
    """The session's count of bytes without those of this turn."""
    audio_bytes: int = 0
    prompt: Mapping[str, int] = field(default_factory=dict)
    response: Mapping[str, int] = field(default_factory=dict)


class SessionTelemetry:
    """Counts what a session does.

    Frames of an answer that was cut are reported with `cut=True` or not at all: they answer nothing.
    """

    def __init__(self, started_at: float) -> None:
        self._started_at = started_at
        self._chunks = self._bytes = 0
        self._counted_elsewhere: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self.sounding = False
        """An answer sounds: of its further chunks, only the count and the bytes are wanted."""
        self._interruptions = self._turn_count = 0
        self._response = Distribution()
        self._text = Distribution()
        self._durations = Distribution()
        self._round_trips = Distribution()
        self._stages = {name: Distribution() for name in (*STAGES, "total")}
        self._sources: dict[LatencySource, int] = {}
        self._last_source: LatencySource | None = None
        self._input: Input | None = None
        self._open: _Turn | None = None
        self._last: _Turn | None = None
        self._voice_since: float | None = None
        self._voice_until: float | None = None
        self._tokens: dict[str, dict[str, int]] = {}
        self._totals: dict[str, int] = {}
        self._cost: float | None = None
        self._prices_as_of = ""

    # The user.

    def voice_started(self, now: float, source: Literal["server_vad", "local_voice"] = "local_voice") -> None:
        """The user's voice begins: the first activity of a turn, or going on after an end that was none."""
        if self._open is None or self._open.answering or self._open.interrupted:
            fresh = self._voice_until is not None and now - self._voice_until > ANSWER_PATIENCE_S
            if self._voice_since is None or fresh:
                self._voice_since = now
            self._voice_until = None
        pending = self._input
        if pending is not None and pending.typed_at is None and pending.committed_at is None:
            if source == "local_voice":
                pending.local_at = None
            else:
                pending.server_at = None
            if pending.zero is None:
                self._input = None

    def voice_ended(
        self,
        now: float,
        source: Literal["server_vad", "local_voice"] = "local_voice",
        *,
        spoken_until: float | None = None,
    ) -> None:
        """The user's voice ended, as `source` says. `spoken_until`: when it was last heard, if that is earlier."""
        at = now if spoken_until is None else min(now, spoken_until)
        if self._voice_since is None and self._open is None:
            self._voice_since = at
        if self._voice_since is not None:
            self._voice_until = now
        answer = self._open.answer if self._open is not None and self._open.answering else None
        if source == "local_voice" and answer is not None and answer.first_frame is not None:
            told = answer.input is not None and (answer.input.local_at is not None or answer.input.typed_at is not None)
            if at <= answer.first_frame and not told:
                # The local mark waits before it says so; the answer was faster.
                answer.input = answer.input or Input()
                answer.input.local_at = at
                self._measure(answer)
                return
        pending = self._input
        known = pending is not None and (pending.server_at if source == "server_vad" else pending.local_at) is not None
        if pending is None or known or not pending.goes_with(at):
            pending = self._input = Input(while_answering=answer is not None)
        if source == "server_vad":
            pending.server_at = at
        else:
            pending.local_at = at

    def committed(self, now: float) -> None:
        """An `activityEnd` was sent: the client says that the user's turn is over."""
        if self._input is None or not self._input.goes_with(now):
            self._input = Input()
        self._input.committed_at = now

    def text_sent(self, now: float) -> None:
        """Text that the user typed went out. It replaces a spoken input that was not answered yet."""
        self._input = Input(typed_at=now)

    # The model.

    def first_model_frame(self, now: float) -> None:
        """A frame of the model's answer arrived, text or sound. May be told for each one: the first counts."""
        turn = self._open
        if turn is None or turn.answering:
            return
        turn.answering = True
        pending = self._input
        self._input = None
        if pending is not None and (pending.confirmed or not pending.is_older(now, OWED_PATIENCE_S)):
            turn.answer = Answer(input=pending, first_frame=now)
            if pending.typed_at is not None:
                self._measure(turn.answer)
        elif turn.answer.first_frame is None:
            turn.answer.first_frame = now

    def model_audio(self, now: float, byte_count: int, *, cut: bool = False) -> None:
        """A chunk of the model's audio arrived (s16le bytes as received). `cut`: of an answer that is over."""
        self._chunks += 1
        self._bytes += byte_count
        turn = self._open
        if turn is None:
            return
        if cut:
            turn.bytes_before += byte_count
            return
        self.first_model_frame(now)
        self.sounding = True
        if turn.answer.first_audio is None:
            turn.answer.first_audio = now
            self._measure(turn.answer)

    def count_also(self, counts: Callable[[], tuple[int, int]]) -> None:
        """`counts` gives the chunks and bytes so far that were not told here, but counted while an answer sounded."""
        self._counted_elsewhere = counts

    @property
    def _sound(self) -> tuple[int, int]:
        """Chunks and bytes of the model's audio so far."""
        chunks, size = self._counted_elsewhere()
        return self._chunks + chunks, self._bytes + size

    def playback_started(self, now: float, *, turn: int | None = None, device_latency_ms: float | None = None) -> None:
        """The device consumed the first sample of an answer of `turn` (None: the newest that has sound).

        It may come after the turn's completion. `device_latency_ms`: how long the device says the way to the sound is.
        """
        for known in (self._open, self._last):
            if known is not None and turn in (None, known.number) and known.answer.first_audio is not None:
                if known.answer.played_at is None:
                    known.answer.played_at, known.answer.speaker_ms = now, device_latency_ms
                    if known is self._last:
                        self._count_stages(known, ("buffer", "speaker", "total"))
                return

    def interrupted(self, now: float, turn: int | None = None) -> None:
        """The model's answer in `turn` (None: the newest) was cut."""
        self._interruptions += 1
        self.sounding = False
        for known in (self._open, self._last):
            if known is not None and turn in (None, known.number):
                known.interrupted = True
                known.answering = False
                break
        if self._input is not None:
            self._input.while_answering = False

    # Turns.

    def turn_started(self, now: float, number: int, by: OpenedBy) -> None:
        """Turn `number` begins. One opened by voice, or answering it, began with the voice."""
        since = now
        if by != "typed" and self._voice_since is not None:
            speaking = self._voice_until is None
            recent = by == "voice" if speaking else now - (self._voice_until or 0.0) <= ANSWER_PATIENCE_S
            since = min(now, self._voice_since) if recent else now
        if by == "voice" or self._voice_until is not None:
            self._voice_since = self._voice_until = None
        self._open = _Turn(number, by, since, bytes_before=self._sound[1])
        self.sounding = False

    def turn_completed(self, now: float) -> None:
        """The open turn is over."""
        turn, self._open = self._open, None
        self.sounding = False
        if turn is None:
            return
        self._turn_count += 1
        turn.audio_bytes = self._sound[1] - turn.bytes_before
        turn.ended_at = now
        self._durations.add((now - turn.since) * 1000)
        self._measure(turn.answer)
        if self._last is not None:
            _add_tokens(self._tokens, self._last)
        self._last = turn
        self._count_stages(turn, (*STAGES, "total"))
        if self._voice_until is not None and not turn.interrupted:
            self._voice_since = self._voice_until = None
        if self._input is not None and self._input.while_answering:
            self._input = None

    # The rest.

    def usage(
        self,
        prompt: Mapping[str, int],
        response: Mapping[str, int],
        cost_usd: float | None,
        *,
        totals: Mapping[str, int] | None = None,
        prices_as_of: str = "",
    ) -> None:
        """A usage message: tokens by modality, the running cost estimate of the session in US dollars.

        Of several messages in a turn the last counts for it. One that comes after a turn's completion and before the
        next answer is that turn's when it has none yet. `totals` are the server's own latest counts, by any of `total`,
        `prompt`, `response`, `cached_content`, `thoughts`. `prices_as_of` is the month of the cost's prices.
        """
        turn = self._open or self._last
        owing = self._last is not None and not (self._last.prompt or self._last.response)
        if owing and (self._open is None or self._open.answer.first_frame is None):
            turn = self._last
        if turn is None:
            turn = self._last = _Turn(0, "model", self._started_at, ended_at=self._started_at)
        turn.prompt, turn.response = dict(prompt), dict(response)
        self._cost = cost_usd
        self._prices_as_of = prices_as_of
        self._totals |= totals or {}

    def round_trip(self, ms: float) -> None:
        """A ping took `ms` there and back; answers from now on are split by it."""
        self._round_trips.add(ms)

    def turn_metrics(self) -> TurnMetrics | None:
        """The last completed turn; None before the first. Playback and usage that come later still change it."""
        turn = self._last
        if turn is None or turn.ended_at is None or turn.number == 0:
            return None
        latency = turn.answer.latency
        return TurnMetrics(
            turn=turn.number,
            by=turn.by,
            interrupted=turn.interrupted,
            duration_ms=(turn.ended_at - turn.since) * 1000,
            latency_ms=None if latency is None else latency[0],
            latency_source=None if latency is None else latency[1],
            audio_bytes=turn.audio_bytes,
            prompt=turn.prompt,
            response=turn.response,
            waterfall=turn.answer.waterfall(self._started_at),
        )

    def snapshot(self, now: float) -> dict[str, Any]:
        """Every figure as JSON values. The flat latencies are 0 before the first; the objects say None."""
        elapsed = now - self._started_at
        response = self._response
        chunks, size = self._sound
        return {
            "uptime_secs": max(0, int(elapsed)),
            "audio_chunks_out": chunks,
            "audio_kbytes_out": size // 1024,
            "audio_throughput_kbps": round(size / 1024 / elapsed, 1) if elapsed > 0 else 0.0,
            "interruptions": self._interruptions,
            "last_response_latency_ms": round(response.last or 0),
            "avg_response_latency_ms": round(response.mean or 0),
            "min_response_latency_ms": round(response.min or 0),
            "max_response_latency_ms": round(response.max or 0),
            "response_count": response.count,
            "response_latency": response.to_json(histogram=True),
            "response_latency_source": self._last_source,
            "latency_sources": dict(self._sources),
            "text_latency": self._text.to_json(histogram=True),
            "turn_count": self._turn_count,
            "avg_turn_duration_ms": round(self._durations.mean or 0),
            "turn_duration": self._durations.to_json(),
            "round_trip": self._round_trips.to_json(),
            "stages": {name: stage.to_json() for name, stage in self._stages.items()},
            "tokens_by_modality": self._tokens_by_modality(),
            "cost_usd": self._cost,
            "prices_as_of": self._prices_as_of,
        } | {f"{name}_token_count": count for name, count in self._totals.items()}

    # Inside.

    def _measure(self, answer: Answer) -> None:
        """Count the answer's latency, once."""
        latency = answer.latency
        if latency is None or answer.measured:
            return
        answer.measured = True
        if answer.round_trip_s is None and self._round_trips.last is not None:
            answer.round_trip_s = self._round_trips.last / 1000
        ms, source = latency
        (self._text if source == "typed" else self._response).add(ms)
        self._sources[source] = self._sources.get(source, 0) + 1
        if source != "typed":
            self._last_source = source

    def _count_stages(self, turn: _Turn, names: tuple[str, ...]) -> None:
        waterfall = turn.answer.waterfall(self._started_at)
        for name in names:
            ms = getattr(waterfall, f"{name}_ms")
            if ms is not None:
                self._stages[name].add(ms)

    def _tokens_by_modality(self) -> dict[str, dict[str, int]]:
        tokens = {name: dict(sides) for name, sides in self._tokens.items()}
        for turn in (self._last, self._open):
            if turn is not None:
                _add_tokens(tokens, turn)
        return tokens


def _add_tokens(tokens: dict[str, dict[str, int]], turn: _Turn) -> None:
    for side, counts in (("prompt", turn.prompt), ("response", turn.response)):
        for modality, count in counts.items():
            sides = tokens.setdefault(modality, {"prompt": 0, "response": 0})
            sides[side] += count
