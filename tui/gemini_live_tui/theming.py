"""Load themes: one TOML file each, bundled or the user's own, checked when read.

A theme file holds Textual's base colours at the top and the console's own ones under `[variables]`; what is left out
there follows from the base colours. The file's name is the theme's name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from textual.theme import Theme

DEFAULT = "ember"
SIXTEEN_COLOURS = "ansi"
"""Theme for terminals of 16 colours or none."""

MAX_BYTES = 64 * 1024
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}|ansi_(?:default|(?:bright_)?(?:black|red|green|yellow|blue|magenta|cyan|white))")

BASE = ("primary", "secondary", "accent", "foreground", "background", "surface", "panel", "success", "warning", "error")
REQUIRED = ("primary", "foreground", "background")

DEFAULTS: Mapping[str, str] = {
    "quiet": "foreground",
    "strong": "foreground",
    "caution": "warning",
    "failure": "error",
    "confirmed": "success",
    "recording": "error",
    "replaying": "secondary",
    "key": "primary",
    "frame": "secondary",
    "frame-focused": "primary",
    "speaker-user": "secondary",
    "speaker-model": "primary",
    "speaker-tool": "accent",
    "meter-low": "success",
    "meter-mid": "warning",
    "meter-high": "error",
    "meter-track": "secondary",
    "meter-peak": "foreground",
    "voice": "success",
    "state-offline": "foreground",
    "state-connecting": "warning",
    "state-listening": "success",
    "state-hearing": "success",
    "state-thinking": "warning",
    "state-speaking": "primary",
    "state-interrupted": "warning",
    "state-text": "secondary",
    "state-error": "error",
    "scope-app": "primary",
    "scope-user": "secondary",
    "scope-session": "accent",
    "scope-turn": "success",
    "scope-bg": "warning",
    "scope-temp": "foreground",
    "scope-derived": "accent",
    "changed": "warning",
    "phase": "secondary",
    "watcher": "warning",
    "breakpoint": "error",
    "held": "warning",
    "mark": "accent",
    "spark": "primary",
    "diff-add": "success",
    "diff-del": "error",
    "lane-user": "secondary",
    "lane-model": "primary",
    "lane-phase": "secondary",
    "lane-watcher": "warning",
    "lane-tool": "accent",
    "lane-state": "success",
    "lane-latency": "foreground",
}
"""Console's own colours, each with the base colour that it defaults to."""


@record
class ThemeFile:
    """Checked theme: `colours` are base colours, `variables` all of `DEFAULTS`."""

    name: str
    dark: bool
    ansi: bool
    colours: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)

    def to_textual(self) -> Theme:
        """Return Textual's theme."""
        from textual.theme import Theme

        colours = self.colours
        variables = {
            **self.variables,
            "block-cursor-background": colours["primary"],
            "block-cursor-foreground": colours["background"],
            "border": self.variables["frame-focused"],
            "border-blurred": self.variables["frame"],
            "scrollbar": self.variables["frame"],
            "scrollbar-hover": self.variables["frame-focused"],
            "scrollbar-active": self.variables["frame-focused"],
            "scrollbar-background": colours["background"],
            "scrollbar-background-hover": colours["background"],
            "scrollbar-background-active": colours["background"],
            "scrollbar-corner-color": colours["background"],
            "screen-selection-background": colours["primary"],
            "screen-selection-foreground": colours["background"],
            "input-selection-background": colours["primary"],
            "input-selection-foreground": colours["background"],
        }
        if self.ansi:
            # The terminal's own background is unknown, so neither black nor white is safe.
            names = ("screen-selection-foreground", "input-selection-foreground", "block-cursor-foreground")
            variables.update(dict.fromkeys(names, "ansi_black"))
            variables.update({"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"})
        base: dict[str, Any] = {**self.colours, "dark": self.dark, "ansi": self.ansi}
        return Theme(name=self.name, variables=variables, **base)


@record
class ThemeFailure:
    """Theme file that cannot be used; `sentence` says why."""

    name: str
    sentence: str


