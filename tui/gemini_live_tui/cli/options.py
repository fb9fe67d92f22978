"""Define the options that commands share, and make an engine's spec of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_runtime.errors import UsageError
from gemini_live_tui.config import Config, Loaded

F = TypeVar("F", bound=Callable[..., Any])

DETAIL = click.option(
    "--detail",
    type=click.Choice(["talk", "decisions", "all"]),
    default="decisions",
    help="Detail of plain lines: talk, the conversation alone; decisions, with the agent's decisions (default); "
    "all, everything.",
)


def _refuse_empty(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Return the value of an option; raise `UsageError` for an empty one."""
    if given is None or given.strip():
        return given
    raise UsageError(
        f"{param.opts[0]} is empty",
        remedy=f"Give {param.metavar}, or leave it out for what is configured",
        field=param.opts[0],
        value=given,
    )


SESSION_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "--backend",
        "backend",
        {
            "metavar": "NAME|URL",
            "callback": _refuse_empty,
            "help": "gemini, vertex, local, or a ws:// or wss:// URL.",
        },
    ),
    ("--model", "model", {"metavar": "NAME", "help": "Model to talk to, instead of the agent's."}),
    ("--voice", "voice", {"metavar": "NAME", "help": "Voice of the model, e.g. Puck."}),
    (
        "--record",
        "recording.record",
        {"type": click.Choice(["off", "text", "audio"]), "help": "Parts of the session to record."},
    ),
    ("--max-cost", "limits.max_cost", {"type": float, "metavar": "USD", "help": "Hang up at this estimated cost."}),
    ("--max-minutes", "limits.max_minutes", {"type": float, "metavar": "MIN", "help": "Hang up after this time."}),
    (
        "--turns",
        "turns",
        {
            "type": click.Choice(["auto", "server", "client"]),
            "help": "Detector of your turns; auto is the agent's.",
        },
    ),
    ("--api-version", "api_version", {"metavar": "V", "help": "API version, e.g. v1beta or v1alpha."}),
)

DEVICE_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("--input-device", "audio.input", {"metavar": "N|NAME", "help": "Microphone: number or part of its name."}),
    ("--output-device", "audio.output", {"metavar": "N|NAME", "help": "Speaker: number or part of its name."}),
    (
        "--no-aec",
        "audio.echo_cancelling",
        {"is_flag": True, "callback": lambda _, __, given: False if given else None, "help": "Cancel no echo."},
    ),
    (
        "--headphones",
        "audio.headphones",
        {"is_flag": True, "help": "You use headphones: never attenuate the microphone against echo."},
    ),
    (
        "--noise-suppression",
        "audio.noise_suppression",
        {"is_flag": True, "help": "Take steady noise out of the microphone."},
    ),
)

LOOK_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("--theme", "ui.theme", {"metavar": "NAME", "help": "Theme of the console."}),
    ("--fps", "ui.fps", {"type": int, "metavar": "N", "help": "Maximum frames a second."}),
    ("--ascii", "ui.ascii", {"is_flag": True, "default": None, "help": "Draw with ASCII characters only."}),
)


def config_options(*groups: tuple[tuple[str, str, dict[str, Any]], ...]) -> Callable[[F], F]:
    """Decorate a command with options that set config keys.

    The command gets their values as `flags`, by config key; None for an option that is not given.
    """
    table = [item for group in groups for item in group]

    def decorate(function: F) -> F:
        def wrapped(**values: Any) -> Any:
            flags = {key: values.pop(_parameter(flag)) for flag, key, _ in table}
            return function(flags=flags, **values)

        wrapped.__name__ = function.__name__
        wrapped.__doc__ = function.__doc__
        wrapped.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        for flag, _, details in reversed(table):
            wrapped = click.option(flag, _parameter(flag), **{"default": None, **details})(wrapped)
        return wrapped  # type: ignore[return-value]

    return decorate


def start_options(function: F) -> F:
    """Decorate a command with all options of starting a console on a backend."""
    decorated = config_options(SESSION_OPTIONS, DEVICE_OPTIONS, LOOK_OPTIONS)(function)
    no_sound = click.option("--no-sound", is_flag=True, help="Use no sound device at all.")
    return click.option("--text", "-t", is_flag=True, help="Start in text mode.")(no_sound(decorated))


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """Sound settings of a command line."""

    kind: str = "devices"
    input: str = ""
    output: str = ""
    text: bool = False


def spec_of(
    loaded: Loaded,
    *,
    agent: str,
    backend: str,
    sound: Sound,
    script: str = "",
    fast: bool = False,
    reload: bool = False,
) -> EngineSpec:
    """Return the engine's spec of a loaded config and the command line's additions."""
    config: Config = loaded.config
    if agent != Config().agent:
        # Checked before a screen opens and an engine starts. The default agent needs no check.
        from gemini_live_runtime.agents.catalogue import bundled_name
        from gemini_live_runtime.agents.loader import check_reference

        check_reference(agent)
        agent = bundled_name(agent) or agent
    devices = sound.kind == "devices"
    return EngineSpec(
        session_id=new_session_id(time.time()),
        agent=agent,
        backend=backend,
        model=config.model,
        voice=config.voice,
        mode="text" if sound.text else "voice",
        record=config.record,  # type: ignore[arg-type]
        audio=sound.kind,  # type: ignore[arg-type]
        input=config.audio_input if devices else sound.input,
        output=config.audio_output if devices else sound.output,
        echo_cancelling=config.echo_cancelling,
        headphones=config.headphones,
        turns=config.turns,  # type: ignore[arg-type]
        noise_suppression=config.noise_suppression,
        max_cost=config.max_cost or None,
        max_minutes=config.max_minutes or None,
        linger_s=config.linger_s,
        record_cap_bytes=int(config.cap_gb * 1e9),
        trusted_hosts=tuple(config.trusted_hosts),
        api_version=config.api_version,
        vertex_project=config.vertex_project,
        vertex_location=config.vertex_location,
        api_key_source=config.api_key_source,
        api_key_file=config.api_key_file,
        prices=config.prices,
        server_script=script,
        reload=reload,
        fast=fast,
    )
