"""Editors of state lose no typed text, in the order of any answers."""

from __future__ import annotations

from pathlib import Path

from tests.pilot.actions.change_screens import editing
from tests.pilot.actions.state import listed
from tests.support.collection import negotiating
from tests.support.console_driver import BY_NAME, console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import EditState, PreviewEdit
from gemini_live_tui.dialogs.why import WhyScreen
from gemini_live_tui.editors.import_state import ImportState
from gemini_live_tui.editors.state import StateEditor


async def test_keys_that_arrive_together_are_obeyed_in_their_order() -> None:
    async with console() as driver:
        screen = await editing(driver)
        await driver.press(*["backspace"] * 4, *"0.95")
        assert screen.area.text == "0.95"


async def test_letters_typed_right_behind_tab_are_written_into_the_next_field() -> None:
    async with console() as driver:
        await driver.press(f"{BY_NAME}state-add")
        screen = driver.app.screen
        assert isinstance(screen, StateEditor)
        await driver.press(*"app:monthly", "tab", *"50")
        assert (screen.key_field.value, screen.area.text) == ("app:monthly", "50")
        await driver.press("shift+tab", "end", *"_sum", "tab", *"0")
        assert (screen.key_field.value, screen.area.text) == ("app:monthly_sum", "500")


async def test_while_an_answer_is_awaited_only_the_last_question_is_kept() -> None:
    async with console() as driver:
        driver.link.answering = False
        await editing(driver)
        for text in "123":
            await driver.press(text)
        (asked,) = [order for order in driver.link.orders if isinstance(order, PreviewEdit)]
        assert asked.edits[0]["value"] == 0.31
        driver.link.emit(ev.EditPreviewed(command_id=driver.link.sent[-1].id))
        await driver.settle()
        values = [order.edits[0]["value"] for order in driver.link.orders if isinstance(order, PreviewEdit)]
        assert values == [0.31, 0.31123]


async def test_a_refused_edit_keeps_what_was_typed_and_says_why() -> None:
    async with console() as driver:
        screen = await editing(driver)
        screen.area.text = '"furious"'
        await driver.settle()
        driver.link.refusing = "app:anger is a number."
        await driver.press("ctrl+s")
        assert driver.app.screen is screen
        assert screen.area.text == '"furious"'
        assert "Not applied: app:anger is a number." in driver.screen()


async def test_what_was_typed_is_left_only_when_asked_for_twice() -> None:
    async with console() as driver:
        screen = await editing(driver)
        screen.area.text = "0.5"
        await driver.settle()
        await driver.press("escape")
        assert driver.app.screen is screen
        assert "esc once more leaves it" in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen
        assert not any(isinstance(order, EditState) for order in driver.link.orders)


async def test_what_was_said_of_leaving_goes_away_when_one_writes_on_or_applies() -> None:
    async with console() as driver:
        driver.link.answering = False
        screen = await editing(driver)
        for press in (("1",), ("ctrl+s",)):
            screen.area.text = "0.5"
            await driver.settle()
            await driver.press("escape")
            assert "Nothing was applied yet" in driver.screen()
            await driver.press(*press)
            assert driver.app.screen is screen
            assert "Nothing was applied yet" not in driver.screen()
        driver.link.emit(
            ev.CommandRefused(command_id=driver.link.sent[-1].id, command="state.edit", reason="Too much.")
        )
        await driver.settle()
        assert "Not applied: Too much." in driver.screen()
        await driver.press("2")
        assert "Not applied" not in driver.screen()


async def test_what_was_said_of_leaving_goes_away_when_one_writes_on_to_the_model() -> None:
    async with console() as driver:
        await driver.press(f"{BY_NAME}write-context")
        await driver.press(*"hi", "escape")
        assert "It was not sent yet" in driver.screen()
        await driver.press("!")
        assert "It was not sent yet" not in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is not driver.app.console_screen


async def test_an_edit_made_while_the_past_is_looked_at_is_said_to_change_the_present() -> None:
    async with console(size=(120, 40)) as driver:
        negotiating(driver.link).anger()
        for number in range(3):
            driver.link.t += 5
            driver.link.exchange(f"Question {number}", "Answer")
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        await driver.press("[", "[")
        then = driver.app.console_screen.notices.past_note()
        assert then.startswith("You look at 00:")
        for keys in (("e",), ("t",)):
            await driver.press(*keys)
            assert driver.app.screen is not driver.app.console_screen
            assert then in driver.screen()
            await driver.press("escape")
        await driver.press("delete")
        assert f"note: Removing app:anger; u brings it back. {then}" in driver.screen()
        driver.clock.advance(5.0)
        await driver.press("end")
        await driver.press("a")
        assert driver.app.screen is not driver.app.console_screen
        assert "this changes the present" not in driver.screen()


