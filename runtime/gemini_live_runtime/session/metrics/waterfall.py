"""Split the time from the end of the user's speech to the model's sound in stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

LatencySource: TypeAlias = Literal["server_vad", "local_voice", "typed"]
"""Source of the end of the user's input: server voice activity, local voice detection, or the Enter key."""

SAME_END_S = 3.0
"""Seconds within which two marks of an end of speech mean the same end."""

STAGES = ("hang_over", "uplink", "server", "downlink", "buffer", "speaker")
"""Stages in the order in which they pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """Stages of one answer in ms; None for a stage that cannot be measured.

    The time of such a stage is then part of its neighbour. Without a measured round trip the network's time is part of
    `server`, or of `hang_over` where the server's mark ended that. Without the end of the hang-over, `server` includes
    the hang-over too.

    `end_of_speech_s` is the zero of the waterfall, in seconds since the session's start. `total_ms` goes from there to
    the sound, or to the first frame of an answer without sound.
    """

    source: LatencySource | None = None
    end_of_speech_s: float | None = None
    hang_over_ms: float | None = None
    """From the end of speech to the decision that the turn is over: the server's mark or our `activityEnd`."""
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

    def stages(self) -> dict[str, float | None]:
        """Return the stages and their sum by name, in ms rounded to a tenth."""
        found = {}
        for name in (*STAGES, "total"):
            value: float | None = getattr(self, f"{name}_ms")
            found[name] = None if value is None else round(value, 1)
        return found


@dataclass(slots=True)
class Input:
    """End of one user input by source, in clock seconds; None: not reported."""

    local_at: float | None = None
    server_at: float | None = None
    typed_at: float | None = None
    committed_at: float | None = None
    """Time at which an `activityEnd` was sent."""
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
        known = (self.typed_at, self.local_at, self.committed_at, self.server_at)
        return next((at for at in known if at is not None), None)

    @property
    def measured_from(self) -> tuple[float, LatencySource] | None:
        """Start of the response latency and its source.

        The server's mark takes precedence over the local one.
        """
        if self.typed_at is not None:
            return self.typed_at, "typed"
        if self.server_at is not None:
            return self.server_at, "server_vad"
        at = self.local_at if self.local_at is not None else self.committed_at
        return None if at is None else (at, "local_voice")

    @property
    def confirmed(self) -> bool:
        """True when it certainly was input for the model; a local mark alone may be noise."""
        return self.typed_at is not None or self.server_at is not None or self.committed_at is not None


@dataclass(slots=True)
class Answer:
    """Times of one answer in clock seconds, from which its waterfall follows."""

    input: Input | None = None
    first_frame: float | None = None
    first_audio: float | None = None
    played_at: float | None = None
    speaker_ms: float | None = None
    round_trip_s: float | None = None
    measured: bool = False
    """True when its latency has been counted."""

    @property
    def latency(self) -> tuple[float, LatencySource] | None:
        """Milliseconds from the input's end to the answer, and the source of that end.

        For speech the answer begins with its first audio (without audio: its first frame), for text with its first
        frame.
        """
        begin = self.input.measured_from if self.input is not None else None
        if begin is None or self.first_frame is None:
            return None
        audio = self.first_audio if self.first_audio is not None else self.first_frame
        arrived = self.first_frame if begin[1] == "typed" else audio
        return max(0.0, arrived - begin[0]) * 1000, begin[1]

    def waterfall(self, started_at: float) -> Waterfall:
        """Return the stages of the answer.

        With a server's mark `server` is exact: mark and answer took the same way down.
        """
        hang_over = uplink = server = total = None
        zero = self.input.zero if self.input is not None else None
        arrived = self.first_audio if self.first_audio is not None else self.first_frame
        end = self.played_at if self.played_at is not None else self.first_frame if self.first_audio is None else None
        if self.input is not None and zero is not None and arrived is not None:
            ours = self.input.committed_at if self.input.committed_at is not None else self.input.typed_at
            theirs = self.input.server_at if ours is None else None
            whole = max(0.0, arrived - zero)
            trip = 0.0
            measurable = self.round_trip_s is not None
            # The server's mark has come down to us like the answer, so the two differ by the server's time alone, and
            # the whole round trip is in the time before the mark. A mark or commit of ours has its trip behind it.
            if theirs is not None and zero <= theirs <= arrived:
                trip = self._trip(theirs - zero)
                hang_over = theirs - zero - trip if theirs > zero else None
                server, measurable = arrived - theirs, measurable and theirs > zero
            elif ours is not None and ours <= arrived:
                spoken = self.input.typed_at is None and self.input.local_at is not None
                hang_over = ours - zero if spoken and ours >= zero else None
                trip = self._trip(whole - (hang_over or 0.0))
                server = whole - (hang_over or 0.0) - trip
            else:
                trip = self._trip(whole)
                server = whole - trip
            uplink = trip / 2 if measurable else None
            if end is not None:
                total = max(0.0, end - zero) + (self.speaker_ms or 0.0) / 1000
        buffer = None
        if self.played_at is not None and self.first_audio is not None:
            buffer = max(0.0, self.played_at - self.first_audio)
        begin = self.input.measured_from if self.input is not None else None
        return Waterfall(
            source=begin[1] if begin is not None else None,
            end_of_speech_s=None if zero is None else zero - started_at,
            hang_over_ms=_ms(hang_over),
            uplink_ms=_ms(uplink),
            server_ms=_ms(server),
            downlink_ms=_ms(uplink),
            buffer_ms=_ms(buffer),
            speaker_ms=self.speaker_ms if self.played_at is not None else None,
            total_ms=_ms(total),
        )

    def _trip(self, at_most: float) -> float:
        return min(self.round_trip_s or 0.0, max(0.0, at_most))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
