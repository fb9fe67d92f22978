"""Run the checks of `doctor`; each has a finding and, on failure, a remedy."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime import __version__, paths
from gemini_live_runtime.errors import GeminiLiveError, UsageError
from gemini_live_runtime.records import record
from gemini_live_tui import config as configuration
from gemini_live_tui.config import Loaded

if TYPE_CHECKING:
    from gemini_live_runtime.audio.devices.selection import SoundDevice

Settings = Callable[[], Loaded]
"""Returns the settings; raises `ConfigError`."""

REACH_TIMEOUT_S = 5.0
_READ_BYTES = 4_000_000
"""Bytes of the end of a recording that are searched for trouble with its sound."""
_LIBRARIES = (
    "textual",
    "websockets",
    "pydantic",
    "numpy",
    "sounddevice",
    "soundfile",
    "soxr",
    "webrtcvad-wheels",
    "pybase64",
)


@record
class Check:
    """Result of a check.

    `missing` is for an optional part, `failed` for a part that every call needs.
    """

    name: str
    state: Literal["ok", "missing", "failed"]
    found: str
    remedy: str = ""


def run_checks(profile: str | None = None) -> list[Check]:
    """Run all checks, in the order of display; a check that raises becomes `failed`.

    `profile` is one other than that in use.
    """

    def settings() -> Loaded:
        return configuration.load(flags={"profile": profile})

    checks: list[Check] = []
    for name, check in _CHECKS:
        try:
            checks += check(settings)
        except GeminiLiveError as error:
            checks.append(Check(name, "failed", error.message, error.remedy))
        except Exception as error:
            checks.append(Check(name, "failed", f"{type(error).__name__}: {error}"))
    return checks


def _versions() -> list[Check]:
    libraries = ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    return [
        Check("program", "ok", f"gemini-live-tui {__version__}, Python {platform.python_version()}, {sys.platform}"),
        Check("libraries", "ok", libraries),
    ]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def _config(settings: Settings) -> list[Check]:
    loaded = settings()
    changed = [key for key, source in loaded.sources.items() if source != "default"]
    state = str(loaded.path) if loaded.path.exists() else "no file, defaults"
    checks = [Check("config", "ok", f"{state}; set: {', '.join(changed) or 'nothing'}")]
    known = {configuration.CONFIG_PATH_VARIABLE, *map(configuration.variable_of, configuration.OPTIONS)}
    known.discard(configuration.variable_of("keymap"))
    unknown = sorted(name for name in os.environ if name.startswith(configuration.ENV_PREFIX) and name not in known)
    if unknown:
        remedy = "See config show; keys go in the file"
        checks.append(Check("variables", "missing", f"unknown: {', '.join(unknown)}", remedy))
    return checks


def _looks(settings: Settings) -> list[Check]:
    """Report entries of the keymap and themes that cannot be used."""
    from gemini_live_tui.actions.keymap import usable_keymap
    from gemini_live_tui.theming import load_themes

    _, faults = usable_keymap(settings().config.keymap)
    _, failures = load_themes(paths.config_dir() / "themes")
    return [
        *(Check("keymap", "missing", fault.message, fault.remedy) for fault in faults),
        *(Check("theme", "missing", failure.sentence) for failure in failures),
    ]


def _terminal() -> list[Check]:
    size = shutil.get_terminal_size((0, 0))
    found = (
        f"{os.environ.get('TERM', 'no TERM')}, {size.columns}x{size.lines}, "
        f"colours {os.environ.get('COLORTERM', 'by TERM')}"
    )
    notes = [
        note
        for present, note in (
            (os.environ.get("TMUX"), "in tmux: F2 for text mode"),
            (os.environ.get("SSH_CONNECTION"), "over ssh: the microphone is the remote machine's"),
            (os.environ.get("NO_COLOR"), "NO_COLOR is set"),
        )
        if present
    ]
    if not sys.stdout.isatty():
        return [
            Check(
                "terminal", "missing", "the output is not a terminal", "Without one use: gemini-live-tui talk --plain"
            )
        ]
    if 0 < size.columns < 60 or 0 < size.lines < 16:
        return [Check("terminal", "failed", found, "Make it 60x16 at least")]
    return [Check("terminal", "ok", "; ".join([found, *notes]))]


def _devices(settings: Settings) -> list[Check]:
    from gemini_live_runtime.audio.devices.probe import list_devices
    from gemini_live_runtime.audio.devices.selection import select_device
    from gemini_live_runtime.audio.interface import Direction

    loaded = settings().config
    listed = list_devices()
    checks = []
    usable: dict[str, SoundDevice] = {}
    ends: tuple[tuple[str, Direction, str], ...] = (
        ("microphone", "input", loaded.audio_input),
        ("speaker", "output", loaded.audio_output),
    )
    for name, direction, wanted in ends:
        if listed.problem:
            checks.append(Check(name, "missing", listed.problem, "Without sound: text mode"))
            continue
        try:
            device = select_device(listed.devices, wanted or None, direction)
        except GeminiLiveError as error:
            checks.append(Check(name, "missing", error.message, error.remedy))
        else:
            usable[direction] = device
            checks.append(Check(name, "ok", f"{device.name} ({device.host_api}, {device.rate} Hz)"))
    if len(usable) == len(ends):
        checks.append(_calibration(usable["input"], usable["output"]))
    return checks


def _audio_priority() -> list[Check]:
    from gemini_live_runtime.audio.process.process_link import environment

    priority = subprocess.run(
        [sys.executable, "-P", "-m", "gemini_live_runtime.audio.devices.priority"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(os.environ),
        timeout=REACH_TIMEOUT_S,
        check=True,
    ).stdout.strip()
    if priority != "normal" or not sys.platform.startswith("linux"):
        return [Check("audio priority", "ok", priority)]
    remedy = "Join the group audio and put '@audio - rtprio 20' into /etc/security/limits.d/audio.conf"
    return [Check("audio priority", "missing", "normal: other programs may disturb the sound", remedy)]


def _calibration(microphone: SoundDevice, speaker: SoundDevice) -> Check:
    """Tell what `calibrate` has measured for these devices."""
    from gemini_live_runtime.audio.checks.calibration import describe, judge
    from gemini_live_runtime.audio.echo.echo_path import stored_echo_path

    path = stored_echo_path(microphone, speaker)
    if path is None:
        remedy = "Run gemini-live-tui calibrate; without it the echo is learned in the first call"
        return Check("calibration", "missing", "not measured for these devices", remedy)
    day = datetime.fromtimestamp(path.measured_at).astimezone().strftime("%Y-%m-%d")
    how = "learned in a call" if path.is_learned else "measured"
    verdict = judge(path)
    found = f"{describe(path)} ({how} {day})"
    if verdict.mark == "good":
        return Check("calibration", "ok", found)
    return Check("calibration", "missing", f"{verdict.text} {found[:1].upper()}{found[1:]}", verdict.remedy)


def _echo() -> list[Check]:
    from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller

    name = str(getattr(DualCanceller(), "name", ""))
    return [Check("echo canceller", "ok" if name else "missing", name or "none", "" if name else "Use headphones")]


def _last_sound() -> list[Check]:
    """Repeat what was wrong with the sound of the newest recorded session."""
    from gemini_live_runtime.journal.files.lines import EVENTS_FILE

    folder = paths.sessions_dir()
    files = sorted(folder.glob(f"*/{EVENTS_FILE}")) if os.path.isdir(folder) else []
    if not files:
        return []
    session = files[-1].parent.name
    try:
        with paths.open_regular(files[-1], follow=False) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _READ_BYTES))
            lines = [line for line in file.read(_READ_BYTES).splitlines() if b'"audio.health"' in line]
    except OSError as error:
        text = f"session {session} cannot be read: {error.strerror}"
        return [Check("last sound", "missing", text, f"Look at {files[-1]}")]
    found: dict[str, Check] = {}
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            event = json.loads(line)
            data = event["data"]
            if event["type"] == "audio.health" and not data["well"]:
                text = f"{data['text']} (session {session})"
                found[data["kind"]] = Check("last sound", "missing", text, str(data["remedy"]))
    return list(found.values()) or [Check("last sound", "ok", f"nothing wrong in session {session}")]


def _offline() -> list[Check]:
    from gemini_live_runtime.local.default_parts import DefaultParts

    parts = DefaultParts()
    checks = []
    parts_found = (("recogniser", parts.recogniser_or_reason(is_tried=True)), ("speech", parts.speech_or_reason()))
    for name, found in parts_found:
        missing = isinstance(found, str)
        checks.append(Check(f"local {name}", "missing" if missing else "ok", str(found) if missing else "ready"))
    return checks


def _credentials(settings: Settings) -> list[Check]:
    from gemini_live_runtime.wire.credentials import NO_KEY_REMEDY, find_api_key

    loaded = settings().config
    key_file = paths.expand_user(loaded.api_key_file, field="credentials.file") if loaded.api_key_file else None
    found = find_api_key(
        os.environ, source=loaded.api_key_source, key_file=key_file, keyring_entry=loaded.api_key_entry
    )
    checks = []
    if found.credential is None:
        checks.append(Check("Gemini key", "missing", "none found", NO_KEY_REMEDY))
    else:
        # Found, never shown: not even a part of it.
        said = "; ".join([f"found ({found.credential.kind}, from {found.credential.source})", *found.warnings])
        checks.append(Check("Gemini key", "ok", said))
    project = loaded.vertex_project or os.environ.get("GOOGLE_CLOUD_PROJECT", "")
    vertex = f"project {project}" if project else "no project"
    installed = find_spec("google") is not None and find_spec("google.auth") is not None
    library = "google-auth installed" if installed else "google-auth not installed"
    checks.append(Check("Vertex", "ok" if project else "missing", f"{vertex}, {library}"))
    return checks


def _reachability(settings: Settings) -> list[Check]:
    from gemini_live_tui.cli.console_start import chosen_backend

    loaded = settings().config
    backend = chosen_backend(loaded)
    if backend == "local":
        return [Check("backend", "ok", "local: the embedded server")]
    host, port = _address(backend, loaded)
    try:
        asyncio.run(_reach(host, port))
    except (OSError, TimeoutError) as error:
        why = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        # Without a configured backend the demo still works, so this is no failure.
        state: Literal["missing", "failed"] = "failed" if loaded.backend else "missing"
        return [
            Check("backend", state, f"{host}:{port} cannot be reached: {why}", "Check the network, or use the demo")
        ]
    return [Check("backend", "ok", f"{host}:{port} answers")]


def _address(backend: str, loaded: configuration.Config) -> tuple[str, int]:
    from urllib.parse import urlsplit

    from gemini_live_runtime.wire.endpoints import DEFAULT_VERTEX_LOCATION, GEMINI_HOST

    if backend == "gemini":
        return GEMINI_HOST, 443
    if backend == "vertex":
        location = loaded.vertex_location or os.environ.get("GOOGLE_CLOUD_LOCATION", "") or DEFAULT_VERTEX_LOCATION
        return ("aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"), 443
    parts = urlsplit(backend)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "wss" else 80)


async def _reach(host: str, port: int) -> None:
    async with asyncio.timeout(REACH_TIMEOUT_S):
        _, writer = await asyncio.open_connection(host, port)
        writer.close()


def _folders() -> list[Check]:
    sessions, engines = paths.sessions_dir(), paths.runtime_dir()
    return [
        _folder("sessions", sessions, lambda: _owner_problem(sessions)),
        _folder("engines", engines, lambda: _engines_problem(engines)),
    ]


def _folder(name: str, folder: Path, problem_of: Callable[[], UsageError | None]) -> Check:
    remedy = "Set XDG_DATA_HOME and XDG_RUNTIME_DIR to folders of your own"
    try:
        if (problem := problem_of()) is not None:
            return Check(name, "failed", problem.message, problem.remedy)
        # Not `Path.exists`, which raises in a folder that this user may not enter, and is False for a dangling link.
        existing = folder
        while not os.path.lexists(existing) and existing != existing.parent:
            existing = existing.parent
        if not existing.is_dir():
            return Check(
                name, "failed", f"{existing} is not a folder", f"Remove it, or {remedy[:1].lower()}{remedy[1:]}"
            )
        effective = os.access in os.supports_effective_ids
        if not os.access(existing, os.W_OK | os.X_OK, effective_ids=effective):
            return Check(name, "failed", f"{folder} is not writable", remedy)
        free = shutil.disk_usage(existing).free / 1e9
    except OSError as error:
        return Check(name, "failed", f"{folder} cannot be used: {error.strerror or error}", remedy)
    return Check(name, "ok", f"{folder} ({free:.1f} GB free)")


def _owner_problem(folder: Path) -> UsageError | None:
    """Return the error of a folder of another user, in which nothing is recorded."""
    if not hasattr(os, "getuid") or not os.path.isdir(folder):
        return None
    if {folder.lstat().st_uid, folder.stat().st_uid} == {os.getuid()}:
        return None
    return UsageError(
        f"The folder {folder} belongs to another user", remedy="Remove it, or set XDG_DATA_HOME to a folder of your own"
    )


def _engines_problem(folder: Path) -> UsageError | None:
    """Return the error of a folder of engines that another user could change."""
    try:
        paths.own_folder(folder)
    except UsageError as error:
        return error
    except (FileNotFoundError, NotADirectoryError):
        pass  # told by what is there instead
    return None


def _plain(check: Callable[[], list[Check]]) -> Callable[[Settings], list[Check]]:
    """Return a check that needs no settings as one of the table."""
    return lambda _: check()


_CHECKS: tuple[tuple[str, Callable[[Settings], list[Check]]], ...] = (
    ("program", _plain(_versions)),
    ("config", _config),
    ("looks", _looks),
    ("folders", _plain(_folders)),
    ("terminal", _plain(_terminal)),
    ("devices", _devices),
    ("audio priority", _plain(_audio_priority)),
    ("echo canceller", _plain(_echo)),
    ("last sound", _plain(_last_sound)),
    ("local server", _plain(_offline)),
    ("credentials", _credentials),
    ("backend", _reachability),
)
