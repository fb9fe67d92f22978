"""Starting a console on a session: plain, `demo` and `run`.

The engine process is started right after the first paint: before, it would take processor time from it.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gemini_live_runtime import paths
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import UsageError
from gemini_live_tui.cli.options import (
    DEVICE_OPTIONS,
    LOOK_OPTIONS,
    SESSION_OPTIONS,
    Sound,
    config_options,
    spec_of,
    start_options,
)
from gemini_live_tui.config import Config, Loaded, load

if TYPE_CHECKING:
    from gemini_live_tui.session_link import LinkSource
    from gemini_live_tui.settings import ConsoleSettings

SINGLE_PROCESS = click.option(
    "--single-process", is_flag=True, help="Run the engine inside the console's process (for debugging an agent)."
)
TEXT = click.option("--text", "-t", is_flag=True, help="Start in text mode: the microphone stays off.")
NO_SOUND = click.option("--no-sound", is_flag=True, help="Use no sound device at all.")


def _bundled() -> dict[str, str]:
    # The loader imports most of the runtime: only who asks for the list waits for it.
    from gemini_live_runtime.agents.loader import BUNDLED

    return BUNDLED


class _Demo(click.Command):
    """Its help ends with the agents one may name."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Agents"):
            formatter.write_dl(list(_bundled().items()))


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _bundled() if name.startswith(incomplete)]


@click.command(cls=_Demo)
@click.argument("agent", default="concierge", shell_complete=_complete)
@click.option("--script", metavar="FILE", help="Dialogue of the embedded server, instead of the agent's own.")
@TEXT
@NO_SOUND
@SINGLE_PROCESS
@config_options(
    tuple(option for option in SESSION_OPTIONS if option[0] not in ("--backend", "--api-version")),
    DEVICE_OPTIONS,
    LOOK_OPTIONS,
)
def demo(
    agent: str, script: str | None, text: bool, no_sound: bool, single_process: bool, flags: dict[str, Any]
) -> int:
    """Talk to a bundled AGENT (default: concierge) on the embedded server.

    Needs no key, no network and, if need be, no sound card. Say or type one of the phrases on the screen.
    """
    loaded = load(flags=flags)
    spec = spec_of(loaded, agent=agent, backend="local", sound=_sound(text, no_sound, flags), script=script or "")
    return open_console(spec, loaded, single_process=single_process)


@click.command()
@click.argument("agent", metavar="MODULE:ATTR|FILE.py:ATTR")
@click.option("--script", metavar="FILE", help="Dialogue of the embedded server, with --backend local.")
@SINGLE_PROCESS
@start_options
def run(agent: str, script: str | None, text: bool, no_sound: bool, single_process: bool, flags: dict[str, Any]) -> int:
    """Talk to your own agent: an Agent, a Live, or a function that makes one, in a module or a file."""
    loaded = load(flags=flags)
    backend = chosen_backend(loaded.config)
    _require_key(backend, loaded.config)
    sound = _sound(text, no_sound, flags)
    spec = spec_of(loaded, agent=agent, backend=backend, sound=sound, script=script or "")
    return open_console(spec, loaded, single_process=single_process)


def plain_start(flags: dict[str, Any], *, text: bool, no_sound: bool) -> int:
    """`gemini-live-tui` without a command: the configured backend, or the demo when there is no key."""
    loaded = load(flags=flags)
    backend = chosen_backend(loaded.config)
    hint = ""
    if backend == "gemini" and not key_found(loaded.config):
        require_terminal()
        from gemini_live_runtime.wire.credentials import NO_KEY_REMEDY

        click.echo(f"No Gemini API key was found. {NO_KEY_REMEDY}.")
        if not click.confirm("Start the demo on the embedded server now?", default=True):
            return 2
        backend, hint = "local", "This is the demo on the embedded server. Set GEMINI_API_KEY to talk to Gemini."
    spec = spec_of(loaded, agent=loaded.config.agent, backend=backend, sound=_sound(text, no_sound, flags))
    return open_console(spec, loaded, hint=hint)


def chosen_backend(config: Config) -> str:
    """The configured backend; without one Gemini, or Vertex where Google's own variable asks for it."""
    if config.backend:
        return config.backend
    from gemini_live_runtime.wire.credentials import wants_vertex

    return "vertex" if wants_vertex(os.environ) else "gemini"


