"""Inspect this machine and this program: devices, doctor, schema."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import click

from gemini_live_runtime.text import sanitise_line


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def devices(as_json: bool) -> int:
    """List sound devices.

    --input-device and --output-device take a number or part of a name.
    """
    from gemini_live_runtime.audio.devices.probe import list_devices

    found = list_devices()
    if as_json:
        for device in found.devices:
            click.echo(json.dumps(asdict(device)))
    else:
        if found.devices:
            click.echo(f"{'N':>3}  {'NAME':40}{'API':14}{'IN':>4}{'OUT':>5}{'RATE':>8}  DEFAULT")
        for device in found.devices:
            marks = [
                word
                for word, is_default in (("input", device.is_default_input), ("output", device.is_default_output))
                if is_default
            ]
            row = f"{device.index:>3}  {sanitise_line(device.name, 39):40}{sanitise_line(device.host_api, 13):14}"
            click.echo(
                f"{row}{device.input_channels:>4}{device.output_channels:>5}{device.rate:>8}  {', '.join(marks)}"
            )
    if found.problem:
        click.echo(f"gemini-live-tui: {sanitise_line(found.problem)}", err=True)
        return 1
    return 0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--profile", metavar="NAME", default=None, help="Profile, instead of the one that is in use.")
def doctor(as_json: bool, profile: str | None) -> int:
    """Check everything a call needs.

    The exit code is 1 when a check failed.
    """
    from gemini_live_runtime.redactor import redactor
    from gemini_live_tui.cli.checks import run_checks

    # A key may stand where a name was to be: people show what this prints to others.
    checks = [
        replace(check, found=redactor.text(check.found), remedy=redactor.text(check.remedy))
        for check in run_checks(profile)
    ]
    failed = any(check.state == "failed" for check in checks)
    if as_json:
        click.echo(json.dumps({"ok": not failed, "checks": [asdict(check) for check in checks]}, indent=2))
        return int(failed)
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(f"{check.state:8} {check.name:{width}}  {sanitise_line(check.found)}")
        if check.remedy:
            click.echo(f"{'':8} {'':{width}}  -> {sanitise_line(check.remedy)}")
    if any(check.state != "ok" for check in checks):
        click.echo("\nMore help, e.g. with echo, tmux, ssh, WSL and keys: docs/troubleshooting.md")
    return int(failed)


@click.command()
def schema() -> int:
    """Print the JSON Schema of every event and command."""
    from gemini_live_runtime.vocabulary import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
    return 0
