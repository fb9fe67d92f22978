"""Find and check credentials, register them with the redactor, and clear them.

Search order: an explicit value, `GOOGLE_API_KEY`, `GEMINI_API_KEY` (the order of Google's own client), the key file,
the system's keyring. A key that starts with `auth_tokens/` is an ephemeral token. Secrets are then removed from the
environment, so that tools and child processes do not inherit them. A console, which needs them again for its next
engine, holds them in memory meanwhile (`hold_secrets`) and hands them over by a pipe.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from gemini_live_runtime import paths
from gemini_live_runtime.errors import ConfigError, CredentialError, MissingExtraError
from gemini_live_runtime.installation import install_command
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor

CredentialKind = Literal["api-key", "ephemeral", "bearer"]

KEY_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""Environment variables that hold an API key; the first one set wins."""

TOKEN_VARIABLE = "CLOUDSDK_AUTH_ACCESS_TOKEN"  # noqa: S105 - a name
"""Environment variable that holds a bearer token for Vertex, as gcloud reads it."""

SECRET_VARIABLES = (*KEY_VARIABLES, TOKEN_VARIABLE)

KEYRING_SERVICE = "gemini-live-tui"
KEYRING_USER = "gemini-api-key"

VERTEX_SCOPE = "https://www.googleapis.com/auth/cloud-platform"

NO_KEY_REMEDY = "Set GEMINI_API_KEY (free keys: aistudio.google.com/apikey), or talk to the demo without a key"

_KEY_SHAPE = re.compile(r"[A-Za-z0-9_.\-]{20,200}")
_TOKEN_SHAPE = re.compile(r"[\x21-\x7e]{10,8000}")


@record
class Credential:
    """Secret and the name of its source; `repr` hides the secret."""

    kind: CredentialKind
    secret: str = field(repr=False)
    source: str = ""


@record
class FoundCredential:
    """Result of a search: a credential or None, and warnings for the user."""

    credential: Credential | None
    warnings: tuple[str, ...] = ()
    project: str = ""
    """Google Cloud project of the credential; "" when unknown."""


def api_key(secret: str, source: str = "given") -> Credential:
    """Return an API key or ephemeral token, registered with the redactor.

    Raises `CredentialError` for a secret of the wrong shape.
    """
    secret = secret.strip()
    redactor.add(secret)
    problem = key_problem(secret)
    if problem:
        raise CredentialError(
            f"The API key from {source} {problem}", remedy="Copy it again from aistudio.google.com/apikey", field=source
        )
    return Credential("ephemeral" if secret.startswith("auth_tokens/") else "api-key", secret, source)


def bearer_token(secret: str, source: str = "given") -> Credential:
    """Return an OAuth access token, registered with the redactor.

    Raises `CredentialError` for a secret of the wrong shape.
    """
    secret = secret.strip()
    redactor.add(secret)
    if not _TOKEN_SHAPE.fullmatch(secret):
        raise CredentialError(
            f"The access token from {source} is malformed: it must be 10 to 8000 visible ASCII characters",
            remedy="Get a new one with `gcloud auth print-access-token`",
            field=source,
        )
    return Credential("bearer", secret, source)


def key_problem(secret: str) -> str:
    """Return the problem with a key's shape, as the end of a sentence, or ""."""
    if not secret:
        return "is empty"
    if secret[0] in "\"'" or secret[-1] in "\"'":
        return "has quotation marks around it"
    if secret.startswith("auth_tokens/"):
        return (
            ""
            if _TOKEN_SHAPE.fullmatch(secret)
            else "is not an ephemeral token: it has characters other than visible ASCII"
        )
    if secret.startswith("ya29."):
        return "is an OAuth access token, which only the backend vertex accepts"
    if secret.startswith("sk-"):
        return "is a key of another provider"
    if not _KEY_SHAPE.fullmatch(secret):
        return f"has the wrong shape: {len(secret)} characters, where a key has 20 to 200 letters, digits, - _ ."
    return ""


