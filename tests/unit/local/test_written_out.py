"""The embedded model tells without signs what programs write."""

from __future__ import annotations

import array
import collections
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.local.scripts.template import describe
from gemini_live_runtime.local.scripts.tool_output import output_of


def told(output: Any) -> str:
    """Return the words for a tool's output."""
    return describe(output_of({"output": output}))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Fraction(1, 3), "1/3"),
        (Decimal("3.50"), "3.50"),
        (frozenset(), "nothing"),
        (range(3), "range 0, 3"),
        (array.array("i", [1, 2]), "1 and 2"),
        (collections.ChainMap({"a": 1}, {"b": 2}), "b 2, a 1"),
        ({"a": 1}.items(), "a 1"),
        (FileNotFoundError(2, "No such file"), "No such file"),
        (b"\xff\x00", "2 bytes of data"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_python_prints_of_a_value_is_told_in_words(value: Any, words: str) -> None:
    assert told(repr(value)) == words
    assert told(repr({"found": value})) == f"found {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{'t': np.float64(21.5), 'ok': np.True_}", "t 21.5, ok yes"),
        ("[1 2 3]", "1, 2, 3"),
        ("[[0. 1.]\n [2. 3.]]", "0., 1., 2., 3."),
        ("{'f': <Wind.NORTH|EAST: 3>}", "f 3"),
        ("[Errno 2] No such file", "No such file"),
        ('Traceback (most recent call last):\n  File "a.py", line 3\nValueError: it is closed', "it is closed"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'room'", "room"),
        ("\x1b[31mclear\x1b[0m", "clear"),
    ],
)
def test_what_python_prints_is_told_in_words(text: str, words: str) -> None:
    assert told(text) == words


@pytest.mark.parametrize(
    ("number", "words"), [(math.nan, "not a number"), (math.inf, "infinity"), (-math.inf, "minus infinity")]
)
def test_numbers_that_are_none_have_words(number: float, words: str) -> None:
    assert told({"t": number}) == f"t {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<weather><sky>clear</sky><t unit='C'>21</t></weather>", "weather, sky clear, t unit C 21"),
        ("<?xml version='1.0'?>\n<weather>\n  <sky>clear</sky>\n</weather>", "weather, sky clear"),
        ("<weather sky='clear' t='21'/>", "weather sky clear, t 21"),
        ("<a><![CDATA[it is <b>clear</b>]]></a>", "it is clear"),
        ("<p>It is <b>clear</b>&nbsp;today &amp; warm.</p>", "It is clear today & warm."),
        ("<ul><li>soup</li><li>fish</li></ul>", "soup, fish"),
        ("<!DOCTYPE html><head><title>W</title></head><h1>Clear</h1><script>x()</script>", "Clear"),
        ("clear<br>warm<br/>dry", "clear, warm, dry"),
        ("5 &lt; 6", "5 < 6"),
    ],
)
def test_markup_is_told_without_its_elements(text: str, words: str) -> None:
    assert told(text) == words
    assert told({"page": text}) == f"page {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[weather]\nsky = clear\nt=21\n", "weather: sky clear, t 21"),
        ("; by hand\n[a]\nx=1\n[b]\ny: 2", "a: x 1, b: y 2"),
        ("SKY=clear\nTEMP_C=21", "SKY clear, TEMP C 21"),
        ('[weather]\nsky = "clear"\nhours = [1, 2]\n', "weather: sky clear, hours 1, 2"),
        ("---\nweather:\n  sky: clear\n  hours:\n    - 1\n    - 2\n", "weather: sky clear, hours: 1, 2"),
        ("sky: clear # now\nrain: ~\nok: yes", "sky clear, rain nothing, ok yes"),
        ("sky=clear&t=21", "sky clear, t 21"),
    ],
)
def test_settings_are_told_as_names_and_values(text: str, words: str) -> None:
    assert told(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "| sky | t |\n|---|---|\n| clear | 21 |",
        "+-----+----+\n| sky | t  |\n+-----+----+\n| clear | 21 |\n+-----+----+",
        "┌─────┬────┐\n│ sky │ t  │\n├─────┼────┤\n│ clear │ 21 │\n└─────┴────┘",
        " sky   | t \n-------+---\n clear | 21",
        "sky,t\nclear,21\n",
        "sky;t\n\nclear;21",
        'sky\tt\n"clear"\t21',
    ],
    ids=["markdown", "frame", "box", "columns", "commas", "semicolons", "tabs"],
)
def test_tables_are_told_row_by_row(text: str) -> None:
    assert told(text) == "sky, t.\nclear, 21."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[object Object]", "an object"),
        ("undefined", "nothing"),
        ("{clear 21 <nil>}", "clear 21 nothing"),
        ("Array\n(\n    [sky] => clear\n    [t] => 21\n)", "Array sky clear t 21"),
        ('array(1) {\n  ["sky"]=>\n  string(5) "clear"\n}', "array 1 sky string 5 clear"),
        ('#<Weather:0x0001 @sky="clear", @t=21>', "Weather sky clear, t 21."),
        ('%{sky: "clear", t: 21}', "sky clear, t 21"),
        ('{ok,<<"clear">>}', "ok, clear"),
        ("@{sky=clear; t=21}", "sky clear; t 21"),
        ('[1] "clear"', '"clear"'),
        ("table: 0x55815581", "table"),
        ("data:image/png;base64,iVBORw0KGgo=", "a picture"),
        ("iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4", "some data"),
    ],
)
def test_what_programs_of_other_languages_print_is_told_without_its_signs(text: str, words: str) -> None:
    assert told(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "It is clear, 21 degrees (feels like 19).",
        "Call me at +1 (555) 123-4567, or a@b.com.",
        "3 < 4 and 5 > 2",
        "Open 9:00-17:00; closed on Sunday.",
        "AT&T's stock: up 3%",
        'Say "hello" to \'em',
        "x = 5",
        "C++ and C# [beta] {draft}",
        "It's 50% off - today only!\nSee you.",
        "Soup, bread\nFish, wine",
        f"Well,{'x' * 201}\nOh,no",
        "Call 2026-11-2711, room 1234-13-40, part A-2026-11-27.",
        "Note: bring cash; it's $5.",
        "https://example.com/a?b=c&d=e",
        "Total: 5\nTax: 1",
        "soup | fish",
        "0x1f4",
        "21 °C, 5 m/s, 1013 hPa",
    ],
)
def test_sentences_of_people_stay_as_they_are(text: str) -> None:
    assert told(text) == text


