"""`profiles`: list, show, create, use, set, delete, path, revoke and set-key."""

from __future__ import annotations

import errno
import json
import os
import sys
import tomllib
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import run
from tests.support.keyring_double import install_keyring

from gemini_live_runtime import paths
from gemini_live_runtime.engine.registry import ENGINE_FILE, LOCK_FILE
from gemini_live_runtime.harness.paths import default_root
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.journal.files.disk import try_lock
from gemini_live_runtime.wire.credentials import KEYRING_SERVICE, find_api_key
from gemini_live_tui import config

KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"


def file_of(name: str) -> Path:
    return paths.config_dir() / "profiles" / f"{name}.toml"


def listed() -> dict[str, dict[str, object]]:
    rows = map(json.loads, run("profiles", "--json").out.splitlines())
    return {row["name"]: row for row in rows}


def test_at_first_there_is_the_default_profile_without_a_file() -> None:
    assert listed() == {
        "default": {"name": "default", "default": True, "file": None, "chosen_by": "default", "problem": ""}
    }
    assert "* default" in run("profiles").out


def test_a_created_profile_is_listed_and_becomes_the_one_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("profiles", "create", "work").code == 0
    assert listed()["work"] == {"name": "work", "default": False, "file": str(file_of("work")), "problem": ""}
    assert run("profiles", "use", "work").code == 0
    assert listed()["work"]["chosen_by"] == str(config.config_path({}))
    assert config.load().profile.name == "work"
    monkeypatch.setenv("GEMINI_LIVE_TUI_PROFILE", "default")
    assert listed()["default"]["chosen_by"] == "GEMINI_LIVE_TUI_PROFILE"
    assert "overrides it" in run("profiles", "use", "work").err


def test_a_profile_that_cannot_be_used_is_listed_with_its_reason() -> None:
    run("profiles", "create", "work")
    file_of("work").write_text("[ui]\nfps = 1000\n")
    ended = run("profiles")
    assert ended.code == 1
    assert "ui.fps is '1000'" in ended.out
    assert "* default" in ended.out


def test_a_configured_profile_that_is_gone_can_be_replaced() -> None:
    (paths.private_dir(paths.config_dir()) / "config.toml").write_text('profile = "gone"\n')
    assert "There is no profile 'gone'" in run("profiles").out
    assert run("profiles", "use", "default").code == 0
    assert run("config", "show").code == 0


