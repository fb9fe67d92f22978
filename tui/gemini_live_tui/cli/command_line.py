"""Define the command line.

A command's module is imported when the command is used, so that the console starts fast.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from gemini_live_runtime import __version__
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise
from gemini_live_tui.cli.options import start_options

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("start", "Talk to a bundled agent on the embedded server: no key, no network."),
    "run": ("start", "Talk to your own agent."),
    "talk": ("talk", "Run a conversation without a screen: WAV files or text in, WAV file and lines out."),
    "attach": ("engines", "Attach a console to a running engine."),
    "resume": ("engines", "Go on with a recorded session whose engine died or was ended."),
    "ps": ("engines", "List running engines."),
    "stop": ("engines", "End a running engine."),
    "notify": ("notify", "Queue a notification that the model announces, or list and acknowledge them."),
    "memory": ("memory", "List, show, write, delete and search what agents remember."),
    "tasks": ("harness", "List, show and cancel tasks: tool calls that go on in the background."),
    "replay": ("records", "Show or print a recorded session."),
    "sessions": ("sessions", "List, name, delete and restore recorded sessions."),
    "export": ("export", "Write a recorded session as Markdown, text, JSON or WAV files, redacted."),
    "serve-local": ("server", "Run the embedded Live server alone, for any Live client."),
    "devices": ("inspect", "List sound devices."),
    "calibrate": ("calibrate", "Measure the speaker's echo in the microphone, for the echo canceller."),
    "doctor": ("inspect", "Check everything a call needs."),
    "schema": ("inspect", "Print the JSON Schema of events and commands."),
    "profiles": ("profiles", "List, show, create, choose, change and delete profiles."),
    "config": ("settings", "Show and change settings."),
    "completion": ("settings", "Print the shell completion script."),
}
"""Commands by name: their module in this package, and their line in `--help`."""


class LazyGroup(click.Group):
    """Click group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"gemini_live_tui.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command; suggest the nearest name for an unknown one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]}?" if close else " See gemini-live-tui --help."
            raise click.UsageError(f"Unknown command {args[0][:60]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing their modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="gemini-live-tui", message="%(prog)s %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.obj.update(debug=value),
    help="Show tracebacks of errors; goes before the command.",
)
@start_options
@click.pass_context
def cli(ctx: click.Context, text: bool, no_sound: bool, flags: dict[str, Any]) -> None:
    """Talk to a live model in the terminal and see what its agent does.

    Without a command: a console on the configured backend. Without a key: the demo is offered.
    """
    if ctx.invoked_subcommand is None:
        from gemini_live_tui.cli.start import plain_start

        ctx.exit(plain_start(flags, text=text, no_sound=no_sound))
    elif text or no_sound or any(value is not None for value in flags.values()):
        raise click.UsageError(f"Options of {ctx.invoked_subcommand} come after its name")


def run(arguments: Sequence[str]) -> int:
    """Parse and run a command line; return the exit code."""
    shared = {"debug": False}
    try:
        result: Any = cli.main(args=list(arguments), prog_name="gemini-live-tui", standalone_mode=False, obj=shared)
        flush()
    except BaseException as error:
        return exit_code_of(error, debug=shared["debug"])
    return result if isinstance(result, int) else 0


def exit_code_of(error: BaseException, *, debug: bool = False) -> int:
    """Print one sentence about what ended a command, if it is an error.

    Returns the exit code. With `debug` a traceback is printed.
    """
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        return _fail(_sentence(error), code=2)
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return _fail("Interrupted.", code=130)
    if isinstance(error, BrokenPipeError):
        # The process that read our output has ended: an error message would reach no reader.
        _silence_output()
        return 1
    if isinstance(error, SystemExit):
        # Click exits this way for a broken pipe and after shell completion.
        return error.code if isinstance(error.code, int) else 0
    if not isinstance(error, Exception):
        raise error
    if debug:
        import traceback

        text = "".join(traceback.format_exception(error))
        print(redactor.text(sanitise(text)), file=sys.stderr)
    return _failed(error)


def _failed(error: Exception) -> int:
    if isinstance(error, AgentError):
        # An AgentError has one fault a line.
        return _fail(*str(error).splitlines(), code=error.exit_code)
    if isinstance(error, GeminiLiveError):
        return _fail(str(error), code=error.exit_code)
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        _silence_output()
        remedy = "Free some space, or send it elsewhere" if error.errno == errno.ENOSPC else "Send it elsewhere"
        return _fail(f"The output cannot be written: {error.strerror}. {remedy}.", code=1)
    if isinstance(error, OSError) and error.filename is not None:
        return _fail(f"{error.filename} cannot be used: {error.strerror}.", code=1)
    return _fail(f"Internal error: {type(error).__name__}: {error}. Run again with --debug to see where.", code=1)


def flush() -> None:
    """Write out what was printed; raises `OSError` when it cannot be."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _silence_output() -> None:
    """Redirect standard output to nowhere, so that the last flush succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_RECORDED = ("session", "names")
"""Names of arguments that are recorded sessions."""


def _sentence(error: click.ClickException) -> str:
    text = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name == "--debug":
        return "--debug goes before the command: gemini-live-tui --debug COMMAND."
    if isinstance(error, click.UsageError) and error.ctx is not None and error.ctx.info_name not in (None, "cli"):
        named = error.param.name if isinstance(error, click.MissingParameter) and error.param is not None else ""
        lists = "gemini-live-tui sessions lists them; see also" if named in _RECORDED else "See"
        text = f"{text.rstrip('.')}. {lists} {error.ctx.command_path} --help."
    return text


def _fail(*texts: str, code: int) -> int:
    lines = (" ".join(redactor.text(sanitise(text)).split()) for text in texts)
    with contextlib.suppress(OSError):
        print("gemini-live-tui: " + "\n".join(lines), file=sys.stderr)
    return code
