"""Start engines and show consoles, without the command line.

The engine process is started right after the first paint: before, it would take processor time from it. So does what
is imported here, which is little: a plain `demo` comes here without click.
"""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import paths
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import UsageError
from gemini_live_tui.cli.engine_specs import Sound, spec_of
from gemini_live_tui.config import Config, Loaded, load
from gemini_live_tui.launcher import Choice

if TYPE_CHECKING:
    from gemini_live_tui.launcher import Starter
    from gemini_live_tui.session_data.link import LinkSource
    from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings

DEMO = "concierge"
"""Default agent of `demo`."""

DEMO_HINT = "This is the demo on this machine. To talk to Gemini: {palette}, API key."
"""Sentence of the empty transcript, with the key of an action."""


def bundled_agents() -> dict[str, str]:
    """Return the bundled agents' descriptions by name."""
    from gemini_live_runtime.agents.catalogue import CATALOGUE

    return {agent.name: agent.description for agent in CATALOGUE}


def start_demo(starter: EngineStarter, *, agent: str = DEMO, script: str = "", single_process: bool = False) -> int:
    """Show a console on a bundled agent and the embedded server; return the exit code."""
    spec = spec_of(
        starter.load(), agent=agent, backend="local", sound=starter.sound, script=script, asked=starter.asked
    )
    starter.present = Choice(agent, demo=True)
    return open_console(spec, starter, single_process=single_process, hint=DEMO_HINT)


class EngineStarter:
    """Start sessions by the command line and the current config.

    Implements `launcher.Starter`. The config is loaded anew for each session: screens change it.
    """

    def __init__(self, flags: dict[str, Any], sound: Sound, *, asked: tuple[str, ...] = ()) -> None:
        """Let calls of the `asked` tools wait for consent."""
        self.sound = sound
        self.asked = asked
        self._flags = dict(flags)
        self.present = Choice()
        """Choice that started the present session."""

    def load(self) -> Loaded:
        """Return the current settings: file, environment and flags."""
        return load(flags=self._flags)

    def source(self, choice: Choice) -> LinkSource:
        """Return a source that starts a new engine for `choice` when it is called."""
        before = self._flags
        if choice.profile:
            self._flags = {**before, "profile": choice.profile}
        try:
            return self._source(choice)
        except BaseException:
            self._flags = before
            raise

    def _source(self, choice: Choice) -> LinkSource:
        loaded = self.load()
        backend = "local" if choice.demo or not self.key_found() else chosen_backend(loaded.config)
        agent = choice.agent or (DEMO if choice.demo else loaded.config.agent)
        spec = spec_of(loaded, agent=agent, backend=backend, sound=self.sound, asked=self.asked)
        if not choice.demo:
            remember_agent(spec.agent)
        self.present = choice
        return engine_source(spec)

    def under_profile(self, name: str) -> Choice:
        """Return the choice that starts the present agent under another profile."""
        return replace(self.present, profile=name)

    def key_found(self) -> bool:
        """Return True when the configured backend needs no key, or has one."""
        config = self.load().config
        return chosen_backend(config) != "gemini" or key_found(config)

    def describe(self) -> str:
        """Return the configured backend's name for display."""
        backend = chosen_backend(self.load().config)
        return {"gemini": "Gemini", "vertex": "Vertex AI", "local": "the embedded server"}.get(backend, "your server")

    def devices(self) -> tuple[str, str]:
        """Return microphone and speaker; flags override the config."""
        config = self.load().config
        return config.audio_input, config.audio_output

    def headphones(self) -> bool:
        """Return True for a user with headphones."""
        return self.load().config.headphones

    def on_saved(self, key: str) -> None:
        """Drop the flag of `key`: a choice on the screen overrides it."""
        self._flags[key] = None


def remember_agent(agent: str) -> None:
    """Remember an agent of the user's own for the next start."""
    if agent not in bundled_agents():
        from gemini_live_tui.set_up.recent import remember

        remember(agent)


def chosen_backend(config: Config) -> str:
    """Return the configured backend.

    Without one: Vertex when Google's own variable asks for it, else Gemini.
    """
    if config.backend:
        return config.backend
    from gemini_live_runtime.wire.credentials import wants_vertex

    return "vertex" if wants_vertex(os.environ) else "gemini"


def key_found(config: Config) -> bool:
    """Return True when there is an API key.

    Raises `CredentialError` for a key that cannot be used.
    """
    from gemini_live_runtime.wire.credentials import credential_environment, find_api_key

    key_file = paths.expand_user(config.api_key_file, field="credentials.file") if config.api_key_file else None
    return (
        find_api_key(
            credential_environment(),
            source=config.api_key_source,
            key_file=key_file,
            keyring_entry=config.api_key_entry,
        ).credential
        is not None
    )


