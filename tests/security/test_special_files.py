"""Pipes and devices in place of files are neither waited for nor read without end."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.command_line import run

from gemini_live_runtime import paths
from gemini_live_runtime.engine import registry, saved_spec
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import AudioFileError, ConfigError, CredentialError, EngineError
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.files.tracks import read_track
from gemini_live_runtime.journal.sessions import catalog
from gemini_live_runtime.journal.sessions.session_summary import started_at, summarise
from gemini_live_runtime.wire import credentials
from gemini_live_runtime.wire.credentials import find_api_key
from gemini_live_tui import config, config_files, saved_layout
from gemini_live_tui.cli import checks
from gemini_live_tui.set_up import recent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="named pipes and devices are POSIX")


@pytest.fixture(params=["pipe", "endless"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """A function that puts a named pipe, or a link to an endless device, at a path."""

    def make(name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if request.param == "pipe":
            os.mkfifo(path, 0o600)
        else:
            path.symlink_to("/dev/zero")
        return path

    return make


Place = Callable[[str], Path]


def test_a_config_file_must_be_a_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place("config.toml")
    for use in (lambda: config.read_document(path), lambda: config.set_value(path, "ui.fps", 10)):
        with pytest.raises(ConfigError, match=r"config\.toml cannot be read: it is no regular file"):
            use()
    monkeypatch.setenv(config.CONFIG_PATH_VARIABLE, str(path))
    ended = run("config", "set", "ui.fps", "10")
    assert (ended.code, "no regular file" in ended.sentence) == (2, True)


def test_no_config_file_may_be_named_by_the_null_device() -> None:
    assert config.read_document(Path(os.devnull)) == {}


def test_a_key_file_must_be_a_file(place: Place) -> None:
    with pytest.raises(CredentialError, match="cannot be read: it is no regular file"):
        find_api_key({}, source="file", key_file=place("key"))


def test_a_recording_must_be_files(place: Place) -> None:
    folder = place(f"s1/{EVENTS_FILE}").parent
    assert catalog.preview(folder, 5) == []
    assert "cannot be read" in summarise(folder).problem
    assert started_at(folder) == 0.0
    assert catalog.small_object(place("title.json")) == {}
    with pytest.raises(AudioFileError):
        read_track(place("model.wav"))


def test_doctor_tells_that_the_newest_recording_is_no_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = place(f"s1/{EVENTS_FILE}").parent.parent
    monkeypatch.setattr(paths, "sessions_dir", lambda: sessions)
    (check,) = checks._last_sound()
    assert (check.state, check.found.startswith("session s1 cannot be read: ")) == ("missing", True)


def test_what_the_console_remembers_must_be_files(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert saved_layout.recall(place("console.json")) == {}
    agents = place("recent.json")
    monkeypatch.setattr(recent, "_path", lambda: agents)
    assert recent.recent_agents() == []


def test_a_file_above_its_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert paths.read_regular(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes") as refused:
        paths.read_regular(tmp_path / "file", 4)
    assert refused.value.errno == errno.EFBIG
    with (tmp_path / "config.toml").open("wb") as file:
        file.truncate(config_files.MAX_BYTES + 1)
    with pytest.raises(ConfigError, match="more than 1,048,576 bytes"):
        config.read_document(tmp_path / "config.toml")


def padded(path: Path, most: int) -> Path:
    """Make a usable file longer than may be read, with blanks that mean nothing."""
    path.write_bytes(path.read_bytes().ljust(most + 1))
    path.chmod(0o600)
    return path


def test_of_a_key_file_no_more_than_its_limit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "A" * 39
    monkeypatch.setattr(credentials, "MAX_KEY_FILE_BYTES", len(key) + 1)
    (tmp_path / "key").write_text(f"{key}\nand more")
    (tmp_path / "key").chmod(0o600)
    found = find_api_key({}, source="file", key_file=tmp_path / "key").credential
    assert found is not None
    assert found.secret == key


def test_what_an_engine_leaves_in_its_folder_is_not_read_above_its_limit(tmp_path: Path) -> None:
    (tmp_path / registry.TOKEN_FILE).write_text('{"port": 1, "token": "secret"}')
    padded(tmp_path / registry.TOKEN_FILE, registry.MAX_TOKEN_BYTES)
    with pytest.raises(OSError, match="more than 4,096 bytes"):
        registry.read_token(tmp_path)
    saved_spec.save_spec(tmp_path, EngineSpec(session_id="s1"))
    padded(tmp_path / saved_spec.SPEC_FILE, saved_spec.MAX_BYTES)
    with pytest.raises(EngineError, match="more than 262,144 bytes"):
        saved_spec.saved_spec(tmp_path)


def test_a_list_of_recent_agents_above_its_limits_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_path", lambda: tmp_path / "recent.json")
    long = f"{'m' * recent.MAX_REFERENCE}:agent"
    for reference in (long, "mine:agent"):
        recent.remember(reference)
    assert [agent.reference for agent in recent.recent_agents()] == ["mine:agent"]
    padded(tmp_path / "recent.json", recent.MAX_BYTES)
    assert recent.recent_agents() == []


def test_a_saved_layout_above_its_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text('{"zoom": true}')
    assert saved_layout.recall(tmp_path / "console.json") == {"zoom": True}
    assert saved_layout.recall(padded(tmp_path / "console.json", saved_layout.MAX_BYTES)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "[" * 30_000,
        '{"pid": 1, "agent": "a", "backend": "b", "started": NaN, "program": "p"}',
        '{"pid": Infinity, "agent": "a", "backend": "b", "started": 1, "program": "p"}',
        '{"pid": 1e999, "agent": "a", "backend": "b", "started": 1, "program": "p"}',
        f'{{"pid": {"9" * 5000}}}',
        " " * 70_000 + '{"pid": 1, "agent": "a", "backend": "b", "started": 1, "program": "p"}',
    ],
    ids=["nested", "nan", "infinite", "too large", "long", "padded"],
)
def test_a_damaged_engine_file_names_no_engine(text: str, tmp_path: Path) -> None:
    (tmp_path / registry.ENGINE_FILE).write_text(text)
    assert registry.read_info(tmp_path) is None
