"""A name is read from words that correct one."""

from __future__ import annotations

import pytest

from gemini_live_runtime.local.language.name_corrections import corrected_name


@pytest.mark.parametrize(
    "said",
    [
        "no, it's Stan", "No, it\u2019s Stan.", "no, Stan", "sorry, Stan I said", "I said Stan", "it's Stan, not Dan",
        "Stan, not Dan", "not Dan, Stan", "no, my name is Stan", "no, it's Stan, S T A N", "oh no sorry, this is Stan",
    ],
)  # fmt: skip
def test_a_corrected_name_is_read(said: str) -> None:
    assert corrected_name(said) == "Stan"


@pytest.mark.parametrize(
    "said",
    ["it's Stan", "no, it's personal", "it's about Stan", "no, thanks", "Stan", "no", "no, tell Stan I called"],
)
def test_other_words_correct_no_name(said: str) -> None:
    assert corrected_name(said) == ""
