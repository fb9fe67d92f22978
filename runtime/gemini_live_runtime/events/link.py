"""Events of the link to the server: sending, waiting, and losses."""

from __future__ import annotations

from typing import ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = ["LinkGivenUp", "LinkRestarting", "OutboxChanged", "SendIntended", "SendSettled"]


@keyword_record
class SendIntended(Payload):
    """Something is about to be sent.

    `text`: a typed text, on the disk before it goes out, so that an engine's end loses none; `text.sent` or
    `command.refused` with the command's id as `ref` follows. Nothing else waits for the disk. `answer`: of the call
    `ref`; `tool.finished`, `tool.acknowledged` or `send.settled` follows. `context`, `instruction`: `context.sent` or
    `instruction.updated` with the same `ref` follows, or `send.settled`. `audio`: the microphone's next second; with
    the `ref` "user:800+16000" at most 16,000 samples, from sample 800 of the track `user` on. `wire.audio` follows.
    """

    type: ClassVar[str] = "send.intended"
    kind: Literal["text", "answer", "context", "instruction", "audio"]
    ref: str
    text: str = ""


@keyword_record
class SendSettled(Payload):
    """Something that was not sent, or left open by a lost connection, has ended.

    `resent`: sent again, the server did not know it. `sent`: it had waited for a connection. `prompted`: the server
    may know it, and was asked to answer it, once. `told`: given as context. `unknown`: it may not have arrived, and was
    not sent again. `lost`: it was said to an engine that died, and has to be said again. `failed`: the connection did
    not take it. `continued`: the model was asked for the rest of its `reply`. `ref` is the id of its command or call,
    or that of `send.intended`; `text` is what the user may want to send again.
    """

    type: ClassVar[str] = "send.settled"
    kind: Literal["text", "answer", "speech", "context", "instruction", "reply"]
    outcome: Literal["resent", "sent", "prompted", "told", "unknown", "failed", "continued", "lost"]
    ref: str = ""
    text: str = ""


@keyword_record
class OutboxChanged(Payload):
    """Figures of what waits for a connection, of one kind.

    `queued` waits, `dropped` is lost, `gated` had to wait so far; texts, answers, pictures, or seconds of sound.
    """

    type: ClassVar[str] = "outbox.changed"
    kind: Literal["text", "answer", "audio", "video"]
    capacity: float
    queued: float
    dropped: float
    gated: float
    policy: Literal["refuse", "keep", "drop-oldest", "newest"]


@keyword_record
class LinkRestarting(Payload):
    """The connection will be made again in `delay_s` seconds.

    `attempt` is the attempt's number since the last stable connection. `reason` is the class of what ended it: `moved`,
    `stalled` (left because an answer did not come, or stopped), `network`, `passing`, `orderly`, `handle`, `context`,
    `message`, `fault` (of this program), `asked` by the user, or `woken` after it was dormant. `fresh`: without the
    resumption handle.
    """

    type: ClassVar[str] = "link.restarting"
    reason: str
    attempt: int
    delay_s: float
    fresh: bool = False


@keyword_record
class LinkGivenUp(Payload):
    """The connection is not made again by itself; `connect` does it.

    `reason` is the class of what ended it, as in `link.restarting`, or `refused`.
    """

    type: ClassVar[str] = "link.given_up"
    reason: str
