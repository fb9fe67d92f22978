"""Split the time from the end of the user's speech to the model's sound in stages."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from gemini_live_runtime.latency import STAGES, rounded_stages
from gemini_live_runtime.records import keyword_record, mutable_record

LatencySource: TypeAlias = Literal["server_vad", "local_voice", "typed"]
"""Source of the end of the user's input: server voice activity, local voice detection, or the Enter key."""

SAME_END_S = 3.0
"""Seconds within which two marks of an end of speech mean the same end."""

WAITED_S = 0.05
"""Seconds from the Enter key to the sending beyond which typed text has waited for a connection."""


@keyword_record
class Waterfall:
    """Latency of one answer in ms, and its stages, which add up to it.

    None for what cannot be measured. The time of such a stage is then part of its neighbour. Without a measured round
    trip the network's time is part of `server`, or of `hang_over` where the server's mark ended that. Without the end
    of the hang-over, `server` includes the hang-over too. Tools that run before the answer are part of `server`. The
    time for which the agent was held, at a breakpoint or by the operator, is part of no stage.

    `end_of_speech_s` is the zero of the waterfall, in seconds since the session's start: the end of the user's speech,
    or the Enter key. `total_ms` goes from there to the first sample at the speaker. In a session without a speaker, and
    for an answer without sound, it goes to the first words or the first sample handed over. It is None for an answer
    whose sound was not played.
    """

    source: LatencySource | None = None
    end_of_speech_s: float | None = None
    hang_over_ms: float | None = None
    """From the end of speech to the decision that the turn is over: the server's mark or our `activityEnd`.

    Of typed text: how long it waited for its connection.
    """
    uplink_ms: float | None = None
    """Half of the last round trip."""
    server_ms: float | None = None
    downlink_ms: float | None = None
    """Half of the last round trip."""
    buffer_ms: float | None = None
    """From the first audio frame's arrival to its first sample's consumption by the device."""
    speaker_ms: float | None = None
    """Output latency that the device reports: from consuming a sample to its sound."""
    total_ms: float | None = None
    first_byte_ms: float | None = None
    """From the zero to the arrival of what `total_ms` ends with: the stages without `buffer` and `speaker`."""

    def stages(self) -> dict[str, float | None]:
        """Return the stages and their sum by name, in ms with one decimal.

        They are rounded so that they add up exactly.
        """
        given = (self.hang_over_ms, self.uplink_ms, self.server_ms, self.downlink_ms, self.buffer_ms, self.speaker_ms)
        rounded = rounded_stages(dict(zip(STAGES, given, strict=True)), 1)
        total = None if self.total_ms is None else round(sum(rounded.values()), 1)
        return {**dict.fromkeys(STAGES), **rounded, "total": total}


@mutable_record
class Input:
    """End of one user input by source, in clock seconds; None: not reported."""

    local_at: float | None = None
    server_at: float | None = None
    typed_at: float | None = None
    committed_at: float | None = None
    """Time at which an `activityEnd`, or the typed text, was sent."""
    while_answering: bool = False
    """True when it ended during an answer: a back-channel, unless that answer is interrupted."""

    def is_same_end(self, at: float) -> bool:
        """Return True when an end of speech reported for `at` is this one."""
        return self.typed_at is None and self.zero is not None and abs(at - self.zero) <= SAME_END_S

    def is_older(self, now: float, seconds: float) -> bool:
        """Return True when it ended more than `seconds` before `now`."""
        return self.zero is not None and now - self.zero > seconds

    @property
    def zero(self) -> float | None:
        """End of speech or of typing; None when no source has reported it."""
        return self._end[0]

    @property
    def source(self) -> LatencySource | None:
        """Source of `zero`."""
        return self._end[1]

    @property
    def _end(self) -> tuple[float | None, LatencySource | None]:
        marks: tuple[tuple[float | None, LatencySource], ...] = (
            (self.typed_at, "typed"),
            (self.local_at, "local_voice"),
            (self.committed_at, "local_voice"),
            (self.server_at, "server_vad"),
        )
        return next(((at, source) for at, source in marks if at is not None), (None, None))

    @property
    def confirmed(self) -> bool:
        """True when it certainly was input for the model; a local mark alone may be noise."""
        return self.typed_at is not None or self.server_at is not None or self.committed_at is not None


