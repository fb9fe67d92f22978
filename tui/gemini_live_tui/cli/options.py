"""Define the options that commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gemini_live_runtime.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

DETAIL = click.option(
    "--detail",
    type=click.Choice(["talk", "decisions", "all"]),
    default="decisions",
    help="Detail of plain lines: talk, the conversation alone; decisions, with the agent's decisions (default); "
    "all, everything.",
)


ASK = click.option(
    "--ask",
    "asked",
    multiple=True,
    metavar="TOOL",
    help="Ask you before each call of TOOL. Repeatable.",
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


PROFILE_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("--profile", "profile", {"metavar": "NAME", "help": "Profile: its options, records and policies."}),
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
        "--reconnect-for",
        "engine.reconnect_for_s",
        {"type": float, "metavar": "S", "help": "Make a lost connection again for so long, without a console."},
    ),
    (
        "--turns",
        "turns",
        {
            "type": click.Choice(["auto", "server", "client", "manual"]),
            "help": "Detector of your turns; auto is the agent's, manual the microphone switch.",
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
    decorated = config_options(PROFILE_OPTIONS, SESSION_OPTIONS, DEVICE_OPTIONS, LOOK_OPTIONS)(function)
    no_sound = click.option("--no-sound", is_flag=True, help="Use no sound device at all.")
    return click.option("--text", "-t", is_flag=True, help="Start in text mode.")(no_sound(decorated))


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")
