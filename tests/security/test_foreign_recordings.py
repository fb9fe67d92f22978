"""A recording that was passed on starts no code and names no host for a key."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime import paths
from gemini_live_runtime.engine import resume
from gemini_live_runtime.engine.resume import resume_engine
from gemini_live_runtime.engine.saved_spec import KEY_FILE, SPEC_FILE, save_spec, saved_spec
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import EngineError

SPEC = EngineSpec(session_id="s1", agent="mine.py:agent", trusted_hosts=("example.org",), prices={"m": {"input": 0.1}})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[EngineSpec]:
    specs: list[EngineSpec] = []

    def start(spec: EngineSpec, **more: object) -> None:
        specs.append(spec)
        raise EngineError("started")

    monkeypatch.setattr(resume, "start_engine", start)
    return specs


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Folder of a session that an engine of this user has recorded."""
    folder = tmp_path / "sessions" / "s1"
    folder.mkdir(parents=True)
    save_spec(folder, SPEC)
    return folder


def _change(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    value = json.loads((folder / SPEC_FILE).read_text())
    change(value)
    (folder / SPEC_FILE).write_text(json.dumps(value))


def test_a_session_that_this_user_recorded_goes_on_with_its_settings(recorded: Path) -> None:
    saved = saved_spec(recorded)
    assert (saved.spec, saved.working_folder) == (SPEC, os.getcwd())


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.pop("signature"),
        lambda value: value.update(signature=""),
        lambda value: value.update(signature="\ud800"),
        lambda value: value.update(signature=7),
        lambda value: value["spec"].update(agent="other.py:agent"),
        lambda value: value["spec"].update(trusted_hosts=["example.com"]),
        lambda value: value["spec"].update(backend="wss://example.com"),
        lambda value: value.update(working_folder="/"),
    ],
    ids=["unsigned", "empty", "no text", "number", "agent", "hosts", "backend", "folder"],
)
async def test_settings_that_somebody_else_wrote_or_changed_start_no_engine(
    change: Callable[[dict[str, Any]], object], recorded: Path, started: list[EngineSpec]
) -> None:
    _change(recorded, change)
    with pytest.raises(EngineError, match="its settings were not saved by you on this computer") as refused:
        await resume_engine(recorded, asked=True)
    assert refused.value.remedy == "Look at it with: gemini-live-tui replay s1"
    assert started == []


async def test_settings_of_another_session_start_no_engine(recorded: Path, started: list[EngineSpec]) -> None:
    other = recorded.rename(recorded.with_name("s2"))
    with pytest.raises(EngineError, match="not saved by you"):
        await resume_engine(other, asked=True)
    assert started == []


@pytest.mark.parametrize("key", [None, b"", b"short", b"x" * 33])
async def test_without_this_users_key_nothing_goes_on(
    key: bytes | None, recorded: Path, started: list[EngineSpec]
) -> None:
    path = paths.state_dir() / KEY_FILE
    path.unlink() if key is None else path.write_bytes(key)
    with pytest.raises(EngineError, match="not saved by you"):
        await resume_engine(recorded, asked=True)
    assert started == []


@pytest.mark.parametrize(
    "text",
    ["[" * 30_000, "[]", "7", '{"spec": {}}', '{"spec": [], "working_folder": "/"}', "\x00"],
    ids=["nested", "list", "number", "partial", "wrong type", "zero byte"],
)
def test_damaged_settings_are_refused_in_a_sentence(text: str, recorded: Path) -> None:
    (recorded / SPEC_FILE).write_text(text)
    with pytest.raises(EngineError, match=r"cannot be read|not saved by you"):
        saved_spec(recorded)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_key_is_made_once_and_is_this_users_alone(recorded: Path) -> None:
    path = paths.state_dir() / KEY_FILE
    key = path.read_bytes()
    assert (len(key), stat.S_IMODE(path.stat().st_mode)) == (32, 0o600)
    other = recorded.with_name("s2")
    other.mkdir()
    save_spec(other, SPEC)
    assert path.read_bytes() == key


@pytest.mark.parametrize(
    "backend",
    [
        "wss://bob:Tr0ub4dor-and-3@example.org/live",
        "wss://example.org/live?key=AIzaSyCANARYcanary0123456789-CANARYcanary",
        "wss://example.org/live?access_token=Tr0ub4dor-and-3",
    ],
)
def test_a_secret_in_the_servers_url_is_not_saved_beside_the_recording(backend: str, tmp_path: Path) -> None:
    save_spec(tmp_path, replace(SPEC, backend=backend))
    assert os.listdir(tmp_path) == []
    with pytest.raises(EngineError, match="recorded without its settings"):
        saved_spec(tmp_path)


def test_the_place_of_a_key_is_no_secret(tmp_path: Path) -> None:
    save_spec(tmp_path, replace(SPEC, api_key_source="file", api_key_file="/etc/gemini/key", backend="gemini"))
    assert saved_spec(tmp_path).spec.api_key_file == "/etc/gemini/key"


def test_without_a_place_for_the_key_a_session_is_recorded_without_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(paths, "state_dir", lambda: tmp_path / "file" / "state")
    save_spec(tmp_path, SPEC)
    assert not (tmp_path / SPEC_FILE).exists()
