"""Two programs run tasks on one root, the command line asks, and a kill ends them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gemini_live_runtime.harness.notifications import KIND_OF_END
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import TaskStatus

OPERATIONS = 10_000 if os.environ.get("SOAK") else 400
"""Operations of all programs together."""

KILLS = 3

_ENGINE = """
import json, random, sys
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryWrite
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import NewRunningTask

root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
dice, running = random.Random(name), []
harness = Harness.open(root)
harness.reconcile()

def tell(**done):
    print(json.dumps({"by": name, **done}), flush=True)

for number in range(count):
    what = dice.choice(("start", "start", "progress", "progress", "end", "end", "obey", "notify", "remember", "list"))
    if what == "start" and len(running) < 20:
        task = harness.tasks.start(NewRunningTask(title=f"{name} {number}"))
        running.append(task.id)
        tell(started=task.id)
    elif what == "progress" and running:
        harness.tasks.progress(dice.choice(running), f"step {number}", fraction=dice.random())
        tell()
    elif what == "end" and running:
        task_id = running.pop(dice.randrange(len(running)))
        end = dice.choice((harness.tasks.complete, harness.tasks.fail))
        ended = end(task_id, f"at {number}")
        tell(ended=task_id, status=ended.status.value)
    elif what == "obey":
        for task_id in [one for one in running if harness.tasks.cancel_request(one) is not None]:
            running.remove(task_id)
            tell(ended=task_id, status=harness.tasks.cancel(task_id, "asked").status.value)
        tell()
    elif what == "notify":
        tell(queued=harness.notifications.queue(NewNotification(title=f"{name} {number}")).id)
    elif what == "remember":
        key = f"key-{dice.randrange(20)}"
        harness.memory.put(MemoryWrite(scope="user", key=key, value=f"{name} {number}"))
        tell(key=key, value=f"{name} {number}")
    else:
        assert not harness.tasks.find().problems
        tell()
tell(over=True)
sys.stdin.read()
"""

_COMMANDS = """
import contextlib, io, json, random, sys
from gemini_live_tui.cli import main

root, count = sys.argv[1], int(sys.argv[2])
dice = random.Random("commands")

def run(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(list(arguments))
    return code, out.getvalue()

for number in range(count):
    done = {}
    if number % 2:
        code, text = run("tasks", "--root", root, "--json")
        assert code == 0, text
        running = [task["id"] for task in map(json.loads, text.splitlines()) if task["status"] == "running"]
        if running:
            # It may end before it is asked: then the command says so.
            code, text = run("tasks", "--root", root, "cancel", dice.choice(running))
            assert code == 0 or "has ended already" in text, text
    else:
        code, text = run("notify", f"command {number}", "--root", root, "--json")
        assert code == 0, text
        done = {"queued": json.loads(text)["id"]}
    print(json.dumps({"by": "commands", **done}), flush=True)
"""


def program(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


class Ledger:
    """Reference: what the programs were promised, in the order of their answers."""

    def __init__(self) -> None:
        self.started: dict[str, str] = {}
        self.ended: dict[str, str] = {}
        self.queued: set[str] = set()
        self.values: defaultdict[str, dict[str, str]] = defaultdict(dict)
        """Newest value that each program has written, by key."""

    def note(self, line: str) -> dict[str, Any]:
        done: dict[str, Any] = json.loads(line)
        if "started" in done:
            self.started[done["started"]] = done["by"]
        if "ended" in done:
            assert done["ended"] not in self.ended
            self.ended[done["ended"]] = done["status"]
        if "queued" in done:
            self.queued.add(done["queued"])
        if "key" in done:
            self.values[done["key"]][done["by"]] = done["value"]
        return done


def run_engine(root: str, name: str, count: int, ledger: Ledger, die_after: int = -1) -> subprocess.Popen[str]:
    """Run a program to its last operation, or kill it in the midst of one."""
    engine = program(_ENGINE, root, name, str(count))
    assert engine.stdout is not None
    for number, line in enumerate(engine.stdout):
        if ledger.note(line).get("over"):
            break
        if number == die_after:
            engine.send_signal(signal.SIGKILL)
            # What it had answered before it died counts as well.
            for rest in engine.communicate()[0].splitlines():
                ledger.note(rest)
            break
    return engine


def test_nothing_is_lost_doubled_or_wrongly_interrupted(tmp_path: Path) -> None:
    root, ledger, dice = str(tmp_path / "root"), Ledger(), random.Random(7)
    Harness.open(root).close()
    share = OPERATIONS // 4
    engines: list[subprocess.Popen[str]] = []
    try:
        with ThreadPoolExecutor() as readers:
            lasting = readers.submit(run_engine, root, "lasting", share * 2, ledger)
            commands = readers.submit(run_commands, root, share, ledger)
            for number in range(KILLS):
                run_engine(root, f"killed-{number}", share, ledger, dice.randrange(share // 3, share // 2))
            engines.append(run_engine(root, "last", share // 4, ledger))
            engines.append(lasting.result())
            commands.result()
        check(root, ledger)
    finally:
        for engine in engines:
            engine.kill()
            engine.communicate()


def run_commands(root: str, count: int, ledger: Ledger) -> None:
    commands = program(_COMMANDS, root, str(count))
    for line in commands.communicate()[0].splitlines():
        ledger.note(line)
    assert commands.returncode == 0


def check(root: str, ledger: Ledger) -> None:
    """Compare the records with the reference; the programs "lasting" and "last" live."""
    with Harness.open(root) as harness:
        harness.reconcile()
        tasks = {task.id: task for task in harness.tasks.find().records}
        assert ledger.started.keys() <= tasks.keys()
        for task_id, task in tasks.items():
            if task_id in ledger.ended:
                assert task.status.value == ledger.ended[task_id]
            else:
                lives = ledger.started.get(task_id) in ("lasting", "last")
                assert (task.status is TaskStatus.RUNNING) == lives
        listing = harness.notifications.find()
        assert not listing.problems
        of_tasks = [one for one in listing.records if one.task_id is not None]
        ended = Counter(name for name, task in tasks.items() if task.status.is_terminal)
        assert Counter(one.task_id for one in of_tasks) == ended
        assert all(one.kind is KIND_OF_END[tasks[one.task_id or ""].status] for one in of_tasks)
        assert ledger.queued <= {one.id for one in listing.records}
        for key, values in ledger.values.items():
            value = harness.memory.get("user", key).value
            # A program may have been killed between its write and its word.
            assert value in values.values() or value.startswith("killed-")
