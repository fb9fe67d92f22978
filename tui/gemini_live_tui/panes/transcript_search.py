"""Search the transcript: find paragraphs with a text, and mark it in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gemini_live_runtime.journal.fold.view import Block
from gemini_live_tui.painting.runs import Run, sliced

STYLE = "chosen"
"""Style of the text that was searched for."""


class TranscriptSearch:
    """Search that ignores case, with a place among the paragraphs that have the text.

    It goes from the newest paragraph to older ones. Paragraphs are known by `Block.id`, since old ones are dropped.
    """

    def __init__(self) -> None:
        self.text = ""
        """Text that is searched for; "" while nothing is."""
        self.found = -1
        """Id of the paragraph at the place; -1 for none."""
        self._pattern: re.Pattern[str] | None = None

    def begin(self, text: str, blocks: Sequence[Block]) -> bool:
        """Search for `text` from the newest paragraph on; return True for another text."""
        text = text.strip()
        changed, self.text = text != self.text, text
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if text else None
        if changed:
            self.found = -1
            self.go_on(blocks, -1)
        return changed

    def go_on(self, blocks: Sequence[Block], direction: int) -> bool:
        """Go to a newer (1) or older (-1) paragraph; return True after the last one."""
        ids = [block.id for block in blocks if self.is_in(block)]
        if not ids:
            self.found = -1
            return False
        known = self.found in ids
        at = ids.index(self.found) + direction if known else (len(ids) - 1 if direction < 0 else 0)
        self.found = ids[at % len(ids)]
        return known and not 0 <= at < len(ids)

    def is_in(self, block: Block) -> bool:
        """Return True when the paragraph has the text."""
        return self._pattern is not None and any(map(self._pattern.search, (block.text, block.detail)))

    def count(self, blocks: Sequence[Block]) -> tuple[int, int]:
        """Return the place, counted from the newest, and the number of paragraphs."""
        ids = [block.id for block in blocks if self.is_in(block)]
        return (len(ids) - ids.index(self.found) if self.found in ids else 0), len(ids)

    def marked(self, runs: Sequence[Run]) -> list[Run]:
        """Return styled runs with the text marked in them."""
        if self._pattern is None:
            return list(runs)
        whole = "".join(text for text, _ in runs)
        return list(self._split(runs, [match.span() for match in self._pattern.finditer(whole)]))

    def _split(self, runs: Sequence[Run], spans: Sequence[tuple[int, int]]) -> Iterator[Run]:
        at = 0
        for start, end in spans:
            yield from sliced(runs, at, start)
            yield "".join(text for text, _ in sliced(runs, start, end)), STYLE
            at = end
        yield from sliced(runs, at, sum(len(text) for text, _ in runs))
