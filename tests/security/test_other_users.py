"""Other users cannot pass for an engine or a console, nor have a process killed.

The other user is this process with another effective user id, which needs root.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.command_line import run

from gemini_live_runtime import paths
from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.engine import registry, stop
from gemini_live_runtime.engine.console_server import ConsoleServer
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.launch import start_engine
from gemini_live_runtime.engine.registry import engine_folder, is_alive, list_engines
from gemini_live_runtime.engine.saved_spec import KEY_FILE, save_spec, saved_spec
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.engine.stop import stop_engine
from gemini_live_runtime.errors import ConfigError, EngineError, HarnessError, UsageError
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.journal.files.disk import lock
from gemini_live_tui import config
from gemini_live_tui.cli import checks
from gemini_live_tui.profile_files import profile_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="users are POSIX")
as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can act as a second user")

OTHER = 12345
"""Id of the other user and group, for which the system needs no entry."""

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def other_user() -> Iterator[None]:
    os.setegid(OTHER)
    os.seteuid(OTHER)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of everybody, on a system without a runtime folder."""
    folder = Path(tempfile.mkdtemp(prefix="glt"))
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(paths, "_platform_runtime_dir", lambda: None)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def signalled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(stop.os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


def fake_engine(folder: Path) -> int:
    """Write an engine's files, which name this process; return the lock."""
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    engine = '{"pid": %d, "agent": "a", "backend": "b", "started": 1, "program": "p"}'
    (folder / registry.ENGINE_FILE).write_text(engine % os.getpid())
    fd = os.open(folder / registry.LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
    os.chmod(folder / registry.LOCK_FILE, 0o666)
    lock(fd)
    return fd


def refused_everywhere(said: str) -> None:
    with pytest.raises(UsageError, match=said):
        start_engine(EngineSpec(session_id="s1"), program=("/bin/false",))
    with pytest.raises(UsageError, match=said):
        list_engines()
    with pytest.raises(UsageError, match=said):
        asyncio.run(stop_engine("s1"))


@as_root
def test_a_runtime_folder_that_another_user_made_beforehand_is_refused(
    shared: Path, signalled: list[tuple[int, int]]
) -> None:
    with other_user():
        runtime = paths.runtime_dir()
        runtime.mkdir()
        runtime.chmod(0o777)
        held = fake_engine(runtime / "s1")
    try:
        refused_everywhere("belongs to another user")
        assert os.listdir(runtime) == ["s1"]
        assert signalled == []
    finally:
        os.close(held)


@as_root
@pytest.mark.parametrize("is_link", [False, True])
def test_what_this_user_cannot_remove_is_not_asked_to_be_removed(
    is_link: bool, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = shared / "run"
    with other_user():
        if is_link:
            runtime.symlink_to(shared)
        else:
            runtime.mkdir()
    with pytest.raises(UsageError) as refused:
        paths.own_folder(runtime)
    assert refused.value.remedy == "Remove it, or set XDG_RUNTIME_DIR to a folder of your own"
    # In a sticky folder of root's, nobody but root and a file's owner can remove it.
    monkeypatch.setattr(os, "getuid", lambda: OTHER + 1)
    with pytest.raises(UsageError) as refused:
        paths.own_folder(runtime)
    assert refused.value.remedy == "Set XDG_RUNTIME_DIR to a folder of your own"


@as_root
def test_a_link_of_another_user_to_a_folder_of_ours_is_refused(shared: Path, tmp_path: Path) -> None:
    with other_user():
        paths.runtime_dir().symlink_to(tmp_path)
    refused_everywhere("is a link")


@as_root
def test_a_folder_of_another_user_in_our_runtime_folder_is_no_engine(
    shared: Path, signalled: list[tuple[int, int]]
) -> None:
    runtime = paths.runtime_dir()
    runtime.mkdir()
    runtime.chmod(0o777)
    with other_user():
        held = fake_engine(runtime / "s1")
    try:
        assert list_engines() == []
        assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
        with pytest.raises(EngineError, match="no engine s1"):
            asyncio.run(stop_engine("s1"))
        with pytest.raises(UsageError, match="another user"):
            start_engine(EngineSpec(session_id="s1"), program=("/bin/false",))
        assert signalled == []
        assert sorted(os.listdir(runtime / "s1")) == [registry.ENGINE_FILE, registry.LOCK_FILE]
    finally:
        os.close(held)


@as_root
@pytest.mark.parametrize("name", ["harness/default", "sessions", "sessions/s1"])
def test_no_folder_is_made_in_a_data_folder_of_another_user(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as parent:
        os.chmod(parent, 0o777)
        monkeypatch.setattr(paths, "data_dir", lambda: Path(parent) / "data")
        with other_user():
            paths.data_dir().mkdir(mode=0o777)
        with pytest.raises(UsageError, match="data belongs to another user") as refused:
            paths.private_dir(paths.data_dir() / name)
        assert refused.value.remedy == "Remove it, or set XDG_DATA_HOME to a folder of your own"


@as_root
def test_records_in_a_folder_of_another_user_are_refused_with_a_remedy() -> None:
    with tempfile.TemporaryDirectory() as root:
        os.chown(root, OTHER, OTHER)
        with pytest.raises(HarnessError, match="belongs to another user") as refused:
            Harness.open(root)
    assert refused.value.remedy == "Remove it, or give a folder of your own"


@as_root
def test_consent_that_another_user_has_put_among_the_records_is_none(tmp_path: Path) -> None:
    with Harness.open(tmp_path / "records") as harness:
        harness.consent.set_policy("pay", "allow")
        os.chown(harness.paths.consent, OTHER, OTHER)
        with pytest.raises(HarnessError, match="belongs to another user"):
            harness.consent.read()


@as_root
def test_settings_of_another_user_name_no_code_to_run(nobodys_home: Path) -> None:
    for path in (config.config_path({}), profile_path("work")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('agent = "theirs.py:agent"\n')
        os.chown(path, OTHER, OTHER)
        with pytest.raises(ConfigError, match=rf"{path.name} cannot be read: it belongs to another user") as refused:
            config.read_document(path)
        assert refused.value.remedy == "Make it a file of your own"
    assert run("talk", "--fast", "--text", "hello").code == 2


@as_root
def test_a_session_signed_with_a_key_of_another_user_does_not_go_on(tmp_path: Path) -> None:
    save_spec(tmp_path, EngineSpec(session_id="s1"))
    assert saved_spec(tmp_path).spec.session_id == "s1"
    os.chown(paths.state_dir() / KEY_FILE, OTHER, OTHER)
    with pytest.raises(EngineError, match="not saved by you"):
        saved_spec(tmp_path)


@as_root
async def test_a_console_leaves_a_socket_on_which_another_user_listens(shared: Path) -> None:
    folder = shared / "s1"
    with other_user():
        folder.mkdir()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.fspath(folder / registry.SOCKET_FILE))
        listener.listen()
    with listener:
        listener.setblocking(False)
        with pytest.raises(EngineError, match="belongs to another user"):
            await SocketLink.connect(folder)
        accepted, _ = await asyncio.get_running_loop().sock_accept(listener)
        with accepted:
            assert await asyncio.get_running_loop().sock_recv(accepted, 100) == b""


@as_root
async def test_an_engine_refuses_a_console_of_another_user(shared: Path) -> None:
    hub = Hub("s1", LoopClock(), program="p", pid=1)
    server = ConsoleServer(hub, shared / "s1", lambda line: True, kind="unix")
    await server.open()
    door = shared / "s1" / registry.SOCKET_FILE
    # As if the modes of folder and socket were lost.
    (shared / "s1").chmod(0o755)
    door.chmod(0o666)
    try:
        with other_user():
            caller = socket.socket(socket.AF_UNIX)
            caller.connect(os.fspath(door))
        reader, writer = await asyncio.open_unix_connection(sock=caller)
        assert "another user" in (await reader.read()).decode()
        writer.close()
        assert hub.consoles == 0
    finally:
        await server.close()
        hub.bye("over", 0)


@as_root
def test_a_folder_of_another_user_above_ours_is_refused(shared: Path) -> None:
    with other_user():
        (shared / "theirs").mkdir()
    with pytest.raises(UsageError, match="theirs belongs to another user") as refused:
        paths.own_folder(shared / "theirs" / "run", create=True)
    assert refused.value.remedy == "Set XDG_RUNTIME_DIR to a folder of your own"
    assert list((shared / "theirs").iterdir()) == []


@as_root
@pytest.mark.parametrize("kind", ["config", "data", "state"])
def test_a_folder_of_another_user_is_refused_with_the_variable_that_moves_it(kind: str, nobodys_home: Path) -> None:
    folder: Path = getattr(paths, f"{kind}_dir")()
    folder.mkdir(parents=True)
    os.chown(folder, OTHER, OTHER)
    with pytest.raises(UsageError, match="belongs to another user") as refused:
        paths.private_dir(folder)
    assert f"set XDG_{kind.upper()}_HOME to" in refused.value.remedy


@as_root
@pytest.mark.parametrize("inside", [".", "run"])
def test_the_runtime_folder_of_the_user_before_su_is_left_alone(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Path(tempfile.mkdtemp(prefix="glt"))
    try:
        (before / "run").mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(before / inside))
        with other_user():
            assert paths.runtime_dir().parent == Path(tempfile.gettempdir())
    finally:
        shutil.rmtree(before)


def test_a_folder_that_others_can_change_holds_no_engines(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    root = tmp_path / "run"
    with pytest.raises(UsageError, match=re.escape(f"{tmp_path} can be changed by other users")):
        start_engine(EngineSpec(session_id="s1"), root=root, program=("/bin/false",))
    root.mkdir(mode=0o700)
    with pytest.raises(UsageError, match=re.escape(f"chmod go-w {tmp_path}")):
        list_engines(root)
    tmp_path.chmod(0o1777)
    assert list_engines(root) == []


def test_a_link_above_the_runtime_folder_is_followed_only_to_safe_folders(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    assert engine_folder("s1", tmp_path / "link" / "run").name == "s1"
    paths.own_folder(tmp_path / "link" / "run", create=True)
    assert stat.S_IMODE((tmp_path / "real" / "run").stat().st_mode) == 0o700
    (tmp_path / "real").chmod(0o777)
    with pytest.raises(UsageError, match="can be changed by other users"):
        engine_folder("s1", tmp_path / "link" / "run")


def test_a_process_is_not_signalled_because_a_file_names_it(
    tmp_path: Path, signalled: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = paths.own_folder(tmp_path / "run", create=True)
    # The lock of this process is not signed: the system cannot say who holds it.
    held = fake_engine(root / "s1")
    (root / "s1").chmod(0o700)
    try:
        assert is_alive(root / "s1")
        with pytest.raises(EngineError, match="does not tell which process") as refused:
            asyncio.run(stop_engine("s1", root=root))
        assert str(os.getpid()) in refused.value.remedy
        assert signalled == []
    finally:
        os.close(held)


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the system does not tell who holds a lock")
def test_the_process_that_holds_the_lock_is_known_whatever_a_file_says(tmp_path: Path) -> None:
    root = paths.own_folder(tmp_path / "run", create=True)
    os.close(fake_engine(root / "s1"))
    (root / "s1").chmod(0o700)
    code = (
        "import sys; from pathlib import Path; from gemini_live_runtime.engine.registry import take_lock;"
        "take_lock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(root / "s1")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    with holder.stdin, holder.stdout:
        assert holder.stdout.readline() == b"held\n"
        assert registry.proven_pid(root / "s1") == holder.pid
    holder.wait()
    assert registry.proven_pid(root / "s1") is None


def test_no_child_process_imports_from_the_working_folder(tmp_path: Path) -> None:
    # Whatever lies in a folder of everybody would run as this user, in place of a module of Python's own.
    code = "".join(path.read_text("utf-8") for part in ("runtime", "tui") for path in (ROOT / part).rglob("*.py"))
    starts = len(re.findall(r'"-m",\s*"gemini_live', code))
    assert starts >= 6
    assert len(re.findall(r'"-P",\s*"-m",\s*"gemini_live', code)) == starts
    (tmp_path / "asyncio.py").write_text("print('taken in')")
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "gemini_live_runtime.engine"], cwd=tmp_path, capture_output=True, check=False
    )
    assert ended.stdout == b""
    assert b"usage" in ended.stderr


def test_doctor_names_a_folder_above_the_engines_that_others_can_change(nobodys_home: Path) -> None:
    runtime = paths.own_folder(paths.runtime_dir(), create=True)
    runtime.parent.chmod(0o777)
    checks = {check["name"]: check for check in json.loads(run("doctor", "--json").out)["checks"]}
    assert checks["engines"]["state"] == "failed"
    assert checks["engines"]["found"] == f"The folder {runtime.parent} can be changed by other users"
    assert checks["engines"]["remedy"].startswith(f"Run chmod go-w {runtime.parent}")


@as_root
def test_doctor_tells_folders_of_another_user(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with other_user():
        (shared / "closed").mkdir(mode=0o700)
        (shared / "sessions").mkdir()
    monkeypatch.setattr(paths, "sessions_dir", lambda: shared / "sessions")
    assert checks._folders()[0].found == f"The folder {shared / 'sessions'} belongs to another user"
    monkeypatch.setattr(paths, "sessions_dir", lambda: shared / "closed" / "sessions")
    os.seteuid(OTHER + 1)
    try:
        check = checks._folders()[0]
    finally:
        os.seteuid(0)
    assert check.found == f"{shared / 'closed' / 'sessions'} is not writable"
    assert check.remedy