def test_a_copy_has_options_and_comments_of_the_other_and_no_records() -> None:
    run("profiles", "create", "work")
    file_of("work").write_text("# mine\nvoice = 'Puck'\n")
    run("memory", "--profile", "work", "put", "user", "name", "Ada")
    assert run("profiles", "create", "home", "--from", "work").code == 0
    assert file_of("home").read_text() == "# mine\nvoice = 'Puck'\n"
    assert not default_root("home").exists()
    assert file_of("home").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", "work"), "exists already"),
        (("create", "home", "--from", "nope"), "There is no profile 'nope'"),
        (("create", "../x"), "at most 64"),
        (("create", "a" * 65), "at most 64"),
        (("use", "nope"), "There is no profile 'nope'"),
        (("show", "nope"), "There is no profile 'nope'"),
        (("show", "wrok"), "Did you mean work?"),
        (("set", "nope", "voice", "Puck"), "There is no profile 'nope'"),
        (("set", "work", "voce", "Puck"), "Did you mean voice?"),
        (("delete", "nope", "--yes"), "There is no profile 'nope'"),
        (("delete", "work"), "Add --yes"),
        (("path", "a/b"), "at most 64"),
        (("revoke", "nope"), "There is no profile 'nope'"),
        (("revoke", "work"), "No consent is remembered in the profile work"),
        (("set-key", "nope"), "There is no profile 'nope'"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(arguments: tuple[str, ...], words: str) -> None:
    run("profiles", "create", "work")
    before = file_of("work").read_text()
    ended = run("profiles", *arguments)
    assert ended.code != 0
    assert words in ended.sentence
    assert [path.name for path in file_of("work").parent.iterdir()] == ["work.toml"]
    assert file_of("work").read_text() == before


def test_set_changes_the_file_of_that_profile() -> None:
    run("profiles", "create", "work")
    assert json.loads(run("profiles", "set", "work", "ui.fps", "10", "--json").out) == {
        "name": "work",
        "key": "ui.fps",
        "value": 10,
        "file": str(file_of("work")),
    }
    assert run("profiles", "set", "work", "consent.pay", "deny").code == 0
    assert tomllib.loads(file_of("work").read_text()) == {"ui": {"fps": 10}, "consent": {"pay": "deny"}}
    assert file_of("work").read_text().startswith("# Options of the profile work")


def test_show_prints_options_policies_tools_and_what_is_remembered() -> None:
    run("profiles", "create", "work")
    file_of("work").write_text(
        'voice = "Puck"\n[consent]\npay = "ask"\n[tools]\nenabled = ["timer"]\n'
        '[tools.folders]\nnotes = "/var/notes"\n[tools.programs]\nbuild = ["make", "all"]\n'
    )
    with Harness.open(default_root("work")) as harness:
        harness.consent.grant("pay", "f" * 64, agent="concierge")
        harness.consent.set_policy("erase", "deny")
    out = run("profiles", "show", "work").out
    for words in (
        'voice = "Puck"',
        "consent.pay = ask",
        "tools.enabled = timer",
        "tools.folders.notes = /var/notes",
        'tools.programs.build = ["make", "all"]',
        "remembered: deny for erase",
        "remembered: yes to pay of concierge",
    ):
        assert words in out
    facts = json.loads(run("profiles", "show", "work", "--json").out)
    assert facts["options"] == {"voice": "Puck"}
    assert facts["consent"] == {"pay": "ask"}
    assert facts["tools"]["programs"] == {"build": ["make", "all"]}
    assert facts["remembered"]["policies"] == {"erase": "deny"}
    assert [grant["tool"] for grant in facts["remembered"]["grants"]] == ["pay"]


def test_showing_creates_no_records() -> None:
    assert run("profiles", "show").code == 0
    assert not default_root().exists()


def test_hostile_text_of_a_profile_does_not_reach_the_terminal() -> None:
    run("profiles", "create", "work")
    file_of("work").write_text(f"voice = {json.dumps(HOSTILE)}\n")
    assert run("profiles", "show", "work").control == []
    assert run("profiles").control == []


@pytest.mark.parametrize(("tool", "left"), [("pay", ["erase"]), ("", [])])
def test_revoking_takes_back_the_grant_of_one_tool_or_all(tool: str, left: list[str]) -> None:
    run("profiles", "create", "work")
    with Harness.open(default_root("work")) as harness:
        harness.consent.grant("pay", "f" * 64)
        harness.consent.grant("erase", "f" * 64)
        assert run("profiles", "revoke", "work", *([tool] if tool else [])).code == 0
        assert [grant.tool for grant in harness.consent.read().grants] == left


def test_deleting_leaves_the_records_and_says_where_they_are() -> None:
    run("profiles", "create", "work")
    run("memory", "--profile", "work", "put", "user", "name", "Ada")
    ended = run("profiles", "delete", "work", "--yes")
    assert ended.code == 0
    assert str(default_root("work")) in ended.out
    assert not file_of("work").exists()
    assert "Ada" in run("memory", "--profile", "work").out


def test_the_profile_that_is_in_use_by_default_cannot_be_deleted() -> None:
    run("profiles", "create", "work")
    run("profiles", "use", "work")
    assert "profiles use default" in run("profiles", "delete", "work", "--yes").sentence
    assert file_of("work").exists()


def test_a_profile_that_an_engine_uses_cannot_be_deleted() -> None:
    run("profiles", "create", "work")
    folder = paths.private_dir(paths.private_dir(paths.runtime_dir()) / "20261120-105912-3f9a")
    facts = {"pid": 1, "agent": "a", "backend": "local", "started": 0.0, "program": "p", "profile": "work"}
    paths.write_private(folder / ENGINE_FILE, facts)
    fd = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert try_lock(fd)
        assert "stop 20261120-105912-3f9a" in run("profiles", "delete", "work", "--yes").sentence
    finally:
        os.close(fd)
    assert run("profiles", "delete", "work", "--yes").code == 0


def test_a_profile_whose_notifications_a_program_delivers_cannot_be_deleted() -> None:
    run("profiles", "create", "work")
    with Harness.open(default_root("work")) as harness:
        fd = os.open(harness.paths.delivery_lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            assert try_lock(fd)
            assert "used by a running program" in run("profiles", "delete", "work", "--yes").sentence
        finally:
            os.close(fd)
    assert file_of("work").exists()


def test_the_path_is_that_of_the_file() -> None:
    assert run("profiles", "path", "work").out == f"{file_of('work')}\n"


# -- keyring ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """Keyring of the test: secrets by service and entry."""
    return install_keyring(monkeypatch, type("Backend", (), {"priority": 5.0}))


def test_a_key_goes_to_the_keyring_and_the_profile_names_its_entry(keyring: dict[tuple[str, str], str]) -> None:
    run("profiles", "create", "work")
    ended = run("profiles", "set-key", "work", stdin=f"{KEY}\n")
    assert (ended.code, ended.err) == (0, "")
    assert keyring == {(KEYRING_SERVICE, "gemini-api-key-work"): KEY}
    assert KEY[4:20] not in ended.out + file_of("work").read_text()
    found = config.load(flags={"profile": "work"}).config
    assert (found.api_key_source, found.api_key_entry) == ("keyring", "gemini-api-key-work")
    credential = find_api_key({}, source="keyring", keyring_entry=found.api_key_entry).credential
    assert credential is not None
    assert credential.secret == KEY
    assert find_api_key({}, source="keyring").credential is None


def test_a_key_goes_to_the_entry_that_the_profile_names(keyring: dict[tuple[str, str], str]) -> None:
    run("profiles", "create", "work")
    run("profiles", "set", "work", "credentials.keyring", "team")
    assert json.loads(run("profiles", "set-key", "work", "--json", stdin=KEY).out)["entry"] == "team"
    assert list(keyring) == [(KEYRING_SERVICE, "team")]


@pytest.mark.parametrize("text", ["", "short", "two words " * 5, "x" * 20_000])
def test_a_key_of_the_wrong_shape_is_not_kept(keyring: dict[tuple[str, str], str], text: str) -> None:
    run("profiles", "create", "work")
    ended = run("profiles", "set-key", "work", stdin=text)
    assert ended.code == 2
    assert ended.sentence
    assert keyring == {}
    assert tomllib.loads(file_of("work").read_text()) == {}


def test_without_a_keyring_the_remedy_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    run("profiles", "create", "work")
    ended = run("profiles", "set-key", "work", stdin=KEY)
    assert "profiles set work credentials.file" in ended.sentence
    assert KEY[4:20] not in ended.err


def test_an_engine_gets_the_name_of_the_entry_and_no_key(keyring: dict[tuple[str, str], str]) -> None:
    from gemini_live_tui.cli.engine_specs import Sound, spec_of

    run("profiles", "create", "work")
    run("profiles", "set-key", "work", stdin=KEY)
    loaded = config.load(flags={"profile": "work"})
    spec = spec_of(loaded, agent="concierge", backend="gemini", sound=Sound(kind="none"))
    assert spec.api_key_entry == "gemini-api-key-work"
    assert KEY not in json.dumps(spec.to_json())


# -- sessions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", ["audio", "off"])
def test_a_session_keeps_to_the_policies_of_its_profiles_file(record: str) -> None:
    run("profiles", "create", "work")
    run("profiles", "set", "work", "consent.get_weather", "deny")
    asked = ("talk", "--backend", "local", "--fast", "--record", record, "--text", "what is the weather in Lisbon")
    assert "not allowed here" in run(*asked, "--profile", "work").out
    assert "not allowed here" not in run(*asked).out


def test_a_key_saved_in_the_console_goes_to_the_entry_of_the_profile(keyring: dict[tuple[str, str], str]) -> None:
    from gemini_live_runtime.wire.credentials import api_key
    from gemini_live_tui.set_up import keys

    run("profiles", "create", "work")
    run("profiles", "set", "work", "credentials.keyring", "team")
    keys.keep(api_key(KEY), "keyring", "work")
    assert keyring == {(KEYRING_SERVICE, "team"): KEY}


def test_a_key_without_end_is_not_read_to_it(keyring: dict[tuple[str, str], str]) -> None:
    run("profiles", "create", "work")
    ended = run("profiles", "set-key", "work", stdin=KEY + "x" * 20_000)
    assert (ended.code, "more than 16,384 characters" in ended.sentence) == (2, True)
    assert keyring == {}


@pytest.mark.parametrize("command", [["list"], ["show", "work"], ["set", "work", "consent.x", "ask"], ["use", "work"]])
def test_a_profile_with_thousands_of_levels_is_refused_in_a_sentence(command: list[str]) -> None:
    run("profiles", "create", "work")
    file_of("work").write_text(f"[{'.'.join(['a'] * 3000)}]\nb = 1\n")
    ended = run("profiles", *command)
    assert ended.code in (1, 2)
    assert "work.toml has more than 20 levels" in ended.out + ended.err


def test_a_value_that_is_no_text_is_refused_and_the_file_stays() -> None:
    run("profiles", "create", "work")
    before = file_of("work").read_bytes()
    assert "are no text" in run("profiles", "set", "work", "tools.folders.x", "/\udcff").sentence
    assert file_of("work").read_bytes() == before


def test_a_profile_that_is_a_link_to_nothing_is_not_proposed_in_its_own_place() -> None:
    run("profiles", "create", "other")
    file_of("work").symlink_to("nowhere")
    assert "Did you mean" not in run("profiles", "show", "work").sentence


def test_a_key_is_no_name_of_a_profile() -> None:
    ended = run("profiles", "create", KEY)
    assert (ended.code, KEY in ended.out + ended.err) == (2, False)
    assert "The name of a profile looks like a key" in ended.err
    assert list(listed()) == ["default"]


def test_a_profile_that_the_disk_refuses_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_private(path: Path, flags: int) -> int:
        path.touch()
        return os.open(path, os.O_RDONLY)

    with monkeypatch.context() as patch:
        patch.setattr(paths, "open_private", open_private)
        ended = run("profiles", "create", "work")
    assert (ended.code, "cannot be written" in ended.err) == (2, True)
    assert run("profiles", "create", "work").code == 0


@pytest.mark.parametrize("command", [["profiles", "set", "work"], ["config", "set"]])
def test_a_full_disk_is_told_with_what_helps(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run("profiles", "create", "work")

    def write(*args: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(paths, "write_private_text", write)
    ended = run(*command, "voice", "Kore")
    assert (ended.code, "Free some space on the disk of" in ended.err) == (2, True)


def test_a_profile_that_the_disk_keeps_is_told_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    run("profiles", "create", "work")

    def unlink(self: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        ended = run("profiles", "delete", "work", "--yes")
    assert (ended.code, "cannot be deleted" in ended.err, "writable" in ended.err) == (2, True, True)
