"""Tell how to add an optional part to this installation."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "gemini-live-tui"


def install_command(extra: str) -> str:
    """Return pip's command that adds `extra`.

    It names the folder or file that this installation came from. By its name pip would search the index, where the
    program is not, and install another one of that name.
    """
    return f"pip install {shlex.quote(f'{_source()}[{extra}]')}"


def _source() -> str:
    """Return what pip was given: the path that it recorded (PEP 610), or the name."""
    # Takes 10 ms to import, and is needed for an error only.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        # Run from its files, without an installation.
        root = Path(__file__).resolve().parents[2]
        return str(root) if (root / "pyproject.toml").is_file() else NAME
    try:
        url = urlsplit(json.loads(recorded or "{}").get("url", ""))
    except (ValueError, AttributeError):
        return NAME
    return unquote(url.path) if url.scheme == "file" else NAME
