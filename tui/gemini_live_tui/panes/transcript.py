"""List speech, tool calls and notices as they happen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from gemini_live_runtime.journal.fold.agent_view import TurnCard
from gemini_live_runtime.journal.fold.heard_words import lit_chars, next_word_s
from gemini_live_runtime.journal.fold.view import MAX_BLOCK_CHARS, NOT_UNDERSTOOD, Block, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import ExplainEvent, FollowChanged, ShowHint
from gemini_live_tui.painting.formatting import clock_text, duration_text
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.panes.block_rows import BlockRows
from gemini_live_tui.panes.latency_bars import inline
from gemini_live_tui.panes.transcript_search import STYLE, TranscriptSearch
from gemini_live_tui.widgets.line_list import TAIL, Line, LineList

SPEAKER_WIDTH = 5
NARROW = 64
"""Width in cells below which the gutter leaves out the time."""

SPACIOUS = 18
"""Least rows with which turns are separated by an empty row."""

MIN_WORD_S = 1 / 12
"""Least seconds between two paintings of words that light up."""

_CHARS_BITS = MAX_BLOCK_CHARS.bit_length()

Run = tuple[str, str]

_WORDS = {"user": "you", "model": "model", "thought": "think", "tool": "tool", "notice": "note"}
_NOTICE_WORDS = {
    "info": "note",
    "warning": "warn",
    "error": "error",
    "log": "log",
    "agent": "agent",
    "phase": "phase",
    "watch": "watch",
    "refused": "kept",
    "held": "held",
    "mark": "mark",
    "edit": "edit",
}
_EXPLAINED = frozenset(("phase", "watch", "refused", NOT_UNDERSTOOD))
"""Statuses of blocks that can be explained."""

_SPOKEN = ("user", "model")
"""Kinds of blocks that may have a sound."""

_NOTICE_STYLES = {"warning": "warn", "error": "error"}


class Transcript(LineList):
    """Transcript of one session view."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("transcript")]

    def __init__(
        self, *, id: str | None = None, glyphs: Glyphs = UNICODE, key_of: Callable[[str], str] | None = None
    ) -> None:
        """Create an empty list; `key_of` returns key and title of an action."""
        super().__init__(id=id)
        self._glyphs = glyphs
        self._key_of = key_of
        self._view = SessionView()
        self._epoch = -1
        self._session = ""
        self._spacious = True
        self._elapsed = 0.0
        self.search = TranscriptSearch()
        self.cursor = -1
        """Id of the paragraph under the cursor; -1 before one was chosen."""

    def show(self, view: SessionView, epoch: int, elapsed: float, *, passing: bool) -> float | None:
        """Update the list to `view`; another `epoch` means another view.

        Words light up with `elapsed`, session time in seconds. While it is `passing`, return the seconds to the next.
        """
        self._elapsed = elapsed
        self._update(view, epoch)
        return self._next_word_s() if passing else None

    def _update(self, view: SessionView, epoch: int) -> None:
        other, same = epoch != self._epoch, view.session_id == self._session and self._epoch >= 0
        self._view, self._session = view, view.session_id
        spacious = self.size.height >= SPACIOUS
        reset = (other and not same) or spacious != self._spacious
        self._epoch, self._spacious = epoch, spacious
        if other and not reset:
            self.rebase(forgotten=view.blocks_forgotten)
        else:
            self.sync(forgotten=view.blocks_forgotten, reset=reset)

    def on_resize(self, event: events.Resize) -> None:
        """Separate turns according to the height."""
        self._update(self._view, self._epoch)

    def on_click(self, event: events.Click) -> None:
        """Explain the decision that was clicked, or put the cursor on the utterance."""
        found = self._line_at(round(self.scroll_y) + event.y)
        if found is None or self.text_selection is not None or event.chain > 1:
            return
        block = self._block(found[0])
        if block is not None and block.seq and block.status in _EXPLAINED:
            self.post_message(ExplainEvent(block.seq))
        elif block is not None and block.kind in _SPOKEN:
            self._put_cursor(block)

    # -- the cursor --------------------------------------------------------------------------------------------------

    @property
    def utterance(self) -> Block | None:
        """Paragraph under the cursor while in sight, else the last utterance there."""
        top = round(self.scroll_y)
        first, last = (self._line_at(row) for row in (top, min(self.line_count, top + self.window().height) - 1))
        if first is None or last is None:
            return None
        shown = self._view.blocks[first[0] : last[0] + 1]
        under = next((block for block in shown if block.id == self.cursor), None)
        return under or next((block for block in reversed(shown) if block.kind in _SPOKEN), None)

    def action_utterance(self, direction: int) -> None:
        """Put the cursor on the utterance before (-1) or after (1) it."""
        spoken = [block for block in self._view.blocks if block.kind in _SPOKEN]
        now = self.utterance
        if not spoken or now is None:
            return
        at = next((number for number, block in enumerate(spoken) if block.id >= now.id), len(spoken) - 1)
        # The first press puts the cursor on the utterance that it stands for.
        step = direction if self.cursor == now.id else 0
        self._put_cursor(spoken[max(0, min(len(spoken) - 1, at + step))])

    def _put_cursor(self, block: Block) -> None:
        self.cursor = block.id
        self.repaint_items()
        self.show_row(self._view.blocks.index(block), 0)

    def action_copy_utterance(self) -> None:
        """Copy the paragraph under the cursor, else the last utterance in sight."""
        block = self.utterance
        if block is None:
            self.post_message(ShowHint("There is nothing here to copy."))
            return
        text = "\n".join(part for part in (block.text.strip(), block.detail) if part)
        self.app.copy_to_clipboard(text)
        self.post_message(ShowHint(f"Copied the paragraph of {clock_text(block.t)}, {len(text):,} characters."))

    def explain(self) -> bool:
        """Explain the paragraph under the cursor; return False for one without a reason."""
        block = self.utterance if self.cursor >= 0 else None
        if block is None or block.id != self.cursor or not block.seq:
            return False
        if block.kind != "tool" and block.status not in _EXPLAINED:
            return False
        self.post_message(ExplainEvent(block.seq))
        return True

    # -- searching ---------------------------------------------------------------------------------------------------

    def find(self, text: str) -> None:
        """Mark a text and show the newest paragraph with it; "" ends the search."""
        if self.search.begin(text, self._view.blocks):
            self._show_found()

    def action_search_on(self, direction: int) -> None:
        """Show the next older (-1) or newer (1) paragraph with the text."""
        if not self.search.text:
            self.post_message(ShowHint("Nothing is searched for yet."))
        elif self.search.go_on(self._view.blocks, direction):
            self.post_message(ShowHint("The search goes on from the other end."))
        self._show_found()

    def _show_found(self) -> None:
        self.cursor = self.search.found
        self.repaint_items()
        for index, block in enumerate(self._view.blocks):
            if block.id == self.search.found:
                lines = self.item_lines(index, self._width)
                row = next((at for at, line in enumerate(lines) if any(name == STYLE for _, name in line.runs)), 0)
                self.show_row(index, row)
        self.post_message(FollowChanged(self.following))

    # -- items -------------------------------------------------------------------------------------------------------

    def item_count(self) -> int:
        """Return the number of blocks."""
        return len(self._view.blocks)

    def _block(self, index: int) -> Block | None:
        """Return a block by its number in the list; None when it was dropped since."""
        at = index + self._forgotten - self._view.blocks_forgotten
        return self._view.blocks[at] if 0 <= at < len(self._view.blocks) else None

    def item_rev(self, index: int) -> int:
        """Return a number of the revision, turn's stages, hold and spoken words."""
        block = self._block(index)
        if block is None:
            return -1
        facts = 2 * (self._measured(block) is not None) + self._is_held(block)
        return (4 * block.rev + facts) << _CHARS_BITS | self._lit(block)

    def item_open(self, index: int) -> bool:
        """Return True for a block that grows or is spoken, or a tool that runs."""
        block = self._block(index)
        return block is not None and (not block.done or block.is_ahead)

    def _lit(self, block: Block) -> int:
        """Return the characters of a block that are not waited for."""
        if not block.is_ahead or not self._view.speaker:
            return len(block.text)
        return lit_chars(block, self._view.playhead, self._elapsed)

    def _next_word_s(self) -> float | None:
        view = self._view
        if view.playhead is None:
            return None
        waits = [next_word_s(block, view.playhead, self._elapsed) for block in view.blocks[-TAIL:] if block.is_ahead]
        return min((max(MIN_WORD_S, wait) for wait in waits if wait is not None), default=None)

    def item_lines(self, index: int, width: int) -> Sequence[Line]:
        """Return a gutter with time and speaker, and the text wrapped beside it."""
        block = self._block(index)
        if block is None:
            return []
        before = self._block(index - 1) if index else None
        gutter = self._gutter(block, width)
        room = max(1, width - sum(len(text) for text, _ in gutter))
        said = _shown(block.text[: self._lit(block)]) if block.kind == "model" else 0
        kept = self.kept_lines(index)
        return BlockRows(
            gutter,
            f"{self._speaker(block)[0]}: ",
            self.search.marked(list(self._body(block, room, said))),
            room,
            is_spaced=self._spacious and before is not None and before.turn != block.turn,
            sign=(said, self._glyphs.spoken, "key") if block.is_ahead else None,
            suffix=self._latency_suffix(block, room),
            before=kept if isinstance(kept, BlockRows) else None,
        )

    def _speaker(self, block: Block) -> Run:
        if block.kind == "notice":
            return _NOTICE_WORDS.get(block.status, "note"), _NOTICE_STYLES.get(block.status, "note")
        kind = "note" if block.kind == "thought" else block.kind
        return _WORDS[block.kind], kind

    def _gutter(self, block: Block, width: int) -> list[Run]:
        word, style = self._speaker(block)
        speaker = (f"{word:<{SPEAKER_WIDTH}}  ", style)
        time = "" if width < NARROW else f"{clock_text(block.t)}  "
        if block.id == self.cursor:
            return [(self._glyphs.prompt, "key"), (time, "quiet"), speaker]
        return [(f" {time}", "quiet" if time else ""), speaker]

    def _measured(self, block: Block) -> TurnCard | None:
        """Return the turn of an answer, once its stages are known."""
        if block.kind != "model" or block.ms is None:
            return None
        card = self._view.agent_view.turns.get(block.turn)
        return card if card is not None and card.stage_names else None

    def _is_held(self, block: Block) -> bool:
        """Return True for a call that waits because the agent is held."""
        held = self._view.agent_view.held
        return block.kind == "tool" and not block.done and held is not None and block.t >= held.t

    def _body(self, block: Block, room: int, said: int) -> Iterator[Run]:
        text = block.text.replace("\t", "    ").rstrip()
        if block.kind == "tool":
            yield from self._tool(block, text)
        elif block.kind == "notice":
            yield text, "quiet" if block.status == "log" else "said"
            if block.detail:
                # A sentence of its own, also behind a text that does not end as one.
                yield f"{'' if block.text.rstrip().endswith(('.', '?', '!')) else '.'} {block.detail}", "quiet"
            if block.count > 1:
                yield f" ({block.count:,} times)", "quiet"
            if block.action and self._key_of is not None and (key := self._key_of(block.action)):
                yield f" ({key})", "key"
        elif block.kind == "thought":
            yield text, "thought"
        elif block.status == NOT_UNDERSTOOD:
            yield text, "quiet"
        elif block.interrupted:
            # `heard` counts characters of the original text, of which only the end was trimmed.
            heard = _shown(block.text if block.heard is None else block.text[: block.heard])
            yield text[:heard], "said"
            # The sign marks the cut, so that the rest differs without colour or strike, too.
            yield f" {self._glyphs.cut} cut", "cut"
            if rest := text[heard:].lstrip(" "):
                yield f" {rest}", "unheard"
        elif block.is_ahead and said < len(text):
            yield text[:said], "said"
            yield text[said:], "ahead"
        elif block.heard is not None and (rest := text[_shown(block.text[: block.heard]) :].lstrip(" ")):
            yield text[: _shown(block.text[: block.heard])], "said"
            yield f" {self._glyphs.cut} not heard", "cut"
            yield f" {rest}", "ahead"
        else:
            yield text, "said"
        if stages := self._stages(block, room):
            yield f"\n{stages}", "quiet"

    def _stages(self, block: Block, room: int) -> str:
        """Return the row with the stages of an answer's latency; "" when it has no room."""
        card = self._measured(block)
        line = inline(card, self._glyphs, room) if card is not None and self._spacious else ""
        return line if self._glyphs.bar in line else ""

    def _latency_suffix(self, block: Block, room: int) -> str:
        """Return an answer's latency, to stand behind it; "" when it has a row of its own."""
        if block.kind != "model" or block.ms is None or self._stages(block, room):
            return ""
        return f"  {duration_text(block.ms)}"

    def _tool(self, block: Block, text: str) -> Iterator[Run]:
        yield text, "said"
        if not block.done:
            yield f" {self._glyphs.arrow} {'held' if self._is_held(block) else 'running'}", "quiet"
            return
        style = "good" if block.status == "ok" else "warn"
        yield f" {self._glyphs.arrow} {block.status}", style
        if block.ms is not None:
            yield f" {self._glyphs.separator} {duration_text(block.ms)}", "quiet"
        if block.detail and block.detail not in ("{}", "null"):
            yield f"\n{block.detail}", "quiet"


def _shown(text: str) -> int:
    """Return the length of `text` as it is shown."""
    return len(text) + 3 * text.count("\t")
