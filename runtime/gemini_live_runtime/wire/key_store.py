"""Save an API key in the system's keyring or in a file."""

from __future__ import annotations

from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.errors import CredentialError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire.credentials import KEYRING_SERVICE, KEYRING_USER, Credential


def keyring_problem() -> str:
    """Return a sentence that names the problem with the system's keyring, or "".

    May block, because it may call a service.
    """
    try:
        import keyring
        from keyring.backends.fail import Keyring as NoBackend
    except ImportError:
        return "It needs the extra `keyring`."
    try:
        backend = keyring.get_keyring()
        priority = float(getattr(backend, "priority", 0))
    except Exception as error:
        return f"The system's keyring cannot be used: {redactor.text(str(error)):.120}."
    if isinstance(backend, NoBackend) or priority <= 0:
        return "This system has no usable keyring."
    return ""


def save_to_keyring(credential: Credential, entry: str = KEYRING_USER) -> None:
    """Save the key in the system's keyring, where `find_api_key` searches.

    `entry` is its name there. May block. Raises `CredentialError`.
    """
    problem = keyring_problem()
    if problem:
        raise CredentialError(
            problem, remedy="Save the key in a file, or set GEMINI_API_KEY", field="credentials.source"
        )
    import keyring

    try:
        keyring.set_password(KEYRING_SERVICE, entry or KEYRING_USER, credential.secret)
    except Exception as error:
        raise CredentialError(
            f"The keyring did not save the key: {redactor.text(str(error)):.120}",
            remedy="Unlock it, or save the key in a file",
            field="credentials.source",
        ) from None


def save_to_file(credential: Credential, path: Path) -> None:
    """Save the key to `path` atomically, with mode 0600; raise `CredentialError`."""
    try:
        paths.private_dir(path.parent)
        paths.write_private_text(path, f"{credential.secret}\n", sync=True)
    except OSError as error:
        raise CredentialError(
            f"The key file {path} cannot be written: {error.strerror or error}",
            remedy="Save the key in the keyring, or set GEMINI_API_KEY",
            field="credentials.file",
        ) from None
