"""Run the embedded Live server alone."""

from __future__ import annotations

from pathlib import Path

import click

from gemini_live_runtime.errors import UsageError


class _ServerCommand(click.Command):
    """Command whose help ends with the faults."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a row for each fault."""
        from gemini_live_runtime.local.faults import DESCRIPTIONS

        with formatter.section("Faults"):
            formatter.write_dl([(fault.value, text) for fault, text in DESCRIPTIONS.items()])


@click.command("serve-local", cls=_ServerCommand)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--port", default=0, show_default=True, type=int, metavar="N", help="Port; 0 takes a free one.")
@click.option(
    "--script",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Dialogue for all but bundled local-NAME models (default: one that names your tools).",
)
@click.option("--go-away-after", type=float, metavar="S", help="Announce the end of each connection after S seconds.")
@click.option("--fault", default="", metavar="NAME[,NAME]", help="Simulate these faults, each as often as it is named.")
@click.option("--fault-seed", type=int, metavar="N", help="Simulate faults at random, drawn by this seed.")
def serve_local(
    host: str, port: int, script: Path | None, go_away_after: float | None, fault: str, fault_seed: int | None
) -> int:
    """Run the embedded Live server alone, for any Live client (Google's SDK included).

    Prints one JSON line with its `url` when it is ready, and serves until it is interrupted.
    """
    from gemini_live_runtime.local.faults import faults_named
    from gemini_live_runtime.local.main import run
    from gemini_live_runtime.local.server import ServerOptions

    try:
        options = ServerOptions(
            host=host,
            port=port,
            script=script,
            go_away_after=go_away_after,
            faults=faults_named(fault),
            fault_seed=fault_seed,
        )
        return run(options)
    except UnicodeError:
        raise UsageError(
            f"--host {host[:60]!r} is not a valid host name", remedy="Give a name or an address", field="host"
        ) from None
