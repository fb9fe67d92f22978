"""Define the command that runs a conversation without a screen."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from pathlib import Path
from typing import Any

import click

from gemini_live_runtime.errors import UsageError
from gemini_live_tui.cli.engine_specs import Sound, spec_of
from gemini_live_tui.cli.headless import HeadlessConversation
from gemini_live_tui.cli.options import ASK, DETAIL, DEVICE_OPTIONS, PROFILE_OPTIONS, SESSION_OPTIONS, config_options
from gemini_live_tui.config import load


@click.command()
@click.argument("agent", default="")
@click.option("--mic", type=click.Path(path_type=Path), metavar="FILE", help="WAV file to use as the microphone.")
@click.option("--speaker", type=click.Path(path_type=Path), metavar="FILE", help="WAV file to write the answer to.")
@click.option(
    "--text", "texts", multiple=True, metavar="TEXT", help="Text to send when the previous turn is over. Repeatable."
)
@click.option(
    "--until-idle",
    is_flag=True,
    help="End when the microphone file is read and the session was idle for 1 s; with --devices for 5 s.",
)
@click.option("--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Fail after S seconds.")
@click.option("--plain", "form", flag_value="plain", default="plain", help="Print lines of text (the default).")
@click.option("--json", "form", flag_value="json", help="Print events as JSON lines.")
@DETAIL
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="TOOL",
    help="Run calls of TOOL that need consent, which are refused otherwise. Repeatable.",
)
@ASK
@click.option("--devices", is_flag=True, help="Use the sound devices instead of files.")
@click.option("--fast", is_flag=True, help="Run in virtual time; for the embedded server.")
@click.option("--script", metavar="FILE", help="Dialogue of the embedded server.")
@config_options(PROFILE_OPTIONS, SESSION_OPTIONS, DEVICE_OPTIONS)
@click.pass_obj
def talk(
    shared: dict[str, bool],
    agent: str,
    mic: Path | None,
    speaker: Path | None,
    texts: tuple[str, ...],
    until_idle: bool,
    timeout: float,
    form: str,
    detail: str,
    allowed: tuple[str, ...],
    asked: tuple[str, ...],
    devices: bool,
    fast: bool,
    script: str | None,
    flags: dict[str, Any],
) -> int:
    """Run a conversation without a screen.

    AGENT is the name of a bundled agent, MODULE:ATTR or FILE.py:ATTR (default: the configured one). Without --mic,
    --text and --until-idle, lines typed on standard input are sent one by one. The exit code is 0 when the conversation
    is complete, 10 to 16 for what it lacks, 1 when it failed otherwise, 2 when it could not begin.
    """
    from gemini_live_tui.cli.console_start import chosen_backend, key_found

    if not timeout > 0:
        raise UsageError(f"--timeout is {timeout:g}, it must be above 0", field="timeout", value=timeout)
    if devices and (mic or speaker):
        raise UsageError("Give --devices or WAV files, not both", field="devices")
    if devices and fast:
        raise UsageError(
            "--fast cannot be combined with --devices", remedy="Leave out --devices or --fast", field="fast"
        )
    for option, key, _ in DEVICE_OPTIONS:
        if not devices and flags[key] is not None:
            raise UsageError(f"{option} needs --devices", remedy="Add --devices", field=option.removeprefix("--"))
    _check_texts(texts)
    loaded = load(flags=flags)
    backend = chosen_backend(loaded.config)
    if not loaded.config.backend and backend == "gemini" and not key_found(loaded.config):
        backend = "local"
    kind = "devices" if devices else "files" if mic or speaker else "none"
    sound = Sound(kind=kind, input=str(mic or ""), output=str(speaker or ""), text=kind != "devices" and mic is None)
    spec = spec_of(
        loaded,
        agent=agent or loaded.config.agent,
        backend=backend,
        sound=sound,
        script=script or "",
        fast=fast,
        headless=True,
        allowed=allowed,
        asked=asked,
    )
    if kind == "files":
        from gemini_live_runtime.audio.file_audio import FileAudio

        # Before a session begins, which would be recorded without a word.
        FileAudio(mic, speaker).check()
    interactive = not (mic or texts or until_idle or devices)
    conversation = HeadlessConversation(
        spec,
        deque(texts),
        until_idle=until_idle or bool(texts or mic),
        timeout=timeout,
        form=form,
        detail=detail,
        interactive=interactive,
        debug=shared["debug"],
    )
    if fast:
        from gemini_live_runtime.clock import run_virtual

        return run_virtual(conversation.run(), wall=time.time())
    return asyncio.run(conversation.run())


def _check_texts(texts: tuple[str, ...]) -> None:
    from gemini_live_runtime.commands import MAX_TEXT

    for text in texts:
        if not text.strip():
            raise UsageError("--text is empty", remedy="Give a text to send", field="text")
        if len(text) > MAX_TEXT:
            raise UsageError(
                f"--text has {len(text)} characters, at most {MAX_TEXT} can be sent at once",
                remedy="Give --text several times",
                field="text",
            )
