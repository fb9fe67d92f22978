"""Session runtime of gemini-live-tui.

`__init__.pyi` lists the public names and their modules. A name's module is imported on first use, so that importing
the event types, as the console does, does not import the runtime.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__version__ = "0.1.0"


@cache
def _modules() -> dict[str, str]:
    """Return the module of each public name, read from the stub file."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*_modules(), "__version__"]
    if name.startswith("_") or name not in _modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_modules()[name]), name)
