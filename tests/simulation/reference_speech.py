"""Judge speech: turns, the words of both sides, and the audio that is played."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.simulation.rules import Rule

ASIDE = ("state.changed", "session.state", "speech.changed")
"""Types of events that may come between the end of a turn and the beginning of the next."""

NO_ANSWER_S = 20.0
"""A voice turn without any answer ends after so long (the session's documented patience)."""


class Turns(Rule):
    """Turns are numbered densely, one at a time, and begin and end for a reason.

    A turn ends when it has to.
    """

    def __init__(self, *, soft_turns: bool) -> None:
        self.soft_turns = soft_turns
        self.number = 0
        self.open = self.answered = False
        self.must_end = ""
        self.cause = ""
        self.ended_at_rest = True
        self.by: dict[int, str] = {}
        self.outcomes: dict[int, str] = {}
        self.call_turns: dict[str, int] = {}
        self.is_draining = False
        self.taken_back: set[int] = set()
        """Turns in which the server cancelled a call."""
        self.overtaking: set[int] = set()
        """Typed turns that began while something earlier had no answer: what comes may be that answer."""
        self._is_owed = False
        self._frame: dict[str, Any] = {}
        self._sounds = 0
        self._text_due = False
        self._typed_due = False
        self._is_cut_by_hand = self._is_cut_by_voice = False
        """True when the operator, or words of the frame that came last, have cut what was said."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind in ("action", "command"):
            self._has_ended()
            self._frame = {}
        if kind == "command":
            self.cause = data["order"]
        elif kind == "queued":
            self._sounds -= 1
        elif kind == "sent":
            # Sound makes no event of its own when it arrives, so what was sent may begin a turn.
            parts = data["frame"].get("serverContent", {}).get("modelTurn", {}).get("parts", ())
            self._sounds += sum(1 for part in parts if "inlineData" in part)

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if self._text_due and event["type"] not in ASIDE:
            self.check(event["type"] == "text.sent", f"turn {self.number} began without a text")
            self._text_due = False
        if self._typed_due and event["type"] not in ASIDE:
            typed = event["type"] == "turn.started" and data["by"] == "typed"
            self.check(typed, f"turn {self.number} ended, nobody said so")
            self._typed_due = False
        match event["type"]:
            case "wire.message" if data["direction"] == "received":
                self._has_ended()
                self._frame = data["frame"]
                self._is_cut_by_voice = self._is_cut_by_hand = False
                self.cause = "server"
                if self._frame.get("serverContent", {}).get("interrupted"):
                    # It may have been the answer to an earlier text; the one to the newest is still to come.
                    self.answered = False
                cancelled = self._frame.get("toolCallCancellation", {}).get("ids", ())
                self.taken_back.update(self.call_turns[ident] for ident in cancelled if ident in self.call_turns)
            case "notice" if data["code"] == "draining":
                self.is_draining = True
            case "tool.called":
                self.call_turns[data["call_id"]] = event["turn"]
            case "connection.closed":
                self._has_ended()
                self.cause = "closed"
                if self.open and self.answered and self.number not in self.overtaking and not data["requested"]:
                    # What has no answer yet outlives the connection.
                    self.must_end = "the connection is gone"
            case "connection.ready":
                self.cause = "ready"
                self._frame = {}
            case "voice.marked" | "prompt.changed":
                self._is_owed = True
            case "tool.finished" if data["delivered"]:
                # The model may be about to tell the result.
                self._is_owed = True
            case "transcript.delta" if data["side"] == "model" and data["channel"] != "thought":
                self._is_owed = False
                self.answered = self.answered or event["turn"] == self.number
            case "turn.started":
                self._started(event["turn"], data["by"])
            case "turn.completed":
                self._completed(event["turn"], data)
            case "speech.changed" if data["status"] == "interrupted":
                # One that was interrupted before it began is cut when it does.
                self._is_cut_by_hand = True
            case "turn.interrupted":
                if self.open and data["by"] == "operator":
                    self.must_end = "the operator interrupted"
                if data["by"] == "voice":
                    said = self._frame.get("serverContent", {})
                    answers = "modelTurn" in said or "outputTranscription" in said or self._sounds > 0
                    self.check("inputTranscription" in said or answers, "cut by a voice without words or an answer")
                    self._is_cut_by_voice = True
                self.check(event["turn"] <= self.number, "a turn to come was interrupted")

    def _started(self, number: int, by: str) -> None:
        self.check(not self.open, f"turn {number} began within turn {self.number}")
        self.check(number == self.number + 1, f"turn {number} followed {self.number}")
        content = self._frame.get("serverContent", {})
        if by == "voice":
            self.check("inputTranscription" in content, f"turn {number} began without words of the user")
        elif by == "typed":
            self._text_due = True
        else:
            spoke = "outputTranscription" in content or "modelTurn" in content or "toolCall" in self._frame
            self.check(spoke or self._sounds > 0, f"turn {number} began although the model said nothing")
        self.number, self.open, self.must_end, self.answered = number, True, "", False
        self.by[number] = by
        if by == "typed" and self._is_owed:
            self.overtaking.add(number)

    def _completed(self, number: int, data: dict[str, Any]) -> None:
        self.check(self.open and number == self.number, f"turn {number} ended, the open one is {self.number}")
        content = self._frame.get("serverContent", {})
        reason = data["reason"]
        if reason == "soft turn":
            self.check(self.soft_turns, "a soft turn nobody asked for")
            self.check(data["outcome"] == "empty", "a soft turn in which the model spoke")
        elif reason == "no answer":
            may_be_silent = self.by[number] == "voice" or number in self.taken_back or self.is_draining
            self.check(may_be_silent, "silence is no answer to a typed text")
        elif data["outcome"] == "complete":
            self._typed_due = "turnComplete" not in content
        elif data["outcome"] == "interrupted":
            by_voice = self._is_cut_by_voice and "inputTranscription" in content
            said = "interrupted" in content or by_voice or self._is_cut_by_hand
            self._typed_due = not said and self.cause not in ("closed", "interrupt")
        self.open, self.must_end, self._is_owed = False, "", data["outcome"] == "empty"
        self.outcomes[number] = data["outcome"]

    def _has_ended(self) -> None:
        self.check(not self.must_end, f"turn {self.number} is still open although {self.must_end}")

    def end(self, facts: dict[str, Any]) -> None:
        if facts["rest"] and facts["rest"]["wire"] == "open":
            self.check(not self.open, f"turn {self.number} never ended")


class Words(Rule):
    """Received words are reported once, verbatim, in order.

    The transcript keeps the spoken and the played part.
    """

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.due: list[tuple[str, str, str]] = []
        self.user: defaultdict[int, str] = defaultdict(str)
        self.model: defaultdict[int, list[str]] = defaultdict(list)
        self.gens: defaultdict[int, set[int]] = defaultdict(set)
        self.said: defaultdict[int, str] = defaultdict(str)
        """Words of the model by generation."""
        self.places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """Beginnings of the deltas of a generation: character and sample."""
        self.complete: set[int] = set()
        self.spoken: set[int] = set()
        """Generations with a transcript of speech."""
        self.reading = False
        """True in text mode, where the user reads."""
        self.is_left = False
        """True while the connection of an agent before is being left: nothing of it is heard."""
        self.turn_of: dict[int, int] = {}
        self.latest: dict[int, int] = {}
        """The newest turn that had ended when a turn's first words came."""
        self.cuts: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        """Generations that were cut in a turn, and what was heard of them."""
        self.broken: set[int] = set()
        """Turns in whose answers the connection ended."""
        self.chosen: list[tuple[str, str]] = []
        """Texts of the user and the model that have replaced what was said."""
        self.first = 1
        """First turn after that."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "queued":
            # An answer may begin with its sound.
            self.turn_of.setdefault(data["gen"], self.turns.number)

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "agent.handed_off":
                self.is_left = data["via"] == "connection"
            case "chat.replaced":
                user, model = (message["text"] for message in data["messages"])
                self.chosen, self.first = [(user, model)], self.turns.number + (not self.turns.open)
            case "connection.ready":
                self.is_left = False
            case "wire.message" if data["direction"] == "received":
                self.check(not self.due, f"never told: {self.due}")
                self._received(data["frame"].get("serverContent", {}))
            case "transcript.delta":
                self._told(event, data)
            case "generation.completed":
                self.complete.add(event["gen"])
            case "text.sent":
                self.user[event["turn"]] += data["text"]
            case "control.changed":
                self.reading = data["mode"] == "text"
            case "turn.interrupted":
                self._interrupted(event, data)
            case "turn.completed" if data["broke_off"]:
                self.check(not self.complete & self.gens[event["turn"]], "a whole answer broke off")
                self.broken.add(event["turn"])

    def _received(self, content: dict[str, Any]) -> None:
        if self.is_left:
            return
        if "inputTranscription" in content:
            self.due.append(("user", "speech", content["inputTranscription"]["text"]))
        for part in content.get("modelTurn", {}).get("parts", ()):
            if "text" in part:
                self.due.append(("model", "thought" if part.get("thought") else "text", part["text"]))
        if "outputTranscription" in content:
            self.due.append(("model", "speech", content["outputTranscription"]["text"]))

    def _told(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        self.check(bool(self.due), f"{data['text']!r} was told and never said")
        due = self.due.pop(0)
        self.check((data["side"], data["channel"], data["text"]) == due, f"{due} was told as {data}")
        turn, gen = event["turn"], event["gen"]
        if data["side"] == "user":
            self.check(self.turns.open and turn == self.turns.number, f"the user spoke in turn {turn}, which is over")
            self.user[turn] += data["text"]
        elif data["channel"] != "thought":
            if gen not in self.turn_of:
                self.turn_of[gen] = turn
                self.check(turn == self.turns.number, f"an answer that begins in turn {self.turns.number} is of {turn}")
            self.check(self.turn_of[gen] == turn, f"an answer of turn {self.turn_of[gen]} goes on in turn {turn}")
            self.model[turn].append(data["text"])
            self.latest.setdefault(turn, self.turns.number - self.turns.open)
            self.gens[turn].add(gen)
            if data["sample"] is not None:
                self.places[gen].append((len(self.said[gen]), data["sample"]))
            self.said[gen] += data["text"]
            if data["channel"] == "speech":
                self.spoken.add(gen)

    def _interrupted(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        gen, heard, unheard = event["gen"], data["heard_text"], data["unheard_text"]
        self.check(heard + unheard == self.said[gen], f"{heard!r} and {unheard!r} are not {self.said[gen]!r}")
        total = data["heard_samples"] + data["unheard_samples"]
        if total:
            later = [at for at, sample in self.places[gen] if sample > data["heard_samples"]]
            self.check(gen in self.complete or len(heard) <= min(later, default=len(heard)), f"{heard!r} was not heard")
            self.check(not unheard or unheard[0].isspace() or not heard, f"{heard!r} ends within a word")
            self.check(gen not in self.complete or data["unheard_samples"] or not unheard, f"{unheard!r} was heard")
        else:
            read = self.reading or gen not in self.spoken
            self.check(not heard or read, f"{heard!r} was heard without a sound")
            self.check(not unheard or not read, f"{unheard!r} was read and counts as unheard")
        self.cuts[event["turn"]].append((gen, heard))

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.due, f"never told: {self.due}")
        chosen = [(turn["user"], turn["model"]) for turn in facts["transcript"] if not turn["number"]]
        self.check(chosen == self.chosen, f"{chosen} was chosen, not {self.chosen}")
        kept = {turn["number"]: turn for turn in facts["transcript"] if turn["number"]}
        for number in range(self.first, self.turns.number + 1):
            if number == self.turns.number and self.turns.open:
                continue
            if number not in kept and not self.user[number] and self.latest.get(number, 0) > number:
                # It was cut before its first word, which came after the end of the next turn: too late to be kept.
                continue
            turn = kept.pop(number, {"user": "", "model": "", "unheard": "", "interrupted": False})
            self.check(turn["user"] == self.user[number], f"turn {number}: {turn['user']!r} is not what the user said")
            said = "".join(self.model[number])
            if len(self.gens[number]) <= 1:
                self.check(turn["model"] + turn["unheard"] == said, f"turn {number}: {turn} is not {said!r}")
                if said and [gen for gen, _ in self.cuts[number]] == list(self.gens[number]):
                    heard = self.cuts[number][0][1]
                    self.check(
                        turn["model"] == heard, f"turn {number}: {turn['model']!r} was kept, {heard!r} was heard"
                    )
                    self.check(turn["interrupted"], f"turn {number} was interrupted")
            else:
                pieces = turn["model"].split() + turn["unheard"].split()
                self.check(sorted(pieces) == sorted(said.split()), f"turn {number}: {turn} is not {said!r}")
            self.check(not turn["unheard"] or turn["interrupted"], f"turn {number}: unheard, and not interrupted")
            if number in self.broken:
                self.check(turn["interrupted"] or not said, f"turn {number} broke off")
            elif not self.cuts[number]:
                self.check(not turn["interrupted"], f"turn {number} was not interrupted")
        self.check(not kept, f"turns that never were: {sorted(kept)}")


class Sound(Rule):
    """Cut audio is never played; other audio is played whole and in order.

    All of it is counted.
    """

    def __init__(self) -> None:
        self.answer_of: dict[int, int] = {}
        """The server's answer that a frame belongs to; answers are counted from 1 as the server ends them."""
        self.counts: dict[int, int] = {}
        self.played: defaultdict[int, int] = defaultdict(int)
        self.order: list[int] = []
        self.gen_of: dict[int, int] = {}
        self.cut: set[int] = set()
        self.sent_answer = 1
        self.answer = 1
        self.begun = False
        self.bound = 0
        self.next_line_answer: dict[int, int] = {}
        self.line = 0
        self.command = ""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "sent":
                self._sent(data["frame"])
            case "opened":
                # A new connection begins a new answer, whatever the last one left unsaid.
                self.sent_answer += 1
                self.next_line_answer[data["line"]] = self.sent_answer
            case "queued":
                self.begun = True
                frame = data["frame"]
                self.check(
                    data["gen"] >= self.bound, f"frame {frame} of generation {data['gen']}, cut below {self.bound}"
                )
                self.counts[frame] = data["count"]
                self.gen_of[frame] = data["gen"]
                if data["taken"]:
                    self.order.append(frame)
                self.check(self.answer_of[frame] not in self.cut, f"frame {frame} of an answer that was cut")
            case "played":
                self._play(data["frame"], data["count"])

    def _sent(self, frame: dict[str, Any]) -> None:
        content = frame.get("serverContent", {})
        for part in content.get("modelTurn", {}).get("parts", ()):
            if "inlineData" in part:
                self.answer_of[len(self.answer_of) + 1] = self.sent_answer
        if "turnComplete" in content or "interrupted" in content:
            self.sent_answer += 1

    def _play(self, frame: int, count: int) -> None:
        self.check(self.answer_of[frame] not in self.cut, f"frame {frame} was played after its answer was cut")
        self.check(self._waiting[:1] == [frame], f"frame {frame} was played, {self._waiting[:1]} was next")
        self.played[frame] += count
        self.check(self.played[frame] <= self.counts[frame], f"frame {frame} was played twice")

    @property
    def _waiting(self) -> list[int]:
        return [frame for frame in self.order if self.played[frame] < self.counts[frame] and not self._is_cut(frame)]

    def _is_cut(self, frame: int) -> bool:
        return self.answer_of[frame] in self.cut or self.gen_of[frame] < self.bound

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "wire.message" if data["direction"] == "received":
                self._received(data["frame"].get("serverContent", {}))
            case "connection.ready":
                self.line += 1
            case "turn.interrupted":
                self.bound = max(self.bound, data["cut_below"])
                self._cut()
                heard = sum(self.played[frame] for frame, gen in self.gen_of.items() if gen == event["gen"])
                self.check(data["heard_samples"] == heard, f"{heard} samples were heard, not {data['heard_samples']}")
            case "text.sent":
                self._cut()

    def _received(self, content: dict[str, Any]) -> None:
        parts = content.get("modelTurn", {}).get("parts", ())
        spoke = any("inlineData" in part or ("text" in part and not part.get("thought")) for part in parts)
        self.begun = self.begun or spoke or "outputTranscription" in content
        if "interrupted" in content:
            self._cut()
        if "turnComplete" in content or "interrupted" in content:
            self.begun = False

    def _cut(self) -> None:
        """Cut all audio that has arrived, and the rest of an answer that has begun."""
        arrived = {self.answer_of[frame] for frame in self.counts}
        self.cut |= arrived

    def end(self, facts: dict[str, Any]) -> None:
        if facts["rest"] and facts["rest"]["quiet"]:
            left = [
                frame for frame in self.order if self.played[frame] < self.counts[frame] and not self._is_cut(frame)
            ]
            self.check(not left, f"frames {left} were never played")
