"""Print a session as lines of text that never change once printed.

Used by `talk --plain`, `replay --plain`, the text export and previews; fit for screen readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.agent_lines import AgentLines
from gemini_live_runtime.journal.completion.missing_parts import Completion
from gemini_live_runtime.journal.fold.blocks import last_notices, open_call
from gemini_live_runtime.journal.fold.link_blocks import LOST, sentences
from gemini_live_runtime.journal.fold.session_fold import apply, call_key
from gemini_live_runtime.journal.fold.view import Block, Dirty, LogLine, SessionView

_CONTINUED = "\n    "

_ALL_PRINTED = 3
"""Notices of one kind that are printed each; of more, the 10th, the 100th and so on."""

_AMENDING = (ev.ConnectionClosed, ev.LinkRestarting, ev.ConnectionReady, ev.OutboxChanged, ev.SendSettled)
"""Events that add sentences to the notice of a lost connection."""

_OWN_LABELS = frozenset(("agent", "phase", "watch", "refused", "held", "mark", "edit"))


class PlainWriter:
    """Writer of a session's events as lines of text.

    A block of the transcript becomes a line when it is complete. Lines begin with `user:`, `model:`, `thought:`,
    `tool:`, `agent:`, `phase:`, `watch:`, `refused:`, `held:`, `mark:`, `edit:`, `notice:`, `state:`, `session:` or
    `log:`; further lines of a block are indented, so that no text of a session can forge a line. With `times` each line
    starts with its session time, `mm:ss.t`. `within` selects, by time and turn, what is printed. `agent` adds the
    agent's state and decisions; without `states` the changes of the session's state are left out.
    """

    def __init__(
        self,
        *,
        times: bool = False,
        within: Callable[[float, int], bool] | None = None,
        agent: AgentLines | None = None,
        states: bool = True,
    ) -> None:
        self.view = SessionView()
        self._agent = agent
        self._states = states
        self._within = within or (lambda t, turn: True)
        self._times = times
        self._unprinted: dict[int, Block] = {}
        self._changeable: dict[int, None] = {}
        """Ids of the unprinted blocks that the next event may change."""
        self._counts: dict[int, int] = {}
        """Numbers of notices that the last blocks stand for, by the block's id."""
        self._seen = 0
        self._link_parts: set[str] = set()
        """Sentences of the notice of a lost connection that were printed, since the loss."""
        self._is_connected = False

    def feed(self, event: ev.Event) -> list[str]:
        """Return the lines that became final with `event`, without newlines."""
        view, before = self.view, self.view.word
        payload = event.payload
        call = open_call(view, call_key(payload.call_id)) if isinstance(payload, ev.ToolFinished) else None
        if call is not None:
            self._changeable[view.blocks[call].id] = None
        dirty = apply(view, event)
        lines: list[str] = []
        within = self._within(event.t, event.turn)
        if isinstance(payload, ev.SessionStarted) and within:
            model = f", model {view.model}" if view.model else ""
            record = {"off": "not recorded", "text": "recording text", "audio": "recording sound"}[view.record]
            lines.append(f"session: {view.session_id}, agent {view.agent}, {view.backend}{model}, {record}")
        if dirty & (Dirty.TRANSCRIPT | Dirty.NOTICES):
            lines += self._finished()
            lines += self._repeated()
            lines += self._amended(payload)
        if isinstance(payload, ev.SessionEnded):
            lines += self.rest()
            if within:
                lines.append(f"session: ended, {view.ended}")
        elif not within:
            pass
        elif isinstance(payload, ev.SessionState) and view.word != before:
            if self._states:
                lines.append(f"state: {view.word}" + (f" ({view.word_reason})" if view.word_reason else ""))
        elif isinstance(payload, ev.Log) and payload.level != "debug":
            lines.append(f"log: {_log_text(view.log[-1])}")
        if self._agent is not None and within:
            lines += self._agent.lines(event, view)
        return [self._stamped(event.t, line) for line in lines]

    def completed(self, completion: Completion) -> list[str]:
        """Return the line that says what an incomplete run lacks."""
        line = f"session: incomplete: {completion.words}"
        return [] if completion.is_complete else [self._stamped(self.view.t, line)]

    def rest(self) -> list[str]:
        """Return the lines of incomplete blocks, for a session that broke off."""
        lines = [
            line
            for block in self._unprinted.values()
            if self._within(block.t, block.turn)
            for line in _block_lines(block, cut_off=True)
        ]
        self._unprinted.clear()
        self._changeable.clear()
        return lines

    def _finished(self) -> Iterator[str]:
        for block in reversed(self.view.blocks):
            if block.id <= self._seen:
                break
            self._unprinted[block.id] = block
            self._changeable[block.id] = None
        self._seen = self.view.next_block - 1
        for ident in sorted(self._changeable):
            # Ids are dense, so an id gives the index. A block that the view has dropped is printed as last seen.
            index = ident - 1 - self.view.blocks_forgotten
            block = self.view.blocks[index] if index >= 0 else self._unprinted[ident]
            self._unprinted[ident] = block
            if block.done or block.kind == "tool":
                # Of thousands of open calls only the one that ends is looked at again.
                del self._changeable[ident]
            if block.done:
                del self._unprinted[ident]
                if self._within(block.t, block.turn):
                    yield from _block_lines(block)

    def _repeated(self) -> Iterator[str]:
        """Yield the lines of notices that came again: the first few, then fewer and fewer."""
        counts = {block.id: block.count for _, block in last_notices(self.view) if block.count > 1}
        for _, block in last_notices(self.view):
            count = block.count
            # Of a lost connection `_amended` tells what is new.
            new = count != self._counts.get(block.id, 1) and block.id != self.view.link_notice
            if new and (count <= _ALL_PRINTED or str(count).strip("0") == "1") and self._within(block.t, block.turn):
                yield from _block_lines(block)
        self._counts = counts

    def _amended(self, payload: ev.Payload) -> Iterator[str]:
        """Yield what was added to the notice of a lost connection."""
        view = self.view
        index = view.link_notice - 1 - view.blocks_forgotten
        if isinstance(payload, ev.ConnectionClosed) and self._is_connected:
            # Of one loss each sentence is told once, however many attempts follow it.
            self._is_connected = False
            self._link_parts.clear()
            if index >= 0 and view.blocks[index].group == LOST and self._within(view.t, view.turn):
                yield from _block_lines(view.blocks[index])
        elif isinstance(payload, _AMENDING) and index >= 0 and self._within(view.t, view.turn):
            for part in view.link_parts.values():
                if part and part not in self._link_parts:
                    yield _line("notice", f"{view.blocks[index].status}: {part}")
        self._is_connected = self._is_connected or isinstance(payload, ev.ConnectionReady)
        self._link_parts.update(view.link_parts.values())

    def _stamped(self, t: float, line: str) -> str:
        return f"{int(t) // 60:02d}:{t % 60:04.1f} {line}" if self._times else line