def bundled_dir() -> Path:
    """Return the folder of the bundled themes: in the package, or in the checkout."""
    here = Path(__file__).resolve()
    inside = here.with_name("themes")
    return inside if inside.is_dir() else here.parents[2] / "themes"


def theme_names(user_dir: Path | None = None) -> list[str]:
    """Return the sorted names of all theme files, usable or not."""
    return sorted({path.stem for folder in _folders(user_dir) for path in _files(folder)})


def load_theme(name: str, user_dir: Path | None = None) -> ThemeFile:
    """Return the theme `name`, the user's own before a bundled one.

    Raise `ConfigError` naming the field.
    """
    for folder in _folders(user_dir):
        path = folder / f"{name}.toml"
        if _NAME.fullmatch(name) and path.is_file():
            return read_theme(path)
    raise ConfigError(
        f"There is no theme {name[:60]!r}",
        remedy=f"Known: {', '.join(theme_names(user_dir))}",
        field="theme",
        value=name,
    )


def load_themes(user_dir: Path | None = None) -> tuple[dict[str, ThemeFile], list[ThemeFailure]]:
    """Return usable themes by name, and the failures of the others."""
    themes: dict[str, ThemeFile] = {}
    failures: list[ThemeFailure] = []
    for name in theme_names(user_dir):
        try:
            themes[name] = load_theme(name, user_dir)
        except ConfigError as error:
            failures.append(ThemeFailure(name, str(error)))
    return themes, failures


def read_theme(path: Path) -> ThemeFile:
    """Read and check one file; raise `ConfigError` naming the file and the field."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _error(path, "file", "it is too large to be a theme")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise _error(path, "file", f"it cannot be read, {error.strerror}") from None
    except UnicodeDecodeError:
        raise _error(path, "file", "it is not UTF-8 text") from None
    return _parsed(path, text)


@lru_cache
def _parsed(path: Path, text: str) -> ThemeFile:
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _error(path, "file", f"it is not TOML, {error}") from None
    if not _NAME.fullmatch(path.stem):
        raise _error(path, "name", "a theme's file name may hold a-z, 0-9 and dashes only")
    return _checked(path, value)


def _checked(path: Path, value: Mapping[str, Any]) -> ThemeFile:
    flags = {name: value.get(name, default) for name, default in (("dark", True), ("ansi", False))}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise _error(path, name, f"{name} must be true or false, not {flag!r}")
    for name in value:
        if name not in BASE and name not in flags and name != "variables":
            raise _error(path, name, f"it has the unknown field {name!r}")
    colours = {name: _colour(path, name, value[name], ansi=flags["ansi"]) for name in BASE if name in value}
    for name in REQUIRED:
        if name not in colours:
            raise _error(path, name, f"it lacks the colour {name}")
    own = value.get("variables", {})
    if not isinstance(own, Mapping):
        raise _error(path, "variables", "variables must be a table")
    for name in own:
        if name not in DEFAULTS:
            raise _error(path, f"variables.{name}", f"it has the unknown variable {name!r}")
    variables = {
        name: _colour(path, f"variables.{name}", own[name], ansi=flags["ansi"])
        if name in own
        else colours.get(base, colours["primary"])
        for name, base in DEFAULTS.items()
    }
    return ThemeFile(path.stem, flags["dark"], flags["ansi"], colours, variables)


def _colour(path: Path, name: str, value: object, *, ansi: bool) -> str:
    if not isinstance(value, str) or not _COLOUR.fullmatch(value) or (value.startswith("ansi_") and not ansi):
        kinds = "ansi_red and the like" if ansi else '"#rrggbb"'
        raise _error(path, name, f"{name} is not a colour: {str(value)[:40]!r}", remedy=f"Write {kinds}")
    return value


def _error(path: Path, field_name: str, what: str, remedy: str = "") -> ConfigError:
    return ConfigError(f"The theme file {path} cannot be used: {what}", remedy=remedy, field=f"theme.{field_name}")


def _folders(user_dir: Path | None) -> Iterator[Path]:
    if user_dir is not None and user_dir.is_dir():
        yield user_dir
    yield bundled_dir()


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(folder.glob("*.toml"))
    except OSError:
        return