async def test_what_is_no_json_cannot_be_applied_and_says_where() -> None:
    async with console() as driver:
        screen = await editing(driver)
        screen.area.text = "gold"
        await driver.settle()
        assert "line 1, column 1: this is no JSON value" in driver.screen()
        assert '"gold"' in driver.screen()
        await driver.press("ctrl+s")
        assert driver.app.screen is screen
        assert not any(isinstance(order, EditState) for order in driver.link.orders)


async def test_a_computed_key_is_read_and_names_what_it_is_made_of() -> None:
    async with console() as driver:
        screen = await editing(driver, "derived:left")
        await driver.press("7")
        assert screen.area.text == "250"
        assert "It is computed from app:owed, app:paid: edit those instead." in driver.screen()


async def test_a_key_of_the_turn_warns_that_it_is_forgotten() -> None:
    async with console() as driver:
        await editing(driver, "turn:refused")
        assert "turn: keys are forgotten" in driver.screen()


async def test_a_key_that_is_there_is_not_added_again() -> None:
    async with console() as driver:
        await listed(driver)
        await driver.press("a")
        screen = driver.app.screen
        assert isinstance(screen, StateEditor)
        screen.key_field.value = "app:owed"
        screen.area.text = "1"
        await driver.settle()
        assert "app:owed is there already" in driver.screen()


async def test_a_file_is_imported_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text('{"app:plan": "gold"}', "utf-8")
    async with console() as driver:
        await listed(driver)
        await driver.press("/import")
        screen = driver.app.screen
        assert isinstance(screen, ImportState)
        screen.path.value = str(tmp_path / "nowhere.json")
        screen.path.focus()
        await driver.press("enter")
        assert "cannot be read: No such file or directory." in " ".join(driver.screen().split())
        screen.path.value = str(file)
        await driver.press("enter")
        assert screen.area.text == '{"app:plan": "gold"}'
        await driver.press("ctrl+s")
        assert EditState(edits=({"key": "app:plan", "value": "gold"},)) in driver.link.orders


async def test_a_recording_can_be_looked_at_but_not_changed() -> None:
    async with console(replay=True) as driver:
        negotiating(driver.link)
        await driver.settle()
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        await driver.press("up")
        await driver.press("e")
        assert "Put the cursor on a key first." in driver.screen()
        await driver.press("down")
        await driver.press("e")
        assert "This is a recording: nothing can be changed." in driver.screen()
        await driver.press("ctrl+s")
        assert driver.link.orders == []


async def test_a_click_on_a_line_about_a_decision_explains_it() -> None:
    async with console(size=(120, 40)) as driver:
        negotiating(driver.link).anger()
        await driver.settle()
        rows = driver.rows()
        y = next(at for at, row in enumerate(rows) if "watch  anger" in row)
        await driver.pilot.click(offset=(20, y))
        await driver.settle()
        assert isinstance(driver.app.screen, WhyScreen)
        assert "Why: anger fired" in driver.screen()


async def test_every_screen_fits_a_small_terminal() -> None:
    async with console(size=(80, 24)) as driver:
        await editing(driver)
        driver.link.foreseen = {"unknown": tuple(f"what watcher {n} does" for n in range(9))}
        await driver.press("1")
        assert "^s or F5 applies" in driver.screen()
        await driver.press("escape")
        await driver.press("escape")
        for name in ("phase-override", "write-context", "edit-instruction", "why"):
            await driver.press(f"{BY_NAME}{name}")
            assert driver.app.screen is not driver.app.console_screen, name
            assert "esc" in driver.rows()[-1] or any("esc" in row for row in driver.rows()), name
            await driver.press("escape")


async def test_escape_before_the_answer_loses_nothing_that_is_refused() -> None:
    async with console() as driver:
        driver.link.answering = False
        screen = await editing(driver)
        screen.area.text = '"a long typed value"'
        await driver.settle()
        await driver.press("ctrl+s", "escape")
        sent = driver.link.sent[-1].id
        driver.link.emit(ev.CommandRefused(command_id=sent, command="state.edit", reason="Too much."))
        await driver.settle()
        assert driver.app.screen is screen
        assert screen.area.text == '"a long typed value"'


async def test_enter_applies_a_value_of_one_line_as_it_sends_a_message() -> None:
    async with console() as driver:
        screen = await editing(driver)
        assert "enter, ^s or F5 applies, esc cancels" in driver.screen()
        await driver.press(*["backspace"] * 4, *"0.95", "enter")
        assert screen.area.text == "0.95"
        edits = [order.edits for order in driver.link.orders if isinstance(order, EditState)]
        assert [edit["value"] for (edit,) in edits] == [0.95]


async def test_enter_breaks_the_line_of_a_value_of_several_lines() -> None:
    async with console() as driver:
        screen = await editing(driver)
        screen.area.text = "{\n}"
        screen.area.move_cursor((0, 1))
        await driver.settle()
        assert "enter, ^s" not in driver.screen()
        await driver.press("enter")
        assert screen.area.text == "{\n\n}"
        assert not any(isinstance(order, EditState) for order in driver.link.orders)
