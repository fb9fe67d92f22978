"""The page about trouble names commands, options, keys and messages that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

import click
import pytest
from tests.support.command_line import run

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import check_keymap, key_label, keys_of
from gemini_live_tui.cli import checks
from gemini_live_tui.cli.command_line import cli
from gemini_live_tui.config import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
TEXT = " ".join(PAGE.split())

KEYS = {
    "text-mode": ("ctrl+b", "f2"),
    "palette": ("ctrl+p", "f3"),
    "help": ("f1", "question_mark"),
    "newline": ("ctrl+j", "shift+enter"),
    "devices": ("ctrl+d",),
    "quit": ("ctrl+q",),
    "meters": ("M",),
    "talk-view": ("0",),
}
"""Keys that the page names, by action."""

CONTEXT = click.Context(cli)
COMMANDS = sorted(set(re.findall(r"gemini-live-tui ([a-z][a-z-]+)", TEXT)))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_the_page_exists(name: str) -> None:
    assert cli.get_command(CONTEXT, name) is not None


def test_the_options_of_the_page_exist() -> None:
    known = {
        option
        for command in (cli, *(cli.get_command(CONTEXT, name) for name in COMMANDS))
        for parameter in (command.params if command is not None else ())
        for option in parameter.opts
    }
    named = set(re.findall(r"`(?:gemini-live-tui [a-z]+ )?(--[a-z-]+)", TEXT))
    assert len(named) > 5
    assert named - known - {"--debug"} == set()
    assert set(re.findall(r"config set ([a-z._]+)", TEXT)) - set(OPTIONS) == set()


@pytest.mark.parametrize("ident", KEYS)
def test_a_key_of_the_page_does_what_the_page_says(ident: str) -> None:
    assert set(KEYS[ident]) <= set(keys_of(BY_ID[ident], {}))
    for key in KEYS[ident]:
        assert f"`{key if '+' in key else key_label(key)}`" in PAGE


def test_the_messages_of_the_page_are_those_of_the_program() -> None:
    files = (*ROOT.glob("runtime/**/*.py"), *ROOT.glob("tui/**/*.py"))
    source = " ".join(path.read_text("utf-8") for path in files)
    messages = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
    messages += ["MIC SILENT", "HEARS ITSELF", "terminal too small", "local recogniser", "local speech"]
    assert len(messages) >= 10
    assert [message for message in messages if message.removeprefix("local ") not in source] == []


def test_the_keymap_of_the_page_can_be_used() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    check_keymap(tomllib.loads(block)["keymap"])


def test_the_links_of_the_page_lead_somewhere() -> None:
    for page, place in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", PAGE):
        target = ROOT / "docs" / page if page else ROOT / "docs/troubleshooting.md"
        headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not place or place in anchors, (page, place)


@pytest.mark.parametrize(("state", "named"), [("ok", False), ("missing", True), ("failed", True)])
def test_doctor_names_the_page_when_something_is_wrong(
    state: Literal["ok", "missing", "failed"], named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "run_checks", lambda _: [checks.Check("microphone", state, "No microphone")])
    assert ("docs/troubleshooting.md" in run("doctor").out) is named
