"""Protect the home folder, keys, display and sound card from tests; check skips.

In CI a skip that is not listed in `allowed_skips.toml` fails the run.
"""

from __future__ import annotations

import gc
import os
import tomllib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire import credentials

# How long an example takes says something of the machine, not of the code.
settings.register_profile(
    "any-machine",
    deadline=None,
    max_examples=1000 if os.environ.get("SOAK") else 25,
    # CI judges a change: it tries the same examples before and after. Everywhere else new ones are tried each time.
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any-machine")

LONGEST_ID = 200
"""Characters of a text that are shown of a test's parameters."""

ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.toml")

_FOREIGN = (
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "NO_COLOR",
    "TMUX",
    "SSH_CONNECTION",
    "COLUMNS",
    "LINES",
)


# Garbage is collected rarely: again and again it would walk through modules and tests, which stay for the whole run. So
# tests are collected in two thirds of the time, and the console's are a quarter faster.
gc.set_threshold(100_000, 50, 1000)


def pytest_collection_finish() -> None:
    """Exempt modules and tests from the collection of garbage."""
    gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Shorten the ids of long texts: each report of a worker repeats the id."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_ID:
        return None
    return f"{val[:LONGEST_ID]!a}... of {len(val)}"


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for the homes, numbered; `mktemp` for each would list all before it."""
    # Short: a socket in it has a path of at most 108 bytes.
    folder = tmp_path_factory.mktemp("h")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def nobodys_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for every test, without credentials."""
    home = next(homes)
    home.mkdir(mode=0o700)
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    runtime = home / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    for name in [*_FOREIGN, *(name for name in os.environ if name.startswith("GEMINI_LIVE_TUI_"))]:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(autouse=True)
def no_known_secrets() -> Iterator[None]:
    """Forget secrets a test registered: elsewhere they may be plain words."""
    yield
    credentials._held.clear()
    redactor.__init__()  # type: ignore[misc]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have measured, and name every skip that is not on the list."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "summary" and report.when == "call":
                    terminalreporter.write_line(f"{report.nodeid.partition('::')[0]}: {value}")
    for nodeid, reason in _unexpected_skips(terminalreporter):
        terminalreporter.write_line(f"UNLISTED SKIP {nodeid}: {reason}", red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the run in CI for a skip that is not on the list."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and _unexpected_skips(reporter) and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def no_sound_devices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ALSA configuration without devices; it aborts processes that list devices."""
    path = tmp_path_factory.mktemp("sound") / "alsa.conf"
    path.write_text("pcm { }\nctl { }\n")
    return path


@pytest.fixture(autouse=True)
def hide_sound_devices(request: pytest.FixtureRequest, no_sound_devices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide sound devices and the sound loop, except from tests marked `pulse`."""
    if request.node.get_closest_marker("pulse") is None:
        monkeypatch.setenv("ALSA_CONFIG_PATH", str(no_sound_devices))
        monkeypatch.delenv("PULSE_RUNTIME_PATH", raising=False)


GIVEN = pytest.StashKey[list[Path]]()
"""Files and folders of the command line, in its order."""


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a list of skips that lets everything pass; share the compiling of tests.

    Each worker collects other files first: what one has compiled by then the others read.
    """
    _allowed_skips()
    config.stash[GIVEN] = [config.invocation_params.dir / given.partition("::")[0] for given in config.args]
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        first = len(config.args) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        config.args[:] = [*config.args[first:], *config.args[:first]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort tests by the order of the command line: all workers need the same."""
    given = config.stash[GIVEN]
    paths = {item.path for item in items}
    place = {path: next(n for n, one in enumerate(given) if path.is_relative_to(one)) for path in paths}
    items.sort(key=lambda item: place[item.path])


def _allowed_skips() -> tuple[str, ...]:
    entries = tomllib.loads(ALLOWED_SKIPS.read_text("utf-8")).get("skip", [])
    for entry in entries:
        for name in ("test", "reason"):
            if not entry.get(name, "").strip():
                raise pytest.UsageError(f"{ALLOWED_SKIPS.name}: an entry has no {name!r}: {entry}")
    return tuple(entry["test"] for entry in entries)


def _unexpected_skips(reporter: pytest.TerminalReporter) -> list[tuple[str, str]]:
    allowed = _allowed_skips()
    skipped = [(report.nodeid, _reason(report)) for report in reporter.stats.get("skipped", [])]
    return [(nodeid, reason) for nodeid, reason in skipped if not nodeid.startswith(allowed)]


def _reason(report: pytest.TestReport) -> str:
    longrepr = report.longrepr
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