def find_api_key(
    environment: Mapping[str, str], *, source: str = "", key_file: Path | None = None, keyring_entry: str = ""
) -> FoundCredential:
    """Search for an API key in `env`, `file` or `keyring`, or in all with `source` "".

    `keyring_entry` is the name under which the keyring has it; "" is the usual one.

    Raises `CredentialError` for an unusable key, and `ConfigError` for an unusable `source`. Finding none is no error.
    """
    if source not in ("", "env", "file", "keyring"):
        raise ConfigError(
            f"api_key_source is {source!r:.40}, which is unknown",
            remedy="Use env, file or keyring, or remove it",
            field="api_key_source",
            value=source,
        )
    if source in ("", "env"):
        values = {name: environment[name].strip() for name in KEY_VARIABLES if environment.get(name, "").strip()}
        # The key that is not used must not be shown either.
        for value in values.values():
            redactor.add(value)
        if values:
            winner = next(iter(values))
            warnings: tuple[str, ...] = ()
            if len(set(values.values())) > 1:
                warnings = (f"GOOGLE_API_KEY and GEMINI_API_KEY differ; {winner} is used",)
            return FoundCredential(api_key(values[winner], winner), warnings)
    if source == "file" and key_file is None:
        raise ConfigError(
            "api_key_source is file but no key file is named", remedy="Set api_key_file", field="api_key_file"
        )
    if source in ("", "file") and key_file is not None and (source or key_file.exists()):
        return FoundCredential(api_key(_read_key_file(key_file), str(key_file)))
    if source in ("", "keyring") and (secret := _from_keyring(keyring_entry, required=bool(source))):
        where = f"the keyring, entry {keyring_entry}" if keyring_entry else "the keyring"
        return FoundCredential(api_key(secret, where))
    return FoundCredential(None)


def find_vertex_token(environment: Mapping[str, str]) -> FoundCredential:
    """Find a bearer token for Vertex.

    Searches the environment, then Google's application default credentials. Blocks on files and the network, so call
    it in a thread. Raises `MissingExtraError` or `CredentialError`.
    """
    project = environment.get("GOOGLE_CLOUD_PROJECT", "").strip()
    if given := environment.get(TOKEN_VARIABLE, "").strip():
        return FoundCredential(bearer_token(given, TOKEN_VARIABLE), project=project)
    try:
        import google.auth
        import google.auth.exceptions
        import google.auth.transport.requests
    except ImportError:
        raise MissingExtraError(
            "Vertex needs google-auth, which is not installed",
            remedy=f"Run {install_command('vertex')}, or set {TOKEN_VARIABLE}",
            field="vertex",
        ) from None
    try:
        credentials, found_project = google.auth.default(scopes=[VERTEX_SCOPE])
        credentials.refresh(google.auth.transport.requests.Request())
    except google.auth.exceptions.GoogleAuthError as error:
        raise CredentialError(
            f"Google Cloud credentials cannot be used: {redactor.text(str(error)):.200}",
            remedy="Log in with `gcloud auth application-default login`",
            field="vertex",
        ) from None
    token = bearer_token(str(credentials.token), "application default credentials")
    return FoundCredential(token, project=project or str(found_project or ""))


def wants_vertex(environment: Mapping[str, str]) -> bool:
    """Return True when `GOOGLE_GENAI_USE_VERTEXAI` asks for Vertex.

    Raises `ConfigError` for a value that is no boolean.
    """
    value = environment.get("GOOGLE_GENAI_USE_VERTEXAI", "").strip().lower()
    if value in ("", "0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    raise ConfigError(
        f"GOOGLE_GENAI_USE_VERTEXAI is {value!r:.40}, which is not a boolean",
        remedy="Set it to true or false",
        field="GOOGLE_GENAI_USE_VERTEXAI",
        value=value,
    )