def _block_lines(block: Block, *, cut_off: bool = False) -> Iterator[str]:
    text = block.text.strip()
    if block.kind == "tool":
        status = "no answer" if cut_off else block.status
        took = "" if block.ms is None else f", {block.ms:.0f} ms"
        yield _line("tool", f"{text} -> {status}{took}" + (f" {block.detail}" if block.detail else ""))
    elif block.kind == "notice" and block.status == "log":
        return  # printed as it came
    elif block.kind == "notice" and block.status in _OWN_LABELS:
        yield _line(block.status, text)
    elif block.kind == "notice":
        times = f" ({block.count:,} times)" if block.count > _ALL_PRINTED else ""
        yield _line("notice", f"{block.status}: {sentences(text, block.detail)}{times}")
    elif block.heard is not None and (block.interrupted or block.text[block.heard :].strip()):
        heard, unheard = block.text[: block.heard].strip(), block.text[block.heard :].strip()
        ends = ["interrupted"] if block.interrupted else []
        ends += [f"not heard: {unheard}"] if unheard else []
        lost = f" [{', '.join(ends)}]"
        yield _line(block.kind, f"{heard}{lost}")
    elif text:
        yield _line(block.kind, text + (" [broken off]" if cut_off else ""))


def _log_text(line: LogLine) -> str:
    return f"{line.source} {line.level}: {line.text}"


def _line(label: str, text: str) -> str:
    return f"{label}: {text.strip()}".replace("\n", _CONTINUED)