@pytest.mark.parametrize("address", ["https://x.y/z", "https://x.y/z?day=mon&meal=2"])
def test_a_link_in_brackets_is_told_by_its_words(address: str) -> None:
    assert told(f"- See [the menu]({address})\n- Call") == "See the menu.\nCall."
    assert told(f"{{menu: {address}, open: yes}}") == f"menu {address}, open yes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026-11-07", "7 November 2026"),
        ("2026-11-07T14:05:00Z", "7 November 2026 at 14:05"),
        (
            "From 2026-01-31 09:00 to 2026-02-01T10:30:15.123+01:00.",
            "From 31 January 2026 at 09:00 to 1 February 2026 at 10:30:15.",
        ),
    ],
)
def test_dates_of_programs_are_told_as_people_say_them(text: str, words: str) -> None:
    assert told(text) == words
    assert told(repr({"at": text.rstrip(".")})) == f"at {words.rstrip('.')}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(1+2j)", "1 plus 2 i"),
        ("{'z': (1-2.5j)}", "z 1 minus 2.5 i"),
        ("--- a/l.txt\n+++ b/l.txt\n@@ -1,3 +1,3 @@\n bread\n-milk\n+oat milk", "taken out: milk; added: oat milk"),
        ("--- a.py\n+++ b.py\n@@ -1 +1 @@\n-x[0]\n+x[1]\n", "taken out: x 0; added: x 1"),
        ("const double = (x) => { return x; }", "const double x return x"),
        ("if (x == 3 && y != 4) stop();", "if x is 3 y is not 4 stop"),
        ("std::vector<int> v{1, 2};", "std vector int v 1, 2"),
        ("SELECT * FROM dishes WHERE price <= 10;", "SELECT FROM dishes WHERE price at most 10"),
        (r"\frac{a}{b}", "frac a b"),
        ("/* later */ lambda x: x**2", "later lambda x: x 2"),
        ("== Opening hours ==", "Opening hours"),
        (r"The area is \(\pi r^2\).", "The area is pi r 2."),
        ("rm -rf ./build && make | tee log.txt", "rm -rf ./build make tee log.txt"),
        (r"one\ntwo caf\u00e9", "one\ntwo café"),
        (r"C:\Users\ada\notes.txt", "C: Users ada notes.txt"),
        ("{{name}} has ${count} items", "name has count items"),
        ("soup_of_the_day", "soup of the day"),
    ],
)
def test_code_is_told_without_its_signs(text: str, words: str) -> None:
    assert told(text) == words
    assert told({"found": text}) == f"found {words}"


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 (about 4 €), 50% off!",
        "See https://example.com/a_b?c=d&e={f}#g.",
        "Mail ada_l@example.com; it's 3-4 pm, room #5.",
        "C++ and C# at AT&T: 2 + 2 = 4, 5 < 6",
        "Take ~/notes/soup_of_today.txt",
        'She said "no" :-| (twice)',
    ],
)
def test_prose_and_addresses_keep_their_signs(text: str) -> None:
    assert told(text) == text


@given(st.lists(st.sampled_from([*"{}[]()<>=+-*/\\|^`~;:,.&%$#@!?'\"_ \n", "soup", "x", "1", "fish"]), max_size=30))
def test_no_sign_that_only_code_has_is_ever_told(parts: list[str]) -> None:
    for word in told({"found": "soup " + "".join(parts)}).split():
        is_kept = re.search(r"[/@]|^\{\w+\}$|^:?-?[|\\]$|^~\d", word)
        assert is_kept or not set(word) & set("{}\\^`~|"), word


@pytest.mark.parametrize("sign", ["x", "漢", "."])
def test_a_word_of_a_million_signs_is_read_through_once(sign: str) -> None:
    # What is read anew from each sign takes hours.
    assert describe({"output": sign * 1_000_000}).endswith(sign)
