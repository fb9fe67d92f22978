"""Count a session's metrics: audio, latencies, turns, tokens, cost.

All times are seconds of one monotonic clock, passed in. Reports come out of order: a local end of speech may be
reported after the answer has begun (the detector waits before it reports), playback and usage after the turn has
completed. So the newest unanswered input, the open turn and the last completed one stay open to later reports. The
latency of a turn is counted once: when the turn is over and its sound was played, or will not be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from gemini_live_runtime.latency import STAGES
from gemini_live_runtime.records import keyword_record, mutable_record
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, OWED_PATIENCE_S
from gemini_live_runtime.session.core.turns import OpenedBy
from gemini_live_runtime.session.metrics.distribution import Distribution
from gemini_live_runtime.session.metrics.waterfall import Answer, Input, LatencySource, Waterfall

MAX_HOLDS = 64
"""Last times kept for which the agent was held: more within one turn count as the server's time."""

MAX_TURNS = 16
"""Completed turns whose metrics are kept: a turn's end may be worked through after the next one has ended."""


@keyword_record
class TurnMetrics:
    """Metrics of one turn; token counts are by modality.

    `latency_ms` is the sum of the waterfall's stages, None when the turn answered no input or its answer was not heard.
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


@mutable_record
class _Turn:
    number: int
    by: OpenedBy
    since: float
    ended_at: float | None = None
    answer: Answer = field(default_factory=Answer)
    answering: bool = False
    interrupted: bool = False
    settled: bool = False
    """True when its latency has been counted."""
    bytes_before: int = 0
    """Bytes of audio in the session before this turn."""
    audio_bytes: int = 0
    prompt: Mapping[str, int] = field(default_factory=dict)
    response: Mapping[str, int] = field(default_factory=dict)


class SessionTelemetry:
    """Counters of a session.

    Frames of a cut answer are reported with `cut=True` or not at all: they answer no input.
    """

    def __init__(self, started_at: float) -> None:
        self._started_at = started_at
        self._chunks = self._bytes = 0
        self._counted_elsewhere: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self.sounding = False
        """True when the open turn has audio: its further chunks only need to be counted."""
        self._has_speaker = True
        self._interruptions = self._turn_count = 0
        self._response = Distribution()
        self._text = Distribution()
        self._first_byte = Distribution()
        self._durations = Distribution()
        self._round_trips = Distribution()
        self._stages = {name: Distribution() for name in (*STAGES, "total")}
        self._sources: dict[LatencySource, int] = {}
        self._last_source: LatencySource | None = None
        self._input: Input | None = None
        self._open: _Turn | None = None
        self._last: _Turn | None = None
        self._completed: dict[int, _Turn] = {}
        self._holds: deque[tuple[float, float]] = deque(maxlen=MAX_HOLDS)
        self._voice_since: float | None = None
        self._voice_until: float | None = None
        self._tokens: dict[str, dict[str, int]] = {}
        self._totals: dict[str, int] = {}
        self._cost: float | None = None
        self._prices_as_of = ""

    # The user.

    def voice_started(self, now: float, source: Literal["server_vad", "local_voice"] = "local_voice") -> None:
        """Note that the user begins to speak, or goes on after an assumed end."""
        if self._open is None or self._open.answering or self._open.interrupted:
            new_speech = self._voice_until is not None and now - self._voice_until > ANSWER_PATIENCE_S
            if self._voice_since is None or new_speech:
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
        """Note that the user stopped speaking, as `source` reports.

        `spoken_until` is the time at which the voice was last heard, if earlier than `now`.
        """
        at = now if spoken_until is None else min(now, spoken_until)
        if self._voice_since is None and self._open is None:
            self._voice_since = at
        if self._voice_since is not None:
            self._voice_until = now
        answer = self._open.answer if self._open is not None and self._open.answering else None
        if source == "local_voice" and answer is not None and answer.first_frame is not None:
            known = answer.input is not None and (
                answer.input.local_at is not None or answer.input.typed_at is not None
            )
            if at <= answer.first_frame and not known:
                # The local detector reports an end only after its hang-over; the answer was faster.
                answer.input = answer.input or Input()
                answer.input.local_at = at
                return
        pending = self._input
        known = pending is not None and (pending.server_at if source == "server_vad" else pending.local_at) is not None
        if pending is None or known or not pending.is_same_end(at):
            pending = self._input = Input(while_answering=answer is not None)
        if source == "server_vad":
            pending.server_at = at
        else:
            pending.local_at = at

    def committed(self, now: float) -> None:
        """Note that an `activityEnd` was sent: the client ended the user's turn."""
        if self._input is None or not self._input.is_same_end(now):
            self._input = Input()
        self._input.committed_at = now

    def text_sent(self, now: float, *, typed_at: float | None = None) -> None:
        """Note that text typed at `typed_at` (None: now) was sent.

        It replaces a spoken input without an answer.
        """
        self._input = Input(typed_at=now if typed_at is None else min(typed_at, now), committed_at=now)

    # The model.

    def first_model_frame(self, now: float) -> None:
        """Note a frame of the model's answer, text or audio; only the first counts."""
        turn = self._open
        if turn is None or turn.answering:
            return
        turn.answering = True
        pending = self._input
        self._input = None
        if turn.interrupted and turn.by == "typed" and turn.answer.first_frame is not None:
            # The turn goes on: what was broken off answered something earlier than the text.
            pending, turn.answer, turn.interrupted = pending or turn.answer.input, Answer(), False
        if pending is not None and (pending.confirmed or not pending.is_older(now, OWED_PATIENCE_S)):
            turn.answer = Answer(input=pending)
        elif turn.answer.first_frame is not None:
            return
        # Else an answer to no input, or to a local mark too old to be its cause.
        turn.answer.first_frame, turn.answer.has_speaker = now, self._has_speaker
        turn.answer.holds = tuple(self._holds)
        # The round trip of now: later pings do not change an answer that has begun.
        if self._round_trips.last is not None:
            turn.answer.round_trip_s = self._round_trips.last / 1000

    def released(self, now: float, held_s: float) -> None:
        """Note that the agent goes on after it was held for `held_s` seconds.

        The latency of an answer that comes after that leaves them out. One that came meanwhile was not delayed.
        """
        self._holds.append((now - held_s, now))

    def model_audio(self, now: float, byte_count: int, *, cut: bool = False) -> None:
        """Count a chunk of the model's audio (`byte_count` bytes of s16le).

        `cut`: the chunk belongs to an answer that was cut.
        """
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

    def add_counter(self, counts: Callable[[], tuple[int, int]]) -> None:
        """Add the chunks and bytes that `counts` returns to the totals.

        It returns what its owner has counted so far, while `sounding`, without a call to `model_audio`.
        """
        self._counted_elsewhere = counts

    @property
    def _sound(self) -> tuple[int, int]:
        """Number of chunks and bytes of the model's audio so far."""
        chunks, size = self._counted_elsewhere()
        return self._chunks + chunks, self._bytes + size

    def speaker_changed(self, is_open: bool) -> None:
        """Note that a speaker was opened, or that none is left.

        Then sound that waits will not be played. A session is assumed to have one until this is called.
        """
        self._has_speaker = is_open
        for known in (self._open, self._last):
            if known is not None and not is_open and known.answer.awaits_playback:
                known.answer.is_cut = True
        self._settle_last()

    def on_playback_started(
        self, now: float, *, turn: int | None = None, device_latency_ms: float | None = None
    ) -> None:
        """Note that the device consumed the first sample of an answer.

        `turn` is the answer's turn; None is the newest with audio. May come after the turn's completion.
        `device_latency_ms` is the output latency that the device reports.
        """
        for known in (self._open, self._last):
            if known is not None and turn in (None, known.number) and known.answer.first_audio is not None:
                if known.answer.awaits_playback:
                    known.answer.played_at, known.answer.speaker_ms = now, device_latency_ms
                    self._settle_last()
                return

    def interrupted(self, now: float, turn: int | None = None) -> None:
        """Note that the model's answer in `turn` (None: the newest) was cut."""
        self._interruptions += 1
        self.sounding = False
        for known in (self._open, self._last):
            if known is not None and turn in (None, known.number):
                known.interrupted = known.answer.is_cut = True
                known.answering = False
                break
        self._settle_last()
        if self._input is not None:
            self._input.while_answering = False

    @property
    def latency_so_far_ms(self) -> float | None:
        """Latency of the open turn in ms; None while it is not known."""
        return None if self._open is None else self._open.answer.waterfall(self._started_at).stages()["total"]

    def awaits_playback(self, number: int) -> bool:
        """Return True when a completed turn's sound may yet be played."""
        return self._last is not None and self._last.number == number and not self._last.settled

    # Turns.

    def turn_started(self, now: float, number: int, by: OpenedBy) -> None:
        """Note that turn `number` begins.

        A turn opened by voice, or answering it, counts from the start of the voice.
        """
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
        """Note that the open turn is over."""
        turn, self._open = self._open, None
        self.sounding = False
        if turn is None:
            return
        self._turn_count += 1
        turn.audio_bytes = self._sound[1] - turn.bytes_before
        turn.ended_at = now
        self._durations.add((now - turn.since) * 1000)
        if self._last is not None:
            _add_tokens(self._tokens, self._last)
            self._settle(self._last)
        self._last = self._completed[turn.number] = turn
        if len(self._completed) > MAX_TURNS:
            del self._completed[next(iter(self._completed))]
        self._settle_last()
        # The voice that interrupted an answer belongs to the next turn.
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
        """Record a usage message: tokens by modality and the session's cost so far.

        `cost_usd` is in US dollars; None for a model of unknown price. The last message in a turn counts for it. A
        message between a turn's completion and the next answer belongs to the completed turn if that has none. `totals`
        are the server's own latest counts, by any of `total`, `prompt`, `response`, `cached_content`, `thoughts`.
        `prices_as_of` is the month of the cost's prices.
        """
        turn = self._open or self._last
        last_lacks_usage = self._last is not None and not (self._last.prompt or self._last.response)
        if last_lacks_usage and (self._open is None or self._open.answer.first_frame is None):
            turn = self._last
        if turn is None:
            turn = self._last = _Turn(0, "model", self._started_at, ended_at=self._started_at)
        turn.prompt, turn.response = dict(prompt), dict(response)
        self._cost = cost_usd
        self._prices_as_of = prices_as_of
        self._totals |= totals or {}

    def round_trip(self, ms: float) -> None:
        """Record a ping's round trip of `ms`; waterfalls of later answers use it."""
        self._round_trips.add(ms)

    def turn_metrics(self, number: int | None = None) -> TurnMetrics | None:
        """Return the metrics of a completed turn, or None without it.

        `number` is one of the last 16; None is the last. Playback and usage reported later still change the last one.
        """
        turn = self._last if number is None else self._completed.get(number)
        if turn is None or turn.ended_at is None or turn.number == 0:
            return None
        waterfall = turn.answer.waterfall(self._started_at)
        return TurnMetrics(
            turn=turn.number,
            by=turn.by,
            interrupted=turn.interrupted,
            duration_ms=(turn.ended_at - turn.since) * 1000,
            latency_ms=waterfall.total_ms,
            latency_source=waterfall.source,
            audio_bytes=turn.audio_bytes,
            prompt=turn.prompt,
            response=turn.response,
            waterfall=waterfall,
        )

    def snapshot(self, now: float) -> dict[str, Any]:
        """Return every figure as JSON values.

        Without measurements the flat latencies are 0 and those in objects are None.
        """
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
            "first_byte": self._first_byte.to_json(),
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

    def _settle_last(self) -> None:
        """Count the last completed turn's latency, unless that waits for playback."""
        turn = self._last
        if turn is not None and not turn.answer.awaits_playback:
            self._settle(turn)

    def _settle(self, turn: _Turn) -> None:
        """Count a turn's latency and its stages, once."""
        if turn.settled:
            return
        turn.settled = True
        waterfall = turn.answer.waterfall(self._started_at)
        for name in (*STAGES, "total"):
            ms = getattr(waterfall, f"{name}_ms")
            if ms is not None:
                self._stages[name].add(ms)
        if waterfall.first_byte_ms is not None:
            self._first_byte.add(waterfall.first_byte_ms)
        if waterfall.total_ms is None or waterfall.source is None:
            return
        (self._text if waterfall.source == "typed" else self._response).add(waterfall.total_ms)
        self._sources[waterfall.source] = self._sources.get(waterfall.source, 0) + 1
        if waterfall.source != "typed":
            self._last_source = waterfall.source

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
