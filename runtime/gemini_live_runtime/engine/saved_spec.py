"""Keep the spec of a recorded session beside its journal, to go on with it later."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.records import record

SPEC_FILE = "spec.json"
"""Name of the file in a session's folder."""

_MAX_BYTES = 256 * 1024


@record
class SavedSpec:
    """Spec of a session and the working folder in which it was started."""

    spec: EngineSpec
    working_folder: str


def save_spec(folder: Path, spec: EngineSpec) -> None:
    """Write the spec to a session's folder (0600).

    A disk that refuses it costs the session's continuation only.
    """
    if not (folder / SPEC_FILE).exists():
        with contextlib.suppress(OSError):
            paths.write_private(folder / SPEC_FILE, {"spec": spec.to_json(), "working_folder": os.getcwd()})


def saved_spec(folder: Path) -> SavedSpec:
    """Read what `save_spec` has written; raises `EngineError`."""
    remedy = f"Look at it with: gemini-live-tui replay {folder.name}"
    try:
        value = json.loads(paths.read_regular(folder / SPEC_FILE, _MAX_BYTES, follow=False))
        return SavedSpec(EngineSpec.from_json(value["spec"]), str(value["working_folder"]))
    except FileNotFoundError:
        raise EngineError(
            f"The session {folder.name} cannot go on: it was recorded without its settings", remedy=remedy
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineError(
            f"The settings of the session {folder.name} cannot be read: {error!s:.100}", remedy=remedy
        ) from None
