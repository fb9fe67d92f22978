"""Define the commands that start a console: `demo`, `run`, and none."""

from __future__ import annotations

from typing import Any

import click

from gemini_live_runtime.errors import UsageError
from gemini_live_tui.cli.console_start import (
    DEMO,
    EngineStarter,
    bundled_agents,
    chosen_backend,
    converse,
    key_found,
    open_console,
    remember_agent,
    start_demo,
)
from gemini_live_tui.cli.engine_specs import Sound, spec_of
from gemini_live_tui.cli.options import (
    ASK,
    DEVICE_OPTIONS,
    LOOK_OPTIONS,
    PROFILE_OPTIONS,
    SESSION_OPTIONS,
    config_options,
    start_options,
)
from gemini_live_tui.config import Config
from gemini_live_tui.launcher import Choice

SINGLE_PROCESS = click.option(
    "--single-process", is_flag=True, help="Run the engine inside the console's process (for debugging an agent)."
)
TEXT = click.option("--text", "-t", is_flag=True, help="Start in text mode: the microphone stays off.")
NO_SOUND = click.option("--no-sound", is_flag=True, help="Use no sound device at all.")


class _Demo(click.Command):
    """Command whose help ends with the list of bundled agents."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Agents"):
            formatter.write_dl(list(bundled_agents().items()))


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    begun = incomplete.lower().replace("-", "_")
    return [name for name in bundled_agents() if name.startswith(begun)]


@click.command(cls=_Demo)
@click.argument("agent", default=DEMO, shell_complete=_complete)
@click.option("--script", metavar="FILE", help="Dialogue of the embedded server, instead of the agent's own.")
@click.option("--pick", is_flag=True, help="Choose the agent on the screen: a bundled one or your own.")
@ASK
@TEXT
@NO_SOUND
@SINGLE_PROCESS
@config_options(
    PROFILE_OPTIONS,
    tuple(option for option in SESSION_OPTIONS if option[0] not in ("--backend", "--api-version")),
    DEVICE_OPTIONS,
    LOOK_OPTIONS,
)
@click.pass_context
def demo(
    ctx: click.Context,
    agent: str,
    script: str | None,
    pick: bool,
    asked: tuple[str, ...],
    text: bool,
    no_sound: bool,
    single_process: bool,
    flags: dict[str, Any],
) -> int:
    """Talk to a bundled AGENT (default: concierge) on the embedded server.

    Needs no key and no network; without a sound card, type. Say or type one of the phrases on the screen.
    """
    starter = EngineStarter(flags, _sound(text, no_sound, flags), asked=asked)
    if pick:
        named = ctx.get_parameter_source("agent") is not click.core.ParameterSource.DEFAULT
        if script or single_process or named:
            raise UsageError(
                "--pick cannot be combined with AGENT, --script or --single-process", remedy="Leave out one of them"
            )
        return converse(None, starter, first_screen="gallery")
    return start_demo(starter, agent=agent, script=script or "", single_process=single_process)


@click.command()
@click.argument("agent", metavar="MODULE:ATTR|FILE.py:ATTR")
@click.option("--script", metavar="FILE", help="Dialogue of the embedded server, with --backend local.")
@click.option("--reload", is_flag=True, help="Reload the agent between turns when its file was edited.")
@ASK
@SINGLE_PROCESS
@start_options
def run(
    agent: str,
    script: str | None,
    reload: bool,
    asked: tuple[str, ...],
    text: bool,
    no_sound: bool,
    single_process: bool,
    flags: dict[str, Any],
) -> int:
    """Talk to your own agent.

    It is an Agent, a Live, or a function that returns one, in a module or a file.
    """
    starter = EngineStarter(flags, _sound(text, no_sound, flags), asked=asked)
    config = starter.load().config
    backend = chosen_backend(config)
    # An agent that is not there is the first thing to say: a key would not help.
    spec = spec_of(
        starter.load(),
        agent=agent,
        backend=backend,
        sound=starter.sound,
        script=script or "",
        reload=reload,
        asked=asked,
    )
    _require_key(backend, config)
    remember_agent(spec.agent)
    starter.present = Choice(agent)
    return open_console(spec, starter, single_process=single_process)


def plain_start(flags: dict[str, Any], *, text: bool, no_sound: bool) -> int:
    """Open a console on the configured backend, or the welcome when no key is found."""
    starter = EngineStarter(flags, _sound(text, no_sound, flags))
    config = starter.load().config
    backend = chosen_backend(config)
    if backend == "gemini" and not key_found(config):
        return converse(None, starter, first_screen="welcome")
    return open_console(spec_of(starter.load(), agent=config.agent, backend=backend, sound=starter.sound), starter)


def _require_key(backend: str, config: Config) -> None:
    if backend == "gemini" and not key_found(config):
        from gemini_live_runtime.errors import CredentialError
        from gemini_live_runtime.wire.credentials import NO_KEY_REMEDY

        raise CredentialError(
            "No Gemini API key was found", remedy=f"{NO_KEY_REMEDY}, or add --backend local", field="GEMINI_API_KEY"
        )


def _sound(text: bool, no_sound: bool, flags: dict[str, Any]) -> Sound:
    for option, key, _ in DEVICE_OPTIONS:
        if no_sound and flags[key] is not None:
            raise UsageError(
                f"--no-sound cannot be combined with {option}", remedy="Leave one of them out", field="no-sound"
            )
    return Sound(kind="none" if no_sound else "devices", text=text or no_sound)
