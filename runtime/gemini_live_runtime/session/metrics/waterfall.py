"""Where the time between the end of the user's speech and the model's sound went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

LatencySource: TypeAlias = Literal["server_vad", "local_voice", "typed"]
"""What said that the user's input was over: the server's voice activity, the local voice mark, or the Enter key."""

SAME_END_S = 3.0
"""Marks of an end of speech within this time are of the same one."""

STAGES = ("hang_over", "uplink", "server", "downlink", "buffer", "speaker")
"""The stages in the order in which they pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """One answer's stages in ms; None is "cannot be measured", and the time is then in a stage beside it.

    Without a round trip the network is in `server`, or in `hang_over` where the server's mark ended that. Without the
    end of the hang-over, that is in `server` too.

    `end_of_speech_s` is the zero of the waterfall, in seconds since the session's start. `total_ms` goes from there to
    the sound, or to the first frame of an answer without sound.
    """

    source: LatencySource | None = None
    end_of_speech_s: float | None = None
    hang_over_ms: float | None = None
    """Until the end of the turn was decided: by the server's mark, or by an `activityEnd` of ours."""
    uplink_ms: float | None = None
    """Half of the last round trip."""
    server_ms: float | None = None
    downlink_ms: float | None = None
    """Half of the last round trip."""
    buffer_ms: float | None = None
    """From the first audio frame's arrival to its first sample's consumption by the device."""
    speaker_ms: float | None = None
    """What the device says it takes from there to the sound."""
    total_ms: float | None = None

    def stages(self) -> dict[str, float | None]:
        """The stages and their sum, milliseconds to a tenth, by name without the unit."""
        found = {}
        for name in (*STAGES, "total"):
            value: float | None = getattr(self, f"{name}_ms")
            found[name] = None if value is None else round(value, 1)
        return found


@dataclass(slots=True)
class Input:
    """The end of one input of the user, by everything that told of it. Clock seconds; None: has not told."""

    local_at: float | None = None
    server_at: float | None = None
    typed_at: float | None = None
    committed_at: float | None = None
    """When an `activityEnd` was sent."""
    while_answering: bool = False
    """It ended while an answer was coming in: unless that is interrupted it was a back-channel."""

    def goes_with(self, at: float) -> bool:
        """Whether another mark of an end of speech at `at` tells of the same one."""
        return self.typed_at is None and self.zero is not None and abs(at - self.zero) <= SAME_END_S

    def is_older(self, now: float, seconds: float) -> bool:
        """Whether it ended more than `seconds` ago."""
        return self.zero is not None and now - self.zero > seconds

    @property
    def zero(self) -> float | None:
        """The end of speech, or of typing."""
        known = (self.typed_at, self.local_at, self.committed_at, self.server_at)
        return next((at for at in known if at is not None), None)

    @property
    def measured_from(self) -> tuple[float, LatencySource] | None:
        """Where the response latency begins: the server's word before the local one."""
        if self.typed_at is not None:
            return self.typed_at, "typed"
        if self.server_at is not None:
            return self.server_at, "server_vad"
        at = self.local_at if self.local_at is not None else self.committed_at
        return None if at is None else (at, "local_voice")

    @property
    def confirmed(self) -> bool:
        """Whether it certainly was input for the model; a local mark alone may have been noise."""
        return self.typed_at is not None or self.server_at is not None or self.committed_at is not None


@dataclass(slots=True)
class Answer:
    """The times of one answer, from which its waterfall follows. Clock seconds."""

    input: Input | None = None
    first_frame: float | None = None
    first_audio: float | None = None
    played_at: float | None = None
    speaker_ms: float | None = None
    round_trip_s: float | None = None
    measured: bool = False
    """Its latency has been counted."""

    @property
    def latency(self) -> tuple[float, LatencySource] | None:
        """Milliseconds from the input's end to the answer, and what told the end.

        For speech the answer is its first audio (of an answer without any: its first frame), for text its first frame.
        """
        begin = self.input.measured_from if self.input is not None else None
        if begin is None or self.first_frame is None:
            return None
        audio = self.first_audio if self.first_audio is not None else self.first_frame
        arrived = self.first_frame if begin[1] == "typed" else audio
        return max(0.0, arrived - begin[0]) * 1000, begin[1]

    def waterfall(self, started_at: float) -> Waterfall:
        """The stages. Those of a server's mark: mark and answer came down the same way, so `server` is exact."""
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

    def _trip(self, room: float) -> float:
        return min(self.round_trip_s or 0.0, max(0.0, room))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
