"""Code of an author only reads, or is not called for what it writes for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.session.authors_code import FailingPlace, goes_everywhere, places
from tests.session.talking import talk

from gemini_live_runtime import State
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.errors import StateError
from gemini_live_runtime.state.mutations import is_deciding

DECIDES = {
    *("a guard", "a guard of a phase", "a guard of a modifier", "a guard of a pattern", "a watched guard"),
    *("an instruction", "a modifier", "a format", "instruction_template", "instruction_amendment"),
    *("a computed value", "a computed guard", "a test of a change", "a rule", "a condition", "an extractor's wish"),
    *("a detector", "a detector's deadline", "a detector's progress"),
}


@pytest.mark.parametrize("place", places(), ids=lambda place: place.name)
async def test_each_code_of_an_author_may_only_read_or_is_not_called_without_end(
    place: FailingPlace, tmp_path: Path
) -> None:
    held: list[State] = []
    decided: list[bool] = []

    def write() -> None:
        decided.append(is_deciding())
        for state in held if len(decided) < 3000 else ():
            try:
                state.modify("app:n", 0, lambda n: n + 1)
            except StateError:
                assert is_deciding()

    async def write_later(*_: Any) -> None:
        write()

    def write_now(*_: Any) -> None:
        write()

    of = place.make(write_later if place.is_async else write_now)
    async with talk(of, audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        held.append(t.state)
        await goes_everywhere(t)
        await t.writes(other=1)
        await t.passes(5)
        written = t.state.get("app:n")
    decides = place.name.removeprefix("async ") in DECIDES
    assert set(decided) == {decides}
    assert len(decided) < 300
    assert not (decides and written)