def key_found(config: Config) -> bool:
    """Whether there is an API key; raises `CredentialError` for one that cannot be used."""
    from pathlib import Path

    from gemini_live_runtime.wire.credentials import find_api_key

    key_file = Path(config.api_key_file).expanduser() if config.api_key_file else None
    return find_api_key(os.environ, source=config.api_key_source, key_file=key_file).credential is not None


def _require_key(backend: str, config: Config) -> None:
    if backend == "gemini" and not key_found(config):
        from gemini_live_runtime.errors import CredentialError
        from gemini_live_runtime.wire.credentials import NO_KEY_REMEDY

        raise CredentialError(
            "No Gemini API key was found", remedy=f"{NO_KEY_REMEDY}, or add --backend local", field="GEMINI_API_KEY"
        )


def _sound(text: bool, no_sound: bool, flags: dict[str, Any]) -> Sound:
    if no_sound and (flags["audio.input"] or flags["audio.output"]):
        raise UsageError("--no-sound and a sound device exclude each other", remedy="Leave one out", field="no-sound")
    return Sound(kind="none" if no_sound else "devices", text=text or no_sound)


def require_terminal(instead: str = "talk --plain") -> None:
    """Refuse to draw where there is no terminal; `instead` is what works without one."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The console needs a terminal on input and output", remedy=f"Without one use: {instead}")


def open_console(spec: EngineSpec, loaded: Loaded, *, hint: str = "", single_process: bool = False) -> int:
    """Start the engine, show the console, and say how it ended; the exit code."""
    require_terminal()
    # Collecting garbage while everything is being imported finds none and delays the first paint.
    gc.disable()
    # Whatever is wrong with the settings is said before anything is started.
    settings = settings_of(loaded, hint=hint)
    if single_process:
        _keep_the_screen()
        source = _in_process(spec)
    else:

        async def source() -> Any:
            import asyncio

            from gemini_live_runtime.engine import launch

            engine = launch.start_engine(spec)
            try:
                return await launch.connect(spec.session_id, engine=engine)
            except asyncio.CancelledError:
                # Whoever quits before the engine can be told so still ends it.
                engine.process.terminate()
                raise

    return show(source, settings, recorded=spec.record != "off")


def _keep_the_screen() -> None:
    """Give Textual a way to the terminal of its own: while sound is open, descriptor 2 leads nowhere."""
    encoding = sys.stderr.encoding if sys.stderr is not None else "utf-8"
    sys.__stderr__ = os.fdopen(os.dup(2), "w", encoding=encoding, errors="backslashreplace")  # type: ignore[misc]


def _in_process(spec: EngineSpec) -> LinkSource:
    async def source() -> Any:
        from gemini_live_runtime.engine.assemble import make_session
        from gemini_live_runtime.engine.host import in_process

        return in_process(spec, make_session).link

    return source


def settings_of(loaded: Loaded, **more: Any) -> ConsoleSettings:
    """The console's settings from a config; raises `ConfigError` for a `--theme` that cannot be used."""
    from gemini_live_tui.settings import ConsoleSettings
    from gemini_live_tui.theming import load_theme

    config = loaded.config
    themes_dir = paths.config_dir() / "themes"
    if loaded.sources["ui.theme"] == "flag":
        # What was asked for just now is refused; a theme of the config file that broke since is only told of.
        load_theme(config.theme, themes_dir)
    return ConsoleSettings(
        theme=config.theme,
        themes_dir=themes_dir,
        keymap=config.keymap,
        fps=config.fps,
        ascii=config.ascii,
        memory=paths.state_dir() / "console.json",
        **more,
    )


def show(source: LinkSource, settings: ConsoleSettings, *, recorded: bool = False) -> int:
    """Run the console over a link; afterwards print its last sentence and where the session is kept."""
    from gemini_live_tui.app import run_console

    outcome = run_console(source, settings=settings)
    if outcome.message:
        click.echo(outcome.message)
    if recorded and outcome.session_id and not settings.replay:
        click.echo(f"Recorded: gemini-live-tui replay {outcome.session_id}")
    return outcome.exit_code