@mutable_record
class Answer:
    """Times of one answer in clock seconds, from which its waterfall follows."""

    input: Input | None = None
    first_frame: float | None = None
    first_audio: float | None = None
    played_at: float | None = None
    speaker_ms: float | None = None
    round_trip_s: float | None = None
    holds: tuple[tuple[float, float], ...] = ()
    """Times, from and to, for which the agent was held before it came; they delayed it."""
    has_speaker: bool = True
    """True when its sound is played; otherwise it counts as soon as it is handed over."""
    is_cut: bool = False
    """True when it was interrupted, or its speaker was lost."""

    @property
    def awaits_playback(self) -> bool:
        """True when the first sample of its sound has come and may yet be played."""
        return self._is_sound and self.played_at is None and not self.is_cut

    @property
    def _is_sound(self) -> bool:
        return self.has_speaker and self.first_audio is not None

    @property
    def _arrived(self) -> float | None:
        return self.first_audio if self._is_sound else self.first_frame

    def waterfall(self, started_at: float) -> Waterfall:
        """Return the latency of the answer and its stages.

        With a server's mark `server` is exact: mark and answer took the same way down.
        """
        zero = self.input.zero if self.input is not None else None
        arrived = self._arrived
        is_played = self._is_sound and self.played_at is not None
        buffer = speaker = None
        if is_played and arrived is not None and self.played_at is not None:
            buffer, speaker = max(0.0, self.played_at - arrived), self.speaker_ms
        if self.input is None or zero is None:
            return Waterfall(buffer_ms=_ms(buffer), speaker_ms=speaker)
        found = Waterfall(
            source=self.input.source,
            end_of_speech_s=zero - started_at,
            buffer_ms=_ms(buffer),
            speaker_ms=speaker,
        )
        if arrived is None:
            return found
        hang_over, trip, server = self._way_to(arrived, self.input, zero)
        server = max(0.0, server - self._held_s(zero, arrived))
        way = (hang_over, trip, server, trip)
        first_byte = sum(part or 0.0 for part in way)
        total = first_byte * 1000 + (_ms(buffer) or 0.0) + (speaker or 0.0)
        return replace(
            found,
            hang_over_ms=_ms(hang_over),
            uplink_ms=_ms(trip),
            server_ms=_ms(server),
            downlink_ms=_ms(trip),
            total_ms=total if is_played or not self._is_sound else None,
            first_byte_ms=first_byte * 1000,
        )

    def _way_to(self, arrived: float, given: Input, zero: float) -> tuple[float | None, float | None, float]:
        """Return hang-over, one way of the network, and the server's time, in seconds."""
        hang_over: float | None = None
        ours = given.committed_at if given.committed_at is not None else given.typed_at
        theirs = given.server_at if ours is None else None
        measurable = self.round_trip_s is not None
        whole = max(0.0, arrived - zero)
        # The server's mark has come down to us like the answer, so the two differ by the server's time alone, and the
        # whole round trip is in the time before the mark. A mark or commit of ours has its trip behind it.
        if theirs is not None and zero <= theirs <= arrived:
            trip = self._trip(theirs - zero)
            hang_over = theirs - zero - trip if theirs > zero else None
            server, measurable = arrived - theirs, measurable and theirs > zero
        elif ours is not None and zero <= ours <= arrived:
            waited = given.local_at is not None if given.typed_at is None else ours - zero > WAITED_S
            hang_over = ours - zero if waited else None
            trip = self._trip(whole - (hang_over or 0.0))
            server = whole - (hang_over or 0.0) - trip
        else:
            trip = self._trip(whole)
            server = whole - trip
        return hang_over, trip / 2 if measurable else None, server

    def _held_s(self, zero: float, arrived: float) -> float:
        return sum(max(0.0, min(end, arrived) - max(start, zero)) for start, end in self.holds)

    def _trip(self, at_most: float) -> float:
        return min(self.round_trip_s or 0.0, max(0.0, at_most))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
