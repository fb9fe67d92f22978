"""Join Textual's SVG screenshots into one animated SVG.

A piece of the screen that several frames share is kept once, and CSS shows it while one of them is due. A viewer
without animations, or a reader who asked for reduced motion, sees one chosen frame.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

_VIEW_BOX = re.compile(r'viewBox="([^"]+)"')
_STYLE = re.compile(r"\.terminal-\d+-(r\d+) \{ ([^}]*?);? \}")
_WINDOW = re.compile(r"</defs>(.*?)<g transform=\"translate\(9, 41\)\"", re.DOTALL)
_SCREEN = re.compile(r'-clip-terminal">\s*<rect x="0" y="0" width="([\d.]+)" height="([\d.]+)"')
_RECT = re.compile(r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"')
_TEXT = re.compile(
    r'<text class="terminal-\d+-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"[^>]*>(.*?)</text>', re.DOTALL
)

_CSS = """\
text{font:20px Fira Code,ui-monospace,Menlo,Consolas,monospace;white-space:pre}
.title{font:bold 18px arial,sans-serif}
@media (prefers-reduced-motion:reduce){g{animation:none!important}}
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A screenshot and the seconds for which it is shown."""

    svg: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Run:
    """Cells of one line in one style, in pixels; a background without `text`."""

    y: float
    x: float
    width: float
    style: str
    text: str = ""


def animate(frames: Sequence[Frame], poster: int) -> str:
    """Return the animation of `frames`, which repeats; frame `poster` stands for it."""
    shown: dict[_Run, set[int]] = {}
    for number, frame in enumerate(frames):
        for run in _runs(frame.svg):
            shown.setdefault(run, set()).add(number)
    ground = _ground(shown)
    shown = {run: numbers for run, numbers in shown.items() if run.text or run.style != ground}
    styles = {style: f"r{number}" for number, style in enumerate(sorted({run.style for run in shown if run.text}))}
    groups: dict[tuple[bool, frozenset[int]], list[str]] = {}
    for run, numbers in shown.items():
        groups.setdefault((bool(run.text), frozenset(numbers)), []).append(_element(run, styles))
    times = sorted({numbers for _, numbers in groups if len(numbers) < len(frames)}, key=sorted)
    names = {numbers: f"a{number}" for number, numbers in enumerate(times)}
    rules = [f".{name}{{{style}}}" for style, name in styles.items()]
    rules += [_rule(name, numbers, frames, poster) for numbers, name in names.items()]
    # Backgrounds are below all text.
    parts = [
        f'<g class="{names[numbers]}">{"".join(elements)}</g>' if numbers in names else "".join(elements)
        for (_, numbers), elements in sorted(groups.items(), key=lambda item: item[0][0])
    ]
    first = frames[0].svg
    view_box, window, screen = _VIEW_BOX.search(first), _WINDOW.search(first), _SCREEN.search(first)
    assert view_box is not None
    assert window is not None
    assert screen is not None
    chrome = re.sub(r'class="terminal-\d+-title"', 'class="title"', " ".join(window[1].split()))
    return "\n".join(
        [
            f'<svg viewBox="{view_box[1]}" xmlns="http://www.w3.org/2000/svg">',
            "<style>",
            _CSS + "\n".join(rules),
            "</style>",
            chrome,
            '<g transform="translate(9,41)" shape-rendering="crispEdges">',
            f'<rect fill="{ground}" width="{screen[1]}" height="{screen[2]}"/>',
            *parts,
            "</g>",
            "</svg>\n",
        ]
    )


def _ground(shown: Mapping[_Run, Collection[int]]) -> str:
    """Return the colour that most of the screen has, most of the time."""
    areas: Counter[str] = Counter()
    for run, numbers in shown.items():
        areas[run.style] += 0 if run.text else round(run.width) * len(numbers)
    return areas.most_common(1)[0][0]


def _runs(svg: str) -> Iterator[_Run]:
    """Yield the backgrounds and texts of a screenshot, neighbours of one style joined."""
    styles = dict(_STYLE.findall(svg))
    backgrounds = [_Run(float(y), float(x), float(width), fill) for fill, x, y, width in _RECT.findall(svg)]
    texts = [
        _Run(float(y), float(x), float(width), styles[name], text)
        for name, x, y, width, text in _TEXT.findall(svg)
        if "text-decoration" in styles[name] or text.replace("&#160;", " ").strip()
    ]
    for runs in (backgrounds, texts):
        joined: _Run | None = None
        for run in runs:
            if joined is not None and (joined.y, joined.style) == (run.y, run.style) and _touch(joined, run):
                joined = replace(joined, width=round(joined.width + run.width, 1), text=joined.text + run.text)
                continue
            if joined is not None:
                yield joined
            joined = run
        if joined is not None:
            yield joined


def _touch(left: _Run, right: _Run) -> bool:
    return abs(left.x + left.width - right.x) < 0.1


def _element(run: _Run, styles: dict[str, str]) -> str:
    if not run.text:
        return f'<rect fill="{run.style}" x="{run.x:g}" y="{run.y:g}" width="{run.width:g}" height="24.65"/>'
    return f'<text class="{styles[run.style]}" x="{run.x:g}" y="{run.y:g}" textLength="{run.width:g}">{run.text}</text>'


def _rule(name: str, numbers: frozenset[int], frames: Sequence[Frame], poster: int) -> str:
    """Return the CSS that shows what has the class `name` in the frames `numbers`."""
    length = sum(frame.seconds for frame in frames)
    steps, elapsed, was = [], 0.0, None
    for number, frame in enumerate(frames):
        is_shown = number in numbers
        if is_shown is not was:
            steps.append(f"{100 * elapsed / length:.4g}%{{visibility:{'visible' if is_shown else 'hidden'}}}")
        was, elapsed = is_shown, elapsed + frame.seconds
    rest = "visible" if poster in numbers else "hidden"
    return (
        f"@keyframes {name}{{{''.join(steps)}}}"
        f".{name}{{visibility:{rest};animation:{name} {length:.4g}s step-end infinite}}"
    )
