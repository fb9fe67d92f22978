"""Run the command line.

A plain `demo` is started without click, which takes a tenth of the time to the first paint.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

PLAIN = frozenset({"--text", "-t", "--no-sound"})
"""Options of `demo` that need no parser."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Errors are printed as one sentence on standard error; tracebacks need `--debug`.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # Do not fail when the terminal cannot show a character. "surrogateescape" is that of the locale C.
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")
    if arguments[:1] == ["demo"] and PLAIN.issuperset(arguments[1:]):
        return _plain_demo(arguments[1:])
    from gemini_live_tui.cli.command_line import run

    return run(arguments)


def _open_closed_streams() -> None:
    """Connect standard streams that are closed (`>&-`) with the null device.

    Else their descriptors would go to the next files and sockets that are opened, and `print` to what stands in for
    `sys.stdout`.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (open to the end)


def _plain_demo(options: Sequence[str]) -> int:
    from gemini_live_tui.cli.console_start import EngineStarter, start_demo
    from gemini_live_tui.cli.engine_specs import Sound

    no_sound = "--no-sound" in options
    text = no_sound or "--text" in options or "-t" in options
    try:
        code = start_demo(EngineStarter({}, Sound(kind="none" if no_sound else "devices", text=text)))
        sys.stdout.flush()
        return code
    except BaseException as error:
        from gemini_live_tui.cli.command_line import exit_code_of

        return exit_code_of(error)
