"""Keep the spec of a recorded session beside its journal, to go on with it later.

A spec names code to run and hosts that credentials may be sent to, while recordings are passed on. So it is signed
with a key of this user, and a spec without that signature starts nothing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import EngineError, UsageError
from gemini_live_runtime.json_values import strict_decoder
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor

SPEC_FILE = "spec.json"
"""Name of the file in a session's folder."""

KEY_FILE = "resume.key"
"""Name of the file with the signing key (0600), in the folder of what the console remembers."""

_KEY_BYTES = 32
MAX_BYTES = 256 * 1024


@record
class SavedSpec:
    """Spec of a session and the working folder in which it was started."""

    spec: EngineSpec
    working_folder: str


def save_spec(folder: Path, spec: EngineSpec) -> None:
    """Write the signed spec to a session's folder (0600).

    A disk that refuses it costs the session's continuation only, and so does a secret in the spec, such as a password
    in the server's URL: it must not lie in a recording.
    """
    if not (folder / SPEC_FILE).exists() and not _holds_secret(spec):
        with contextlib.suppress(OSError, UsageError):
            content = {"spec": spec.to_json(), "working_folder": os.getcwd()}
            paths.write_private(folder / SPEC_FILE, {**content, "signature": _signature(content, folder, _make_key())})


def saved_spec(folder: Path) -> SavedSpec:
    """Read what `save_spec` has written.

    Raises `EngineError`, also for a spec that no engine of this user has saved for this session.
    """
    remedy = f"Look at it with: gemini-live-tui replay {folder.name}"
    try:
        value = strict_decoder.decode(paths.read_regular(folder / SPEC_FILE, MAX_BYTES, follow=False).decode())
        content = {"spec": value["spec"], "working_folder": value["working_folder"]}
        signature = str(value.get("signature", "")).encode("utf-8", "replace")
        key = _read_key()
        if key is None or not hmac.compare_digest(signature, _signature(content, folder, key).encode()):
            raise EngineError(
                f"The session {folder.name} cannot go on: its settings were not saved by you on this computer",
                remedy=remedy,
                field="session id",
                value=folder.name,
            )
        return SavedSpec(EngineSpec.from_json(content["spec"]), str(content["working_folder"]))
    except FileNotFoundError:
        raise EngineError(
            f"The session {folder.name} cannot go on: it was recorded without its settings", remedy=remedy
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EngineError(
            f"The settings of the session {folder.name} cannot be read: {error!s:.100}", remedy=remedy
        ) from None


def _holds_secret(spec: EngineSpec) -> bool:
    return any(isinstance(value, str) and redactor.text(value) != value for value in spec.to_json().values())


def _signature(content: dict[str, Any], folder: Path, key: bytes) -> str:
    text = json.dumps([folder.name, content], sort_keys=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _make_key() -> bytes:
    """Return this user's key, made at its first use.

    Raises `OSError`, and `UsageError` for a folder of another user.
    """
    path = paths.state_dir() / KEY_FILE
    paths.private_dir(path.parent)
    with contextlib.suppress(FileExistsError):
        fd = paths.open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
        except OSError:
            path.unlink()
            raise
    key = _read_key()
    if key is None:
        raise OSError(errno.EINVAL, "it is no key", str(path))
    return key


def _read_key() -> bytes | None:
    """Return this user's key; None for none, a damaged one or another user's."""
    try:
        key = paths.read_regular(paths.state_dir() / KEY_FILE, _KEY_BYTES, follow=False, trusted=True)
    except OSError:
        return None
    return key if len(key) == _KEY_BYTES else None
