"""`notify`: queue, list and acknowledge."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import run

from gemini_live_runtime.harness.delivery import DeliveryLock
from gemini_live_runtime.harness.notifications import HarnessNotification, NewNotification, NotificationStatus
from gemini_live_runtime.harness.paths import default_root
from gemini_live_runtime.harness.store import Harness
from gemini_live_tui.cli import notify


@pytest.fixture
def harness() -> Iterator[Harness]:
    with Harness.open(default_root()) as opened:
        yield opened


def only(harness: Harness) -> HarnessNotification:
    (one,) = harness.notifications.find().records
    return one


def test_a_text_is_queued_without_any_engine(harness: Harness) -> None:
    done = run("notify", "the oven is ready")
    assert (done.code, done.err) == (0, "")
    one = only(harness)
    assert done.out == f"Queued {one.id[-12:]}: it waits for a conversation.\n"
    assert (one.title, one.body, one.source) == ("the oven is ready", "", "cli")
    assert one.status is NotificationStatus.QUEUED


def test_the_key_of_the_environment_is_not_stored_whatever_its_shape(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "quite-an-ordinary-word-of-no-known-shape"
    monkeypatch.setenv("GEMINI_API_KEY", key)
    assert run("notify", f"it is {key}", "--body", key).code == 0
    assert run("memory", "put", "user", "note", f"it is {key}").code == 0
    stored = [path.read_text() for path in default_root().rglob("*.json")]
    assert len(stored) >= 2
    assert not any(key in text for text in stored)


def test_beside_a_title_the_text_is_the_body(harness: Harness) -> None:
    assert run("notify", "200 degrees", "--title", "oven").code == 0
    assert (only(harness).title, only(harness).body) == ("oven", "200 degrees")


def test_of_standard_input_the_first_line_is_the_title(harness: Harness) -> None:
    assert run("notify", "-", stdin="backup failed\nno space\nleft on device\n").code == 0
    assert (only(harness).title, only(harness).body) == ("backup failed", "no space\nleft on device")


def test_kind_source_and_key_are_kept_and_the_same_key_replaces_what_waits(harness: Harness) -> None:
    options = ("--kind", "taskFailed", "--source", "disk", "--key", "disk")
    assert run("notify", "80 %", *options).code == run("notify", "90 %", *options).code == 0
    one = only(harness)
    assert (one.title, one.kind.value, one.source, one.dedupe_key) == ("90 %", "taskFailed", "disk", "disk")


@pytest.mark.parametrize(("given", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("10 min", 600), ("2h", 7200)])
def test_it_expires_after_the_given_time(harness: Harness, given: str, seconds: int) -> None:
    before = time.time()
    assert run("notify", "soup", "--expires", given).code == 0
    expires = only(harness).expires_at_ms
    assert expires is not None
    assert before <= expires / 1000 - seconds <= time.time() + 0.001


@pytest.mark.parametrize("given", ["0", "-5", "soon", "1y", "10ms", "999999999d", "", "١m"])
def test_a_time_that_is_none_is_refused(harness: Harness, given: str) -> None:
    refused = run("notify", "soup", "--expires", given)
    assert refused.code == 2
    assert "10m" in refused.sentence
    assert harness.notifications.find().records == []


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("",),
        ("  ",),
        ("a", "--list"),
        ("--list", "--ack", "1"),
        ("a", "--all"),
        ("a", "--title", "b", "--body", "c"),
        ("a", "--kind", "party"),
        ("a", "--root", "x", "--profile", "y"),
        ("a", "--profile", "../../etc"),
    ],
)
def test_bad_input_is_one_sentence_and_queues_nothing(harness: Harness, arguments: tuple[str, ...]) -> None:
    refused = run("notify", *arguments)
    assert refused.code in (1, 2)
    assert refused.sentence
    assert harness.notifications.find().records == []


def test_the_list_shows_open_ones_first_and_why_one_was_given_up(harness: Harness) -> None:
    store = harness.notifications
    names = [store.queue(NewNotification(title=title, source="cron")).id for title in ("oven", "door", "wash")]
    store.acknowledge(names[0])
    store.give_up(names[1], "begun 5 times")
    head, *rows = run("notify", "--list").out.splitlines()
    assert head.split() == ["ID", "STATUS", "TRIES", "AGE", "SOURCE", "TITLE"]
    assert next(row.split()[1] for row in rows) == "queued"
    assert sorted(row.split()[1] for row in rows) == ["acknowledged", "failed", "queued"]
    assert any(row.endswith("door (begun 5 times)") for row in rows)


def test_without_notifications_the_list_says_so() -> None:
    assert run("notify", "--list").out == "There is no notification.\n"


def test_list_and_queueing_are_also_json(harness: Harness) -> None:
    queued = json.loads(run("notify", "oven", "--json").out)
    (listed,) = [json.loads(line) for line in run("notify", "--list", "--json").out.splitlines()]
    assert queued == listed
    assert (listed["title"], listed["status"]) == ("oven", "queued")


def test_a_damaged_file_is_named_and_hides_no_other(harness: Harness) -> None:
    harness.notifications.queue(NewNotification(title="oven"))
    (harness.paths.notifications / "x.json").write_text("{")
    listed = run("notify", "--list")
    assert listed.code == 1
    assert "oven" in listed.out
    assert "x.json is damaged" in listed.err


def test_one_is_acknowledged_by_the_end_of_its_id(harness: Harness) -> None:
    one = harness.notifications.queue(NewNotification(title="oven"))
    assert run("notify", "--ack", one.id[-6:]).out == f"Acknowledged {one.id[-12:]}: oven\n"
    assert only(harness).status is NotificationStatus.ACKNOWLEDGED


@pytest.mark.parametrize("name", ["", "zz", "../x"])
def test_an_unknown_one_cannot_be_acknowledged(harness: Harness, name: str) -> None:
    harness.notifications.queue(NewNotification(title="oven"))
    refused = run("notify", "--ack", name)
    assert refused.code == 1
    assert "notify --list" in refused.sentence


def test_an_engine_that_delivers_is_poked(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    poked: list[str] = []
    monkeypatch.setattr("gemini_live_runtime.engine.poke.poke", lambda name: bool(poked.append(name)) or True)
    lock = DeliveryLock(harness.paths, harness.files, "20261124-001500-abcd")
    assert lock.take()
    assert "announces it at the next pause" in run("notify", "oven").out
    assert poked == ["20261124-001500-abcd"]
    lock.release()


def test_a_program_that_died_while_it_delivered_is_not_promised(harness: Harness) -> None:
    harness.paths.delivery_lock.write_text("20261124-001500-abcd")
    assert "it waits for a conversation" in run("notify", "oven").out


def test_a_program_without_an_engine_finds_it_by_its_poll(harness: Harness) -> None:
    lock = DeliveryLock(harness.paths, harness.files, "20261124-001500-abcd")
    assert lock.take()
    assert "announces it at the next pause" in run("notify", "oven").out
    lock.release()


def test_hostile_text_reaches_no_terminal(harness: Harness) -> None:
    for text in (*HOSTILE, "\x1b]0;x\x07oven"):
        assert run("notify", text or "x", "--source", text, "--key", text).control == []
    assert run("notify", "--list").control == []


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert run("notify", "oven", "--root", str(tmp_path / "root")).code == 0
    finally:
        os.umask(before)
    for path in (tmp_path / "root", *(tmp_path / "root").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_it_loads_neither_screen_nor_session() -> None:
    code = (
        "import sys; from gemini_live_tui.cli import main; assert main(['notify', 'oven']) == 0\n"
        "heavy = {'textual', 'numpy', 'asyncio', 'websockets', 'gemini_live_runtime.session'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_key_of_several_lines_is_neither_title_nor_body() -> None:
    lines = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj" for _ in range(4))
    text = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\nis lost"
    assert run("notify", "-", stdin=text).code == 0
    (queued,) = [json.loads(line) for line in run("notify", "--list", "--json").out.splitlines()]
    assert "MIIEvQ" not in queued["title"] + queued["body"]
    assert queued["body"] == "is lost"


def test_of_an_endless_standard_input_the_beginning_is_read(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "MAX_INPUT", 20)
    assert run("notify", "-", stdin="the oven\n" + "is ready " * 1000).code == 0
    assert (only(harness).title, only(harness).body) == ("the oven", "is ready is")


def test_a_damaged_notification_is_acknowledged_as_damaged_and_not_as_unknown() -> None:
    run("notify", "the oven is ready")
    (file,) = (default_root() / "notifications").glob("*.json")
    file.write_text("{")
    assert "is damaged: " in run("notify", "--ack", file.stem[-12:]).sentence
