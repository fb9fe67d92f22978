"""The README's pictures are whole, small and show what the text says."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from tests.support.svg_animation import Frame, animate

ROOT = Path(__file__).resolve().parents[2]
MAX_BYTES = 400_000

_KEYFRAMES = re.compile(r"@keyframes (a\d+)\{(.*?)\}\}")
_STEP = re.compile(r"([\d.]+)%\{visibility:(\w+)")
_REST = re.compile(r"^@.*\}\}\.(a\d+)\{visibility:(\w+)", re.MULTILINE)
_GROUP = re.compile(r'<g class="(a\d+)">(.*?)</g>', re.DOTALL)
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>")


def screenshot(*lines: str) -> str:
    console = Console(record=True, width=20, height=4, file=io.StringIO())
    for line in lines:
        console.print(line)
    return console.export_svg(title="t")


def words(svg: str) -> list[str]:
    """Return the texts of a picture in the order of their letters."""
    return sorted(text.replace("&#160;", " ").strip() for text in _TEXT.findall(svg) if text.strip("&#160; \n"))


def at(animation: str, share: float | None) -> str:
    """Return what shows after this share of the animation; None is without animations."""
    if share is None:
        shown = dict(_REST.findall(animation))
    else:
        steps = {name: _STEP.findall(text) for name, text in _KEYFRAMES.findall(animation)}
        shown = {name: [how for when, how in each if float(when) <= share * 100][-1] for name, each in steps.items()}
    return _GROUP.sub(lambda group: group[2] if shown[group[1]] == "visible" else "", animation)


def test_each_frame_of_an_animation_shows_what_its_screenshot_shows() -> None:
    pictures = [screenshot("one", "same"), screenshot("[on red]two[/]", "same"), screenshot("one", "same", "three")]
    animation = animate([Frame(svg, seconds) for svg, seconds in zip(pictures, (1, 2, 1), strict=True)], poster=1)
    assert [words(at(animation, share)) for share in (0.1, 0.5, 0.9)] == [words(svg) for svg in pictures]
    assert words(at(animation, None)) == words(pictures[1])
    assert animation.count(">same<") == 1


def test_the_animated_picture_is_small_and_loads_nothing() -> None:
    animation = (ROOT / "docs" / "console-animated.svg").read_text("utf-8")
    assert len(animation.encode()) < MAX_BYTES
    assert not re.search(r"<script|@import|@font-face|url\(|href", animation)
    assert re.findall(r"https?://[^\"]*", animation) == ["http://www.w3.org/2000/svg"]


def test_the_pictures_show_phases_needs_and_a_watcher() -> None:
    animation = (ROOT / "docs" / "console-animated.svg").read_text("utf-8").replace("&#160;", " ")
    for text in ("needs", " people", "booking", "watch", "tell the kitchen"):
        assert text in animation, text
    still = (ROOT / "docs" / "console.svg").read_text("utf-8").replace("&#160;", " ")
    for text in ("booked", "watch", "kitchen"):
        assert text in still, text


def test_the_readme_shows_the_animated_picture_and_the_console_page_the_still_one() -> None:
    assert "(docs/console-animated.svg)" in (ROOT / "README.md").read_text("utf-8")
    assert "(console.svg)" in (ROOT / "docs" / "console.md").read_text("utf-8")
