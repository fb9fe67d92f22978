"""Commands written in the prompt: they are read as the table says, and completed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.journal.fold.agent_view import WatcherCard
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.actions import ACTIONS, PANES, arguments, slash
from gemini_live_tui.actions.action import Action
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.console.agent_commands import NoValue, value_of
from gemini_live_tui.settings import ConsoleSettings

TABLE = {
    "goto": "goto PHASE",
    "set": "set KEY = JSON",
    "break": "break KIND NAME",
    "step": "step [COUNT]",
    "mute": "mute|quiet",
}
NAMES = {"PHASE": ["greet", "verify", "close"], "KIND": ["phase", "key"], "NAME": ["verify"], "KEY": ["app:plan"]}


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        slash,
        "COMMANDS",
        {
            name: Action(ident, "", "", ident, ident, "Talk", slash=form)
            for ident, form in TABLE.items()
            for name in form.split()[0].split("|")
        },
    )


def choices(kind: str, written: Sequence[str]) -> list[str]:
    return NAMES.get(kind, [])


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        ("/mute", "mute", ()),
        ("/mute ", "mute", ()),
        ("/quiet", "mute", ()),
        ("/goto verify", "goto", ("verify",)),
        ("/goto  two words ", "goto", ("two words",)),
        ('/set app:plan="gold"', "set", ("app:plan", '"gold"')),
        ('/set app:plan = {"a": "b=c"}', "set", ("app:plan", '{"a": "b=c"}')),
        ("/break phase verify", "break", ("phase", "verify")),
        ("/step", "step", ()),
        ("/step 3", "step", ("3",)),
        ("/goto\nverify", "goto", ("verify",)),
    ],
)
def test_a_command_is_read_as_its_form_says(text: str, name: str, written: tuple[str, ...]) -> None:
    action, found = slash.read(text)
    assert (action.id, found) == (name, written)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/mut", "Unknown command /mut. Did you mean /mute?"),
        ("/etc/hosts is broken", "Unknown command /etc/hosts."),
        ("/", "Unknown command /."),
        ("/goto", "/goto needs an argument: /goto PHASE"),
        ("/set app:plan", "/set needs an argument: /set KEY = JSON"),
        ("/set app:plan =", "/set needs an argument: /set KEY = JSON"),
        ("/break phase", "/break needs an argument: /break KIND NAME"),
        ("/mute now", "/mute takes no argument"),
    ],
)
def test_what_is_no_command_is_a_sentence(text: str, said: str) -> None:
    with pytest.raises(slash.InvalidCommand) as caught:
        slash.read(text)
    assert said in str(caught.value)


@given(st.text())
def test_whatever_is_written_is_a_message_a_command_or_a_sentence(text: str) -> None:
    if not slash.is_command(text):
        assert slash.as_message(text) == (text[1:] if text.startswith("//") else text)
        return
    slash.suggest(text, choices)
    with contextlib.suppress(slash.InvalidCommand):
        action, found = slash.read(text)
        assert len(found) >= slash.form_of(action).needed


def suggested(text: str) -> list[str]:
    return [suggestion.text for suggestion in slash.suggest(text, choices)]


def test_names_are_suggested_then_what_belongs_behind_them() -> None:
    assert suggested("/") == ["/break ", "/goto ", "/mute", "/quiet", "/set ", "/step "]
    assert suggested("/s") == ["/set ", "/step "]
    assert suggested("/te") == ["/mute", "/step "]
    assert suggested("/q") == ["/quiet"]
    assert suggested("/goto ") == ["/goto greet", "/goto verify", "/goto close"]
    assert suggested("/goto ve") == ["/goto verify"]
    assert suggested("/break ") == ["/break phase ", "/break key "]
    assert suggested("/break phase v") == ["/break phase verify"]
    assert suggested("/set pl") == ["/set app:plan = "]
    assert suggested("hello") == suggested("//goto ") == suggested("/goto x\ny") == suggested("/mute ") == []


def test_where_nothing_can_be_suggested_the_form_is_shown() -> None:
    for text in ("/set app:plan = ", "/goto nowhere", "/step "):
        (told,) = slash.suggest(text, choices)
        assert told.text == ""
        assert told.label == slash.form_of(slash.COMMANDS[text[1:].split()[0]]).usage


@given(st.sampled_from(["/", "/s", "/goto ", "/break ", "/break phase ", "/set ", "/step"]))
def test_every_suggestion_that_is_whole_can_be_read(text: str) -> None:
    for suggestion in slash.suggest(text, choices):
        assert suggestion.text.startswith(text.rstrip()[:2])
        if suggestion.whole:
            slash.read(suggestion.text)


def test_every_command_of_the_table_is_carried_out_by_something() -> None:
    app = ConsoleApp(None, settings=ConsoleSettings(theme="ember"))
    owners = {"app": app, "console": app.get_default_screen()}
    forms = [slash.form_of(action) for action in ACTIONS if action.slash]
    names = [name for form in forms for name in (form.name, *form.others)]
    assert len(names) == len(set(names))
    for action in ACTIONS:
        form = slash.form_of(action) if action.slash else None
        assert action.action or (form is not None and form.needed), action.id
        assert bool(action.takes) == bool(form and form.arguments), action.id
        if action.takes and action.scope not in PANES:
            assert hasattr(owners[action.scope], f"action_{action.takes}"), action.id


def test_arguments_are_named_from_the_view() -> None:
    view = SessionView(tools=["verify_identity"])
    assert arguments.choices("PHASE", [], view) == []
    phases = [{"name": "greet", "ways": [{"to": "close"}]}, {"name": "close"}, {"name": "x\x1b[2J"}]
    view.agent_view.shape = json.dumps({"phases": phases})
    view.agent_view.watchers["angry"] = WatcherCard("angry")
    found = {
        kind: list(arguments.choices(kind, [], view, ["ember"])) for kind in ("PHASE", "WATCHER", "TOOL", "THEME", "X")
    }
    assert found == {
        "PHASE": ["greet", "close"],
        "WATCHER": ["angry"],
        "TOOL": ["verify_identity"],
        "THEME": ["ember"],
        "X": [],
    }
    assert arguments.choices("TARGET", ["transition"], view) == ["greet>close"]
    assert arguments.choices("TARGET", ["watcher"], view) == ["angry"]
    assert not arguments.choices("TARGET", ["expression"], view)


@pytest.mark.parametrize(("text", "value"), [("3", 3), ('"gold"', "gold"), ('{"a": [1, null]}', {"a": [1, None]})])
def test_a_value_is_json(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gold", "line 1, column 1"),
        ('{"a": 1,\n"b" 2}', "line 2, column 5"),
        ("NaN", "NaN is no number that JSON knows"),
        ("[" * 100_000, "no JSON"),
        ("9" * 5000, "no JSON"),
    ],
)
def test_what_is_no_json_is_a_sentence_with_its_place(text: str, said: str) -> None:
    with pytest.raises(NoValue) as caught:
        value_of(text)
    assert said in str(caught.value)
