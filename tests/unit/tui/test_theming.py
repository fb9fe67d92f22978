"""Bundled themes load, the user's own win, broken ones are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.colours import contrast, lab_distance, seen_with

from gemini_live_runtime.errors import ConfigError
from gemini_live_tui import theming
from gemini_live_tui.painting.paint import LOOKS

BUNDLED = sorted(path.stem for path in theming.bundled_dir().glob("*.toml"))
GOOD = 'primary = "#ffffff"\nforeground = "#ffffff"\nbackground = "#000000"\n'
FRAMES = {"frame", "frame-focused", "meter-track", "meter-peak", "meter-low", "meter-mid", "meter-high"}
"""Variables of lines and bars, not of text."""


def test_there_are_dark_light_high_contrast_sixteen_colour_colour_blind_safe_and_hueless_themes() -> None:
    assert {
        "ember",
        "paper",
        "high-contrast",
        "ansi",
        "colour-blind",
        "mono",
        "fjord",
        "solar-light",
        "phosphor",
    } <= set(BUNDLED)
    assert theming.load_theme("ember").dark
    assert not theming.load_theme("paper").dark
    assert theming.load_theme("ansi").ansi


@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "ansi"])
def test_every_text_of_a_theme_can_be_read_on_every_ground_it_has(name: str) -> None:
    theme = theming.load_theme(name)
    least = 7.0 if name == "high-contrast" else 4.5
    grounds = ("background", "surface", "panel")
    texts = {key: value for key, value in theme.variables.items() if key not in FRAMES}
    texts.update({key: value for key, value in theme.colours.items() if key not in grounds})
    ratios = {(key, ground): contrast(text, theme.colours[ground]) for key, text in texts.items() for ground in grounds}
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least} == {}


def test_without_hues_nothing_has_a_hue() -> None:
    theme = theming.load_theme("mono")
    for colour in (*theme.colours.values(), *theme.variables.values()):
        assert colour[1:3] == colour[3:5] == colour[5:7]


def test_one_green_is_one_green() -> None:
    theme = theming.load_theme("phosphor")
    for colour in (*theme.colours.values(), *theme.variables.values()):
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        assert green >= red
        assert green >= blue


@pytest.mark.parametrize("eye", ["protan", "deutan"])
def test_what_must_be_told_apart_can_be_by_eyes_that_see_no_red_or_no_green(eye: str) -> None:
    theme = theming.load_theme("colour-blind")
    pairs = [
        ("confirmed", "failure"),
        ("meter-low", "meter-high"),
        ("speaker-user", "speaker-model"),
        ("diff-add", "diff-del"),
        ("state-listening", "state-error"),
        ("lane-user", "lane-model"),
    ]
    for one, other in pairs:
        seen = [seen_with(eye, theme.variables[name]) for name in (one, other)]
        assert lab_distance(*seen) > 25, (one, other)


@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "ansi"])
def test_selected_text_and_bars_can_be_told_from_what_is_behind_them(name: str) -> None:
    theme = theming.load_theme(name)
    assert contrast(theme.colours["primary"], theme.colours["background"]) >= 4.5
    for bar in ("meter-low", "meter-mid", "meter-high", "meter-peak"):
        assert contrast(theme.variables[bar], theme.colours["background"]) >= 3.0


def test_every_style_of_the_console_has_its_colour_in_every_theme() -> None:
    for name in BUNDLED:
        theme = theming.load_theme(name).to_textual()
        for variable, _ in LOOKS.values():
            assert variable == "foreground" or variable in theme.variables


def test_a_theme_of_the_user_comes_before_a_bundled_one_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "ember.toml").write_text(GOOD)
    assert theming.load_theme("ember", tmp_path).colours["background"] == "#000000"


def test_what_a_theme_leaves_out_follows_from_its_base_colours(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD.replace('primary = "#ffffff"', 'primary = "#abcdef"'))
    theme = theming.load_theme("mine", tmp_path)
    assert theme.variables["key"] == "#abcdef"
    assert set(theme.variables) == set(theming.DEFAULTS)


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("primary = ", "theme.file", "not TOML"),
        ('primary = "#fff"\n', "theme.primary", "not a colour"),
        (GOOD.replace("primary", "primery"), "theme.primery", "unknown field"),
        ('primary = "#ffffff"\nforeground = "#ffffff"\n', "theme.background", "lacks the colour background"),
        (GOOD + "[variables]\nmeter-mik = '#ffffff'\n", "theme.variables.meter-mik", "unknown variable"),
        (GOOD + "[variables]\nquiet = 3\n", "theme.variables.quiet", "not a colour"),
        (GOOD + 'dark = "yes"\n', "theme.dark", "true or false"),
        ("variables = 3\n" + GOOD, "theme.variables", "must be a table"),
        (GOOD.replace("#000000", "ansi_black"), "theme.background", "not a colour"),
    ],
)
def test_a_malformed_theme_is_a_sentence_naming_file_and_field(
    tmp_path: Path, text: str, field: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        theming.load_theme("mine", tmp_path)
    assert caught.value.field == field
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_theme_that_is_not_text_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        theming.load_theme("mine", tmp_path)


def test_a_file_too_large_to_be_a_theme_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"#" * (theming.MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="too large to be a theme"):
        theming.load_theme("mine", tmp_path)


def test_an_unknown_theme_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="ember") as caught:
        theming.load_theme("nosuch")
    assert caught.value.field == "theme"


@pytest.mark.parametrize("name", ["../ember", "/etc/passwd", "", "a/b", "EMBER"])
def test_a_theme_name_cannot_leave_its_folder(name: str) -> None:
    with pytest.raises(ConfigError):
        theming.load_theme(name)


def test_broken_themes_are_listed_beside_the_good_ones(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("nonsense")
    (tmp_path / "fine.toml").write_text(GOOD)
    themes, failures = theming.load_themes(tmp_path)
    assert {"fine", "ember"} <= set(themes)
    assert [failure.name for failure in failures] == ["broken"]
