"""Every action of the table sends its command and shows its effect.

The checks are in `actions/`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from tests.support.action_checks import CHECKS
from tests.support.console_driver import BY_NAME, console
from textual.dom import DOMNode

from gemini_live_tui.actions import ACTIONS, BY_ID, PANES
from gemini_live_tui.actions.keymap import keys_of
from gemini_live_tui.actions.slash import form_of

for _path in sorted(Path(__file__).with_name("actions").glob("[a-z]*.py")):
    import_module(f"tests.pilot.actions.{_path.stem}")

FORMS = {action.id: form_of(action) for action in ACTIONS if action.slash}
ALIKE = [action.id for action in ACTIONS if action.palette and action.slash and not FORMS[action.id].needed]
"""Actions that are performed alike by name and by a command without arguments."""

KEYED = {action.id for action in ACTIONS if keys_of(action, {})}

WAYS = [
    *((action.id, key) for action in ACTIONS for key in keys_of(action, {})),
    *(
        (action.id, f"{BY_NAME}{action.id}")
        for action in ACTIONS
        if action.palette and action.id not in (*ALIKE, *KEYED)
    ),
    *(
        (ident, f"/{form.name} " if form.needed else f"/{form.name}")
        for ident, form in FORMS.items()
        if ident not in ALIKE or ident not in KEYED
    ),
]
"""Actions with each of their keys, and with what else does not lead to the same call as a key."""


@pytest.mark.parametrize(("ident", "way"), WAYS, ids=[f"{ident}-{way}" for ident, way in WAYS])
async def test_every_action_does_what_the_table_says_by_key_by_name_and_by_command(ident: str, way: str) -> None:
    async with console() as driver:
        scope = BY_ID[ident].scope
        if scope in PANES:
            driver.app.console_screen.grid.go_to(scope)
            await driver.settle()
        await CHECKS[ident](driver, way)


async def test_the_palette_calls_what_the_key_of_an_action_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console() as driver:
        called: list[tuple[str, DOMNode]] = []

        async def run_action(action: str, target: DOMNode) -> None:
            called.append((action, target))

        monkeypatch.setattr(driver.app, "run_action", run_action)
        for action in ACTIONS:
            if action.palette and action.id in KEYED:
                await driver.press(f"{BY_NAME}{action.id}")
                ran, target = called.pop()
                namespace, _, method = ran.partition("(")[0].rpartition(".")
                owner = {"app": driver.app, "screen": driver.app.screen}.get(namespace, target)
                assert (ran, called) == (action.action, [])
                assert hasattr(owner, f"action_{method}"), (action.id, owner)


async def test_a_command_without_arguments_performs_what_the_palette_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console() as driver:
        performed: list[tuple[str, ...]] = []

        async def perform(*called: str) -> None:
            performed.append(called)

        monkeypatch.setattr(driver.app.console_screen, "perform", perform)
        for ident in ALIKE:
            await driver.press(f"{BY_NAME}{ident}", f"/{FORMS[ident].name}")
        assert performed == [(ident,) for ident in ALIKE for _ in range(2)]


def test_no_action_of_the_table_is_without_a_check() -> None:
    assert set(CHECKS) == set(BY_ID)
