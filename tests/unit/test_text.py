"""Sanitised text has no control sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import split_graphemes

from gemini_live_runtime.text import MAX_MARKS, sanitise, sanitise_line, sanitise_next

HOSTILE = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b^pm\x1b\\",
    "\x1b_apc\x9c",
    "\x9b2J",
    "\x9d0;title\x9c",
    "\x90dcs\x9c",
    "\x1bc",
    "\x1b(0",
    "\x1b",
    "\x07\x08\x0b\x0c\x00\x7f",
    "\u202e\u2066\u2069\u200f\u061c",
    "\u200b\u2060\ufeff\u00ad\U000e0041",
    "\ud800\udc00\udfff",
]
OBEYED = set(map(chr, [*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000), 0x200E, 0x200F]))
OBEYED |= set(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x061C]))

mixed = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8), st.characters()), max_size=12).map("".join)


@given(mixed)
def test_no_control_sequence_survives(text):
    assert not OBEYED & set(sanitise(text))


def test_single_control_characters_are_removed() -> None:
    assert not [char for char in OBEYED if set(sanitise(char)) & OBEYED]


@given(mixed)
def test_sanitised_text_is_a_fixed_point(text):
    once = sanitise(text)
    assert sanitise(once) == once


@given(mixed, st.integers(0, 60))
def test_a_sequence_split_over_two_deltas_is_harmless(text, cut):
    joined = sanitise(text[:cut]) + sanitise(text[cut:])
    assert not OBEYED & set(joined)
    assert sanitise(joined) == joined


@given(st.text(st.characters(blacklist_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_ordinary_text_stays_as_it_is(text):
    assert sanitise(text) == text


@pytest.mark.parametrize(
    "text", ["see [/etc/passwd] and [/]", "tab\tand\nnewline", "👩‍👩‍👧 नमस्ते می‌خواهم", "[red]x[/red]"]
)
def test_markup_emoji_and_joiners_are_text(text):
    assert sanitise(text) == text


def test_signs_without_a_width_do_not_pile_up() -> None:
    assert sanitise("e" + "\u0301" * 5000 + "!") == "e" + "\u0301" * MAX_MARKS + "!"
    assert sanitise_line("a" + "\u0345\u200d" * 5000) == "a" + "\u0345\u200d" * (MAX_MARKS // 2)
    assert sanitise("e" + "\u0301" * 6 + "\x00" + "\u0301" * 6) == "e" + "\u0301" * MAX_MARKS
    assert sanitise("…“”‚‘„—–•°§¶" * 3) == "…“”‚‘„—–•°§¶" * 3


@pytest.mark.parametrize("sign", ["\u1161", "\u3164", "\u093e", "\U0001f3fb", "\u0897", "\U000e0100"])
def test_letters_vowels_and_tones_without_a_width_do_not_pile_up(sign: str) -> None:
    assert sanitise("a" + sign * 5000 + "!") == "a" + sign * MAX_MARKS + "!"


@pytest.mark.parametrize(
    "text",
    [
        "한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8 한글",
        "हिन्दी में लिखा",
        "👍🏽👍🏿👋🏻" * 5,
        "❤️‍🔥🏴‍☠️",
        "👨🏽‍👩🏿‍👧🏽‍👦🏽👩🏽‍❤️‍💋‍👨🏿" * 9,
        "\U0001fae8" * 20,
    ],
)
def test_words_and_emoji_of_many_signs_stay_as_they_are(text: str) -> None:
    assert sanitise(text) == text


@given(st.lists(st.sampled_from(["e", " ", "字", "\u0301", "\u0301" * 7, "👩", "\u1161", "\x1b[1m"]), max_size=60))
def test_a_text_in_pieces_has_the_signs_of_the_whole_text(pieces: list[str]) -> None:
    text = ""
    for piece in pieces:
        text += sanitise_next(text, piece)
    assert text == sanitise("".join(pieces))


@pytest.mark.parametrize("part", ["👩", "a", "👩🏽\u0489", "\u200d"])
def test_joiners_do_not_make_one_sign_of_thousands(part: str) -> None:
    spans, _ = split_graphemes(sanitise("👩" + f"\u200d{part}" * 5000))
    assert max(end - start for start, end, _ in spans) <= 60


def test_joiners_in_pieces_do_not_make_one_sign_of_thousands() -> None:
    text = ""
    for _ in range(500):
        text += sanitise_next(text, "👩\u200d")
    spans, _ = split_graphemes(text)
    assert max(end - start for start, end, _ in spans) <= 20


def test_a_joiner_between_two_pieces_joins_their_signs() -> None:
    assert sanitise_next("👩", "\u200d👧") == "\u200d👧"


def test_a_joiner_without_a_sign_before_it_is_removed() -> None:
    assert sanitise("\u200d👍 \u200d\u200da\u200d") == "👍 a\u200d"
    assert sanitise_next("", "\u200d👧") == "👧"


def test_text_around_a_control_sequence_stays():
    assert sanitise("a\x1b[31mb\x1b]0;t\x07c\x1b]8;;u\x1b\\d") == "abcd"
    assert sanitise("one\r\ntwo\rthree") == "one\ntwo\nthree"


@given(mixed, st.integers(1, 30))
def test_a_line_is_one_line_of_at_most_its_limit(text, limit):
    line = sanitise_line(text, limit)
    assert len(line) <= limit
    assert not set("\n\r\t") & set(line)


def test_hostile_text_costs_no_more_than_its_length():
    # With catastrophic backtracking this would not end.
    for part in (
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\x9b1;",
        "\x1b[1;",
        "\x1b(",
    ):
        text = part * (200_000 // len(part))
        assert "\x1b" not in sanitise(text)


PILES = st.lists(
    st.sampled_from(("\u200d", "\u0301", "🎈", "\U0001f3fb", "a", "—", "\u1160", "\U000e0100", "漢", "\u0378"))
)


@given(PILES, st.sampled_from((0, 1000)))
def test_signs_of_a_long_text_are_dropped_as_those_of_a_short_one_are(signs: list[str], many: int) -> None:
    text = "".join(signs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gemini_live_runtime.text._LONG", 0)
        patch.setattr("gemini_live_runtime.text._MANY", many)
        long = sanitise(text)
    assert long == sanitise(text)
