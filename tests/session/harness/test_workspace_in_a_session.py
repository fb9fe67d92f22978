"""A model reads files of named folders, and has listed programs run after a yes."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.session.announcing import answer, titles
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.harness.silence import LULL_S
from gemini_live_runtime.session.agent.tools.consent import ConsentOptions

SHOW = [sys.executable, "-I", "-c", "import sys; print('ran', sys.argv[1:])"]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "shopping.txt").write_text("milk\n")
    return place


def host(notes: Path, **programs: list[str]) -> Live:
    return agent().workspace({"notes": notes}, programs or None).max_tool_steps(20)


def declared(t: Talk) -> dict[str, dict[str, Any]]:
    """Return the declarations of the tools by name."""
    return {one["name"]: one for part in t.setup.get("tools", []) for one in part["functionDeclarations"]}


async def says(t: Talk, yes: bool, **more: Any) -> str:
    return await t.commands(cmd.GiveConsent(id=t.all(ev.ConsentAsked)[-1].id, yes=yes, **more))


def asked(t: Talk) -> list[ev.ConsentAsked]:
    return t.all(ev.ConsentAsked)


async def test_without_folders_there_are_no_tools() -> None:
    async with talk(agent().workspace()) as t:
        assert declared(t) == {}


async def test_without_programs_no_tool_runs_one(notes: Path) -> None:
    async with talk(host(notes)) as t:
        assert list(declared(t)) == ["list_files", "read_file"]


async def test_the_model_lists_and_reads_without_being_asked(notes: Path) -> None:
    async with talk(host(notes)) as t:
        await t.calls("list_files")
        assert answer(t) == {"entries": [{"name": "shopping.txt", "kind": "file", "bytes": 5}]}
        await t.calls("read_file", path="shopping.txt")
        assert answer(t) == {"text": "milk\n", "size": 5}
        assert asked(t) == []


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "../secret.txt"}),
        ("read_file", {"path": "/etc/passwd"}),
        ("read_file", {"path": ["a"]}),
        ("read_file", {"path": "shopping.txt", "folder": "other"}),
        ("read_file", {"path": "shopping.txt", "offset": -5}),
        ("read_file", {}),
        ("list_files", {"path": ".."}),
        ("list_files", {"folder": "../notes"}),
    ],
)
async def test_what_is_out_of_reach_is_answered_with_an_error(notes: Path, tool: str, args: dict[str, Any]) -> None:
    (notes.parent / "secret.txt").write_text("s3cret")
    async with talk(host(notes)) as t:
        await t.calls(tool, **args)
        assert set(answer(t)) == {"error"}
        assert "s3cret" not in str(answer(t))


async def test_of_several_folders_the_first_is_the_default(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with talk(host(notes).workspace({"other": other})) as t:
        await t.calls("list_files", folder="other")
        assert answer(t) == {"entries": []}
        await t.calls("list_files")
        assert [one["name"] for one in answer(t)["entries"]] == ["shopping.txt"]


async def test_a_program_runs_only_after_a_yes_that_sees_the_whole_command(notes: Path) -> None:
    async with talk(host(notes, show=[*SHOW, "fixed", "{args}"])) as t:
        await t.calls("run_program", program="show", arguments=["a b"])
        (question,) = asked(t)
        assert question.args == {"program": "show", "arguments": ["a b"]}
        assert f"in {notes}: {sys.executable} -I" in question.reason
        assert question.reason.split(" This tool")[0].split(" The agent")[0].endswith("fixed 'a b'.")
        assert t.sent("answer") == []
        await says(t, True)
        assert answer(t) == {"ok": True, "exit_code": 0, "output": "ran ['fixed', 'a b']\n"}


async def test_the_question_shows_signs_that_a_display_would_leave_out(notes: Path) -> None:
    async with talk(host(notes, show=[*SHOW, "{args}"])) as t:
        await t.calls("run_program", program="show", arguments=["a\nb", "r\u202etl", "\x1b[2J", ""])
        assert r"'a\nb' 'r\u202etl' '\x1b[2J' ''." in asked(t)[0].reason


async def test_a_no_runs_nothing(notes: Path) -> None:
    async with talk(host(notes, touch=["/usr/bin/touch", "begun"])) as t:
        await t.calls("run_program", program="touch")
        await says(t, False)
        assert "refused" in answer(t)["error"]
        assert not (notes / "begun").exists()


async def test_no_policy_lets_a_program_run_unasked(notes: Path, tmp_path: Path) -> None:
    with Harness.open(tmp_path / "root") as harness:
        harness.consent.set_policy("run_program", "allow")
    options = ConsentOptions(policies={"run_program": "allow"})
    for consent in (None, options):
        async with talk(host(notes, show=SHOW), harness=HarnessWorker(tmp_path / "root"), consent=consent) as t:
            await t.calls("run_program", program="show")
            assert len(asked(t)) == 1
            assert t.sent("answer") == []


async def test_a_policy_can_forbid_programs(notes: Path) -> None:
    async with talk(host(notes, show=SHOW), consent=ConsentOptions(policies={"run_program": "deny"})) as t:
        await t.calls("run_program", program="show")
        assert "not allowed" in answer(t)["error"]


async def test_a_yes_is_never_remembered(notes: Path, tmp_path: Path) -> None:
    async with talk(host(notes, show=SHOW), harness=HarnessWorker(tmp_path / "root")) as t:
        await t.calls("run_program", program="show")
        await says(t, True, remember=True)
        assert answer(t)["exit_code"] == 0
        assert not t.all(ev.ConsentGiven)[-1].remembered
        await t.calls("run_program", program="show")
        assert len(asked(t)) == 2


async def test_a_grant_that_another_program_wrote_does_not_count(notes: Path, tmp_path: Path) -> None:
    from gemini_live_runtime.tools.fingerprint import fingerprint

    of = host(notes, show=SHOW)
    tool = next(one for one in of.plan().declared if one.name == "run_program")
    with Harness.open(tmp_path / "root") as harness:
        harness.consent.grant("run_program", fingerprint(tool), agent="test")
    async with talk(of, harness=HarnessWorker(tmp_path / "root")) as t:
        await t.calls("run_program", program="show")
        assert len(asked(t)) == 1


async def test_without_anybody_to_ask_nothing_runs(notes: Path) -> None:
    options = ConsentOptions(policies={"run_program": "allow"}, is_attended=False)
    async with talk(host(notes, touch=["/usr/bin/touch", "begun"]), consent=options) as t:
        await t.calls("run_program", program="touch")
        assert "needs the consent of a person" in answer(t)["error"]
        assert not (notes / "begun").exists()


async def test_in_a_turn_that_a_notification_caused_it_asks_too(notes: Path, tmp_path: Path) -> None:
    with Harness.open(tmp_path / "root") as harness:
        harness.notifications.queue(NewNotification(title="run the tests"))
    options = ConsentOptions(policies={"run_program": "allow"})
    async with talk(host(notes, show=SHOW), harness=HarnessWorker(tmp_path / "root"), consent=options) as t:
        await t.passes(LULL_S + 0.1)
        assert titles(t) == ["run the tests"]
        await t.calls("run_program", program="show")
        assert len(asked(t)) == 1
        assert t.sent("answer") == []


@pytest.mark.parametrize(
    "args",
    [
        {"program": "other"},
        {"program": "/bin/sh"},
        {"program": "show", "arguments": ["x"]},
        {"program": "show", "folder": "/etc"},
        {"program": "echo", "arguments": ["-e"]},
        {"program": "echo", "arguments": "x"},
        {"program": "echo", "arguments": [1]},
    ],
)
async def test_a_call_that_its_entry_does_not_allow_ends_with_an_error(notes: Path, args: dict[str, Any]) -> None:
    async with talk(host(notes, show=SHOW, echo=["/bin/echo", "{args}"])) as t:
        await t.calls("run_program", **args)
        if asked(t):
            await says(t, True)
        assert "error" in answer(t)


async def test_the_output_reaches_model_and_journal_without_secrets(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "AIza" + "K" * 35
    monkeypatch.setenv("GEMINI_API_KEY", key)
    code = "import os; print(dict(os.environ)); print('AIza' + 'K' * 35)"
    async with talk(host(notes, show=[sys.executable, "-I", "-c", code])) as t:
        await t.calls("run_program", program="show")
        await says(t, True)
        assert answer(t)["exit_code"] == 0
        assert "GEMINI" not in str(answer(t))
        assert "KKKKKK" not in str(answer(t))
        assert not [event for event in t.stage.sink.events if "KKKKKK" in repr(event.payload)]


async def test_the_end_of_the_session_ends_a_program(notes: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    loop = asyncio.get_running_loop()
    async with talk(host(notes, wait=["/bin/sh", "-c", "exec 3> $0; echo up >&3; sleep 1000", str(fifo)])) as t:
        await t.calls("run_program", program="wait")
        giving = asyncio.create_task(says(t, True))
        with await loop.run_in_executor(None, lambda: fifo.open("rb", buffering=0)) as file:
            assert await loop.run_in_executor(None, lambda: file.read(3)) == b"up\n"
            assert t.sent("answer") == []
            await t.stage.session.orchestrator.tools.dispatcher.close()
            # The end of all that had the pipe open.
            assert await loop.run_in_executor(None, file.read) == b""
        await giving


@pytest.mark.parametrize(
    ("folders", "programs", "fault"),
    [
        ({"a/b": "~"}, None, "cannot have the name"),
        ("notes", None, "Give a dictionary"),
        ({"notes": 5}, None, "no path"),
        ({"notes": ""}, None, "no path"),
        ({"notes": "~nobody-of-this-name/x"}, None, "no user's home folder"),
        (None, {"x": ["ls"]}, "needs a folder"),
        ({"notes": "~"}, {"x": "ls"}, "no list of texts"),
        ({"notes": "~"}, {"x": []}, "is empty"),
        ({"notes": "~"}, {"../x": ["ls"]}, "cannot have the name"),
        ({"notes": "~"}, {"x": ["ls", "{args}", "{args}"]}, "more than one"),
    ],
)
def test_an_entry_that_cannot_be_is_reported_before_the_session(folders: Any, programs: Any, fault: str) -> None:
    with pytest.raises(AgentError, match=fault):
        agent().workspace(folders, programs).plan()
