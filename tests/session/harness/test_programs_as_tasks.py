"""A program that takes long goes on as a task, which shows its newest line."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from gemini_live_runtime import Live, ScriptedAdapter
from gemini_live_runtime import events as ev
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.session.io.handle import LiveHandle
from gemini_live_runtime.tools.programs import IS_SUPPORTED

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="needs groups of processes")


async def task_event(session: LiveHandle, text: str) -> ev.TaskChanged:
    """Return the first event of a task with a text."""
    async for event in session.events():
        if isinstance(event.payload, ev.TaskChanged) and text in event.payload.text:
            return event.payload
    raise AssertionError("the session ended")


def test_it_has_its_newest_line_as_progress_and_its_output_as_result(tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    command = ["/bin/sh", "-c", "echo compiling; read go < $0; echo done", str(fifo)]
    agent = Live.builder("test").instruction("Be brief.").workspace({"work": tmp_path}, {"build": command})
    model = ScriptedAdapter()

    async def main() -> None:
        options = {"adapter": model, "harness_root": str(tmp_path / "root"), "on_consent": lambda request: True}
        async with agent.connect(**options) as session:
            watching = asyncio.create_task(task_event(session, "compiling"))
            await asyncio.sleep(0)
            model.calls("run_program", {"program": "build"})
            running = await watching
            assert running.status == "running"
            ending = asyncio.create_task(task_event(session, "exit_code"))
            await asyncio.sleep(0)
            await asyncio.to_thread(fifo.write_text, "go\n")
            assert (await ending).status == "succeeded"

    # A real program takes real time.
    asyncio.run(main())
    with Harness.open(tmp_path / "root") as harness:
        (task,) = harness.tasks.find().records
        result = harness.tasks.detail(task.id).result
    assert task.status.value == "succeeded"
    assert result is not None
    assert result.output["response"] == {"ok": True, "exit_code": 0, "output": "compiling\ndone\n"}
