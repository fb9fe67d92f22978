"""Tasks, notifications and memory are in one pane, in all their states."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.harness_records import (
    SESSION,
    confirm,
    console_with_records,
    done,
    look,
    press,
    queue,
    remember,
    tasks_pane,
)

from gemini_live_runtime import events as ev
from gemini_live_runtime.harness.delivery import DeliveryLock
from gemini_live_runtime.harness.tasks import NewRunningTask
from gemini_live_tui.harness.memory_editor import MemoryEditor
from gemini_live_tui.harness.records import Records


async def test_what_another_program_changes_is_shown_at_the_next_look() -> None:
    async with console_with_records() as (driver, harness):
        assert "No call goes on as a task." in await press(driver, "T")
        assert "No notification waits, and none was told." in await press(driver, "right")
        assert "Nothing is remembered." in await press(driver, "right")
        remember(harness)
        queue(harness)
        assert "Ada" in await look(driver)
        assert "the oven is ready" in await press(driver, "left")
        remember(harness, value="Grace")
        await look(driver)
        assert "Grace" in await press(driver, "right")


async def test_an_event_of_the_session_leads_to_a_look() -> None:
    async with console_with_records() as (driver, harness):
        await press(driver, "T", "left")
        remember(harness)
        driver.link.emit(ev.MemoryChanged(scope="user", key="name", action="put", value="Ada"))
        await driver.settle()
        await done(driver)
        assert "Ada" in driver.screen()


async def test_a_task_of_another_program_is_asked_to_end() -> None:
    async with console_with_records() as (driver, harness):
        task = harness.tasks.start(NewRunningTask(title="nightly build"))
        harness.tasks.progress(task.id, "tests", fraction=0.4)
        screen = await press(driver, "T")
        for words in ("nightly build", "running", "40%", "2 min 00 s", "tests (in another program)"):
            assert words in screen, words
        await press(driver, "c")
        assert "Cancel nightly build? It runs in" in driver.screen()
        await confirm(driver)
        assert harness.tasks.cancel_request(task.id) == "The operator of another console cancelled it."
        assert driver.link.orders == []
        assert "nightly build is asked to end" in driver.screen()


async def test_a_task_shows_its_result_or_its_error() -> None:
    async with console_with_records() as (driver, harness):
        done_one = harness.tasks.start(NewRunningTask(title="report", metadata={"toolArgs": {"pages": 12}}))
        harness.tasks.complete(done_one.id, {"words": 9000}, summary="12 pages")
        assert "12 pages" in await press(driver, "T")
        screen = await press(driver, "enter")
        for words in ("It succeeded after", '"pages": 12', "Result", '"words": 9000'):
            assert words in screen, words


async def test_the_announcing_session_counts_a_retry_down() -> None:
    async with console_with_records() as (driver, harness):
        one = queue(harness)
        lock = DeliveryLock(harness.paths, harness.files, SESSION)
        assert lock.take()
        driver.link.emit(
            ev.NotificationChanged(
                notification_id=one.id,
                status="queued",
                title=one.title,
                attempts=1,
                reason="waits for its retry in 12 s, since the user spoke over it",
                retry_s=12.0,
            )
        )
        wall = driver.app.store.view.wall
        driver.clock.advance(max(0.0, wall - driver.clock.wall()))
        assert "retry in 12 s" in await press(driver, "T", "right")
        driver.clock.advance(5)
        await driver.settle()
        assert "retry in 7 s" in driver.screen()
        assert "It is tried again in 7 s: the last time the user spoke over it." in await press(driver, "ctrl+e")
        lock.release()


async def test_one_bad_file_hides_no_other_and_is_named() -> None:
    async with console_with_records() as (driver, harness):
        queue(harness)
        (harness.paths.notifications / "bad.json").write_text("{")
        screen = await press(driver, "T", "right")
        assert "the oven is ready" in screen
        assert "is damaged" in screen


async def test_records_of_a_newer_version_are_one_sentence() -> None:
    async with console_with_records() as (driver, harness):
        Path(harness.paths.header).write_text('{"format": "gemini-live-harness", "version": 99}')
        screen = await press(driver, "T")
        assert "The records cannot be shown." in screen
        assert "has version 99" in screen


async def test_a_moment_of_the_past_is_shown_as_it_was_and_not_changed() -> None:
    async with console_with_records() as (driver, harness):
        queue(harness)
        driver.link.exchange("Question", "Answer")
        driver.link.emit(ev.TaskChanged(task_id="t1", tool="report", call_id="c1", status="running"), after=10.0)
        driver.link.exchange("Another", "Answer")
        await driver.settle()
        await press(driver, "T")
        assert "report" in driver.screen()
        screen = await press(driver, "[", "[")
        assert "The session has told of no task." in screen
        assert "end returns to the present" in screen
        await press(driver, "right", "H")
        assert [one.status.value for one in harness.notifications.find().records] == ["queued"]


async def test_a_refused_value_is_kept_and_says_why() -> None:
    async with console_with_records() as (driver, harness):
        remember(harness)
        await press(driver, "T", "left", "e")
        editor = driver.app.screen
        assert isinstance(editor, MemoryEditor)
        editor.area.text = "x" * 70_000
        await press(driver, "ctrl+s")
        assert driver.app.screen is editor
        assert "has more than 65,536" in " ".join(str(editor.message.content).split())
        assert len(editor.area.text) == 70_000
        assert harness.memory.get("user", "name").value == "Ada"


async def test_a_name_that_is_no_file_name_is_refused_before_anything_is_written() -> None:
    async with console_with_records() as (driver, harness):
        await press(driver, "T", "left", "a", *"../x", "enter", *"name", "enter", *"Ada", "ctrl+s")
        assert "The scope '../x' is no name" in driver.screen()
        assert harness.memory.find().records == []


async def test_a_memory_that_was_deleted_meanwhile_can_be_kept() -> None:
    async with console_with_records() as (driver, harness):
        remember(harness)
        await press(driver, "T", "left", "e", *"!")
        harness.memory.delete("user", "name")
        assert "Another program has deleted it meanwhile" in await press(driver, "ctrl+s")
        await press(driver, "ctrl+r")
        assert harness.memory.get("user", "name").value == "Ada!"


async def test_typed_text_is_left_only_the_second_time() -> None:
    async with console_with_records() as (driver, harness):
        remember(harness)
        await press(driver, "T", "left", "e", *"!", "escape")
        assert "Nothing was written yet: esc once more leaves it." in driver.screen()
        await press(driver, "escape")
        assert not isinstance(driver.app.screen, MemoryEditor)
        assert harness.memory.get("user", "name").value == "Ada"


async def test_only_values_that_come_into_sight_are_read() -> None:
    async with console_with_records() as (driver, harness):
        for number in range(200):
            remember(harness, f"key{number:03}", number)
        await press(driver, "T", "left")
        memories = tasks_pane(driver).parts.memories
        assert memories.count == 200
        assert len(memories._values) < 60
        assert "key199" in await press(driver, "end")
        assert "199 " in driver.screen()
        assert len(memories._values) < 120


async def test_a_click_on_its_name_shows_a_part() -> None:
    async with console_with_records() as (driver, _):
        await press(driver, "T")
        await driver.pilot.click("#tasks-parts", offset=(28, 0))
        await done(driver)
        assert tasks_pane(driver).parts.shown == "memory"


async def test_why_explains_the_row_under_the_cursor_and_without_one_the_newest_decision() -> None:
    async with console_with_records() as (driver, harness):
        queue(harness)
        assert "Nothing has happened yet that could be explained." in await press(driver, "T", "ctrl+e")
        screen = await press(driver, "escape", "right", "ctrl+e")
        assert "No session announces notifications now. The next one does." in screen


async def test_enter_shows_all_of_a_memory() -> None:
    async with console_with_records() as (driver, harness):
        remember(harness, value={"kind": "vegetarian"})
        assert '"kind": "vegetarian"' in await press(driver, "T", "left", "enter")


async def test_letters_typed_together_with_the_key_of_the_search_are_searched_for() -> None:
    async with console_with_records() as (driver, harness):
        remember(harness)
        remember(harness, "diet", "vegetarian")
        await press(driver, "T")
        await driver.press("f", *"nam")
        await done(driver)
        assert tasks_pane(driver).filter.value == "nam"
        assert tasks_pane(driver).parts.memories.rows == ["memory:user/name"]
        assert "1 found" in driver.screen()
        assert "[Memory 2]" in driver.screen()


async def test_keys_of_the_other_parts_are_not_offered() -> None:
    async with console_with_records() as (driver, harness):
        queue(harness)
        assert "Acknowledge" not in (await press(driver, "T")).rpartition("\n")[2]
        row = (await press(driver, "right")).rpartition("\n")[2]
        assert "H Acknowledge" in row
        assert "Cancel" not in row


async def test_nothing_is_read_while_another_pane_is_on_show(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []
    look = Records.look
    monkeypatch.setattr(Records, "look", lambda records: looks.append(True) or look(records))
    async with console_with_records() as (driver, _):
        driver.clock.advance(60)
        await press(driver, "4")
        assert looks == []
        await press(driver, "T")
        assert looks
        looks.clear()
        driver.clock.advance(6)
        await done(driver)
        assert looks == [True]
        await press(driver, "4")
        looks.clear()
        driver.clock.advance(60)
        await done(driver)
        assert looks == []


async def test_who_goes_to_the_tasks_finds_the_cursor_on_one_that_runs() -> None:
    async with console_with_records() as (driver, harness):
        ended = harness.tasks.start(NewRunningTask(title="report"))
        harness.tasks.complete(ended.id)
        await press(driver, "T", "1")
        running = harness.tasks.start(NewRunningTask(title="nightly build"))
        await look(driver)
        tasks = tasks_pane(driver).parts.tasks
        assert tasks.row_at_cursor == ended.id
        await press(driver, "T")
        assert tasks.row_at_cursor == running.id
        await press(driver, "down", "enter", "escape")
        assert tasks.row_at_cursor == ended.id


async def test_at_a_moment_of_the_past_a_task_runs_and_the_keys_that_change_it_go() -> None:
    async with console_with_records(size=(120, 30)) as (driver, _):
        driver.link.exchange("Write a report", "It takes a while.")
        driver.link.emit(ev.TaskChanged(task_id="t1", tool="report", call_id="c1", status="running", text="page 4"))
        driver.link.exchange("And the weather?", "It is sunny.")
        assert "c Cancel" in await press(driver, "T")
        screen = await press(driver, "[")
        assert "page 4" in screen
        assert "its program" not in screen
        assert "c Cancel" not in screen
        assert "It was running at this moment." in await press(driver, "ctrl+e")


async def test_keys_for_a_row_are_offered_while_there_is_one() -> None:
    async with console_with_records() as (driver, harness):
        screen = await press(driver, "T", "left")
        assert "a Add" in screen
        assert "e Edit" not in screen
        remember(harness)
        assert "e Edit" in await look(driver)