def require_terminal(instead: str = "talk --plain") -> None:
    """Raise `UsageError` without a terminal; `instead` is a command that needs none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The console needs a terminal on input and output", remedy=f"Without one use: {instead}")


def open_console(spec: EngineSpec, starter: EngineStarter, *, single_process: bool = False, hint: str = "") -> int:
    """Start the engine, show the console, and return the exit code."""
    require_terminal()
    # While modules are imported the garbage collector finds nothing and delays the first paint.
    gc.disable()
    if single_process:
        _keep_the_screen()
    return converse(_in_process(spec) if single_process else engine_source(spec), starter, hint=hint)


def converse(source: LinkSource | None, starter: EngineStarter, *, first_screen: str = "", hint: str = "") -> int:
    """Show a console, and those for what the user chooses in it; return the exit code."""
    require_terminal()
    gc.disable()
    # Faults of the settings are reported here, before an engine is started.
    hint = hint or (DEMO_HINT if first_screen else "")
    settings = settings_of(starter.load(), starter=starter, first_screen=first_screen, hint=hint)
    return show_all(source, settings, recorded=starter.load().config.record != "off")


def show_all(source: LinkSource | None, settings: ConsoleSettings, *, recorded: bool = False) -> int:
    """Show consoles, each for what was chosen in the one before.

    These are agents, recordings, and sessions to go on with. Returns the last one's exit code.
    """
    starter = settings.starter
    while True:
        outcome = show(source, settings, recorded=recorded)
        if outcome.next is not None and starter is not None:
            source, settings = starter.source(outcome.next), settings_of(starter.load(), starter=starter)
            recorded = starter.load().config.record != "off"
        elif outcome.replay is not None:
            source, settings = None, _for_recording(settings, outcome.replay)
        elif outcome.session is not None:
            source, settings = resumed_source(outcome.session), _for_session(settings, outcome.session, starter)
            recorded = not settings.attached
        else:
            return outcome.exit_code


def engine_source(spec: EngineSpec) -> LinkSource:
    """Return a source that starts an engine process and connects to it."""

    async def source() -> Any:
        import asyncio

        from gemini_live_runtime.engine import launch

        engine = launch.start_engine(spec)
        try:
            return await launch.connect(spec.session_id, engine=engine)
        except asyncio.CancelledError:
            # The user quit before the link was open: no command can reach the engine.
            engine.process.terminate()
            raise

    return source


def _keep_the_screen() -> None:
    """Give Textual its own descriptor of the terminal.

    While sound is open, descriptor 2 leads nowhere, because sound libraries write to it.
    """
    encoding = sys.stderr.encoding if sys.stderr is not None else "utf-8"
    sys.__stderr__ = os.fdopen(os.dup(2), "w", encoding=encoding, errors="backslashreplace")  # type: ignore[misc]


def _in_process(spec: EngineSpec) -> LinkSource:
    async def source() -> Any:
        from gemini_live_runtime.engine.assemble import make_session
        from gemini_live_runtime.engine.in_process import in_process

        return in_process(spec, make_session).link

    return source


def settings_of(loaded: Loaded, **more: Any) -> ConsoleSettings:
    """Return the console's settings of a config.

    Raises `ConfigError` for a `--theme` that cannot be used.
    """
    from gemini_live_tui.settings import ConsoleSettings
    from gemini_live_tui.theming import load_theme

    config = loaded.config
    themes_dir = paths.config_dir() / "themes"
    if loaded.sources["ui.theme"] == "flag":
        # A faulty --theme is an error; a faulty theme in the config file is only a notice in the console.
        load_theme(config.theme, themes_dir)
    return ConsoleSettings(
        theme=config.theme,
        themes_dir=themes_dir,
        config_path=loaded.path,
        profile=loaded.profile.name,
        keymap=config.keymap,
        fps=config.fps,
        ascii=config.ascii,
        memory=paths.state_dir() / "console.json",
        **more,
    )


def show(source: LinkSource | None, settings: ConsoleSettings, *, recorded: bool = False) -> ConsoleOutcome:
    """Run the console; then print its message and the command to replay the session."""
    from gemini_live_tui.run_console import run_console

    outcome = run_console(source, settings=settings)
    if outcome.message:
        print(outcome.message)
    if outcome.missing and not settings.replay:
        print(outcome.missing)
    if recorded and outcome.session_id and not settings.replay and _is_recorded(outcome.folder):
        how = "Recorded in part" if outcome.missing else "Recorded"
        print(f"{how}: gemini-live-tui replay {outcome.session_id}")
    return outcome


def _is_recorded(folder: str) -> bool:
    """Return True when the engine could write an event to `folder`."""
    from gemini_live_runtime.journal.files.lines import EVENTS_FILE

    if not folder:
        return False
    try:
        with (Path(folder) / EVENTS_FILE).open("rb") as file:
            file.readline()  # the header
            return file.readline().endswith(b"\n")
    except OSError:
        return False


def resumed_source(folder: Path) -> LinkSource:
    """Return a source that goes on with a recorded session.

    It attaches to the engine that runs it, or starts another one.
    """

    async def source() -> Any:
        from gemini_live_runtime.engine.resume import resume_engine

        return await resume_engine(folder, asked=True)

    return source


def _for_session(settings: ConsoleSettings, folder: Path, starter: Starter | None) -> ConsoleSettings:
    from gemini_live_runtime.engine.registry import engine_folder, is_alive

    running = is_alive(engine_folder(folder.name))
    settings = replace(settings, attached=running, starter=starter, hint="", first_screen="")
    return replace(settings, replay=False, recording=None, replay_speed=None)


def _for_recording(settings: ConsoleSettings, path: Path, speed: float | None = None) -> ConsoleSettings:
    """Return settings to replay a session; raise `JournalError` when `path` is none."""
    from gemini_live_runtime.journal.recording.reader import read_journal

    journal = read_journal(path)
    settings = replace(settings, attached=False, hint="", first_screen="", starter=None)
    return replace(settings, replay=True, recording=journal.path, replay_speed=speed)


def show_recording(path: Path, settings: ConsoleSettings, *, speed: float | None = None) -> int:
    """Show a recorded session in a console and return the exit code.

    Raises `JournalError` when `path` is not a recording.
    """
    return show_all(None, _for_recording(settings, path, speed))