_held: dict[str, str] = {}
"""Secrets taken out of the environment, by the name of their variable."""


def hold_secrets() -> None:
    """Move secrets from the environment, which other processes can read, to memory."""
    found = {name: os.environ[name] for name in SECRET_VARIABLES if os.environ.get(name, "").strip()}
    _remove(os.environ)
    hold({**found, **_held})


def hold(secrets: Mapping[str, str]) -> None:
    """Hold secrets in memory, by the name of their variable."""
    for value in secrets.values():
        redactor.add(value.strip())
    _held.update(secrets)


def register_secrets() -> None:
    """Register the environment's secrets with the redactor, and leave them there."""
    for name in SECRET_VARIABLES:
        redactor.add(os.environ.get(name, "").strip())


def held_secrets() -> dict[str, str]:
    """Return the secrets that are held in memory, by the name of their variable."""
    return dict(_held)


def credential_environment() -> dict[str, str]:
    """Return the environment together with the secrets that are held in memory."""
    return {**os.environ, **_held}


def scrub_environment(environment: MutableMapping[str, str] | None = None) -> tuple[str, ...]:
    """Remove secrets from the environment, and return the names of the variables.

    Tools and child processes then do not inherit them. Call it after the credentials were found: without `environment`
    it forgets those in memory, too. Each value is registered with the redactor first.
    """
    if environment is None:
        _held.clear()
    return _remove(os.environ if environment is None else environment)


def _remove(environment: MutableMapping[str, str]) -> tuple[str, ...]:
    removed = []
    if environment is os.environ and sys.platform == "linux":
        _overwrite([name for name in SECRET_VARIABLES if name in environment])
    for name in SECRET_VARIABLES:
        value = environment.pop(name, None)
        if value is not None:
            redactor.add(value.strip())
            removed.append(name)
    return tuple(removed)


def _overwrite(names: list[str]) -> None:
    """Overwrite variables in the memory that `/proc/PID/environ` shows.

    It has the environment with which the process was started; `unsetenv` does not change it.
    """
    if not names:
        return
    import ctypes

    try:
        # Fields 50 and 51 of stat, see proc(5): env_start and env_end. Field 2, the name, may contain spaces.
        after_name = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        start, end = int(after_name[47]), int(after_name[48])
        getenv = ctypes.CDLL(None).getenv
    except (OSError, ValueError, IndexError, AttributeError):
        return
    getenv.restype, getenv.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    for name in names:
        address = getenv(name.encode())
        if address is not None and start <= address < end:
            ctypes.memset(address, 0, len(ctypes.string_at(address)))


MAX_KEY_FILE_BYTES = 64 * 1024
"""Bytes read of a key file; more make a key that is refused."""


def _read_key_file(path: Path) -> str:
    try:
        with paths.open_regular(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(MAX_KEY_FILE_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise CredentialError(
            f"The key file {path} cannot be read: {reason}", remedy="Check api_key_file", field="api_key_file"
        ) from None
    if os.name == "posix" and mode & 0o077:
        raise CredentialError(
            f"The key file {path} can be read by others", remedy=f"Run chmod 600 {path}", field="api_key_file"
        )
    return text


def _from_keyring(entry: str, *, required: bool) -> str:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        if required:
            raise MissingExtraError(
                "The keyring cannot be used: keyring is not installed",
                remedy=f"Run {install_command('keyring')}, or set GEMINI_API_KEY",
                field="api_key_source",
            ) from None
        return ""
    try:
        return keyring.get_password(KEYRING_SERVICE, entry or KEYRING_USER) or ""
    except keyring.errors.KeyringError as error:
        if required:
            raise CredentialError(
                f"The keyring cannot be used: {redactor.text(str(error)):.200}",
                remedy="Unlock it, or set GEMINI_API_KEY",
                field="api_key_source",
            ) from None
        return ""
