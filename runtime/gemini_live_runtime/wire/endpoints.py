"""Build the URLs and headers of Live API servers.

Servers are Google's two APIs, any server by its URL, and the embedded one. A credential is sent in a header, never in
the URL; only to Google's hosts and to hosts in `trusted_hosts` of the config; and over plain `ws://` only to this
machine. The functions here raise `CredentialError` for anything else.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import field
from typing import Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from gemini_live_runtime.errors import ConfigError, CredentialError
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import REDACTED, redactor
from gemini_live_runtime.wire.credentials import Credential

Backend = Literal["gemini", "vertex", "local", "url"]

GEMINI_HOST = "generativelanguage.googleapis.com"
API_VERSIONS = ("v1beta", "v1", "v1alpha")
"""Versions of the Developer API; the first is the default."""

VERTEX_VERSIONS = ("v1beta1", "v1")
"""Versions of the Vertex API; the first is the default."""

DEFAULT_VERTEX_LOCATION = "us-central1"

_GEMINI_PATH = "/ws/google.ai.generativelanguage.{version}.GenerativeService.{method}"
_VERTEX_PATH = "/ws/google.cloud.aiplatform.{version}.LlmBidiService/BidiGenerateContent"
# Matched as a whole: a host that merely begins or ends like one of Google's gets no credential.
_GOOGLE_HOSTS = re.compile(
    r"generativelanguage\.googleapis\.com|([a-z0-9-]+-)?aiplatform\.googleapis\.com"
    r"|aiplatform\.[a-z0-9-]+\.rep\.googleapis\.com"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")


@record
class Endpoint:
    """URL of a server, its headers, and the prefix of its model names.

    `repr` hides the headers.
    """

    backend: Backend
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    model_prefix: str = "models/"

    @property
    def host(self) -> str:
        """Host, with the port when the URL names one."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def model_path(self, model: str) -> str:
        """Return the resource name of a model; full resource names stay as they are."""
        if model.startswith(("models/", "tunedModels/", "projects/", "publishers/")):
            if self.backend == "vertex" and model.startswith("models/"):
                return self.model_prefix + model.removeprefix("models/")
            if self.backend == "vertex" and model.startswith("publishers/"):
                return self.model_prefix.removesuffix("publishers/google/models/") + model
            return model
        return self.model_prefix + model


def gemini_endpoint(
    credential: Credential, *, version: str = "", base_url: str = "", trusted_hosts: Collection[str] = ()
) -> Endpoint:
    """Return the endpoint of the Developer API; `version` "" is the default.

    `credential` is an API key or an ephemeral token. Raises `CredentialError` or `ConfigError`.
    """
    version = _one_of(version, API_VERSIONS, "api_version")
    if credential.kind == "bearer":
        raise CredentialError(
            "The Developer API accepts an API key or an ephemeral token, not a bearer token",
            remedy="Use the backend vertex, or set GEMINI_API_KEY",
            field="credential",
        )
    method = "BidiGenerateContentConstrained" if credential.kind == "ephemeral" else "BidiGenerateContent"
    path = _GEMINI_PATH.format(version=version, method=method)
    url = _join(base_url or f"wss://{GEMINI_HOST}", path)
    return Endpoint("gemini", url, credential_headers(url, credential, trusted_hosts))


def vertex_endpoint(
    credential: Credential,
    *,
    project: str,
    location: str = "",
    version: str = "",
    base_url: str = "",
    trusted_hosts: Collection[str] = (),
) -> Endpoint:
    """Return the endpoint of Vertex AI; `credential` is a bearer token.

    `location` "" is `DEFAULT_VERTEX_LOCATION`; `global` is a location too. Raises `CredentialError` or `ConfigError`.
    """
    version = _one_of(version, VERTEX_VERSIONS, "api_version")
    location = location or DEFAULT_VERTEX_LOCATION
    check_vertex_names(project, location)
    if credential.kind != "bearer":
        raise CredentialError(
            "Vertex accepts a bearer token, not an API key",
            remedy="Log in with `gcloud auth application-default login`, or use the backend gemini",
            field="credential",
        )
    host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
    url = _join(base_url or f"wss://{host}", _VERTEX_PATH.format(version=version))
    headers = (*credential_headers(url, credential, trusted_hosts), ("x-goog-user-project", project))
    return Endpoint("vertex", url, headers, f"projects/{project}/locations/{location}/publishers/google/models/")


def check_vertex_names(project: str, location: str) -> None:
    """Raise `ConfigError` for an unusable name of a project or a location."""
    for name, value, variable in (
        ("project", project, "GOOGLE_CLOUD_PROJECT"),
        ("location", location, "GOOGLE_CLOUD_LOCATION"),
    ):
        if not _NAME.fullmatch(value):
            problem = f"cannot use the {name} {value!r:.60}" if value else f"needs a {name}"
            raise ConfigError(f"Vertex {problem}", remedy=f"Set {variable}", field=f"vertex_{name}", value=value)


def url_endpoint(
    url: str, credential: Credential | None = None, *, version: str = "", trusted_hosts: Collection[str] = ()
) -> Endpoint:
    """Return the endpoint of any server by its ws:// or wss:// URL.

    A URL without an RPC method gets the Developer API's path. Raises `CredentialError` for a credential that must not
    be sent there; see `may_send_credential`.
    """
    path = _GEMINI_PATH.format(version=_one_of(version, API_VERSIONS, "api_version"), method="BidiGenerateContent")
    joined = _join(url, path)
    headers = credential_headers(joined, credential, trusted_hosts) if credential is not None else ()
    return Endpoint("url", joined, headers)


def local_endpoint(url: str, token: str = "") -> Endpoint:
    """Return the endpoint of the embedded server, which gets no credential.

    `token` is that of a server which an engine started for itself.
    """
    endpoint = url_endpoint(url)
    return Endpoint("local", endpoint.url, (("Authorization", f"Bearer {token}"),) if token else ())


def credential_headers(
    url: str, credential: Credential, trusted_hosts: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the headers with a credential.

    Raises `CredentialError` when the credential must not be sent to `url`.
    """
    parts = _split(url)
    host = parts.hostname or ""
    if not _host_trusted(parts, trusted_hosts):
        raise CredentialError(
            f"The credential is not sent to {host}, which is neither Google's nor in trusted_hosts",
            remedy=f"Add {host!r} to trusted_hosts in the config if you trust it with your key",
            field="trusted_hosts",
            value=host,
        )
    if parts.scheme != "wss" and not is_loopback(host):
        raise CredentialError(
            f"The credential is not sent to {host} over plain ws://, which anyone on the network path can read",
            remedy="Use wss://",
            field="url",
            value=redacted_url(url),
        )
    if credential.kind == "api-key":
        return (("x-goog-api-key", credential.secret),)
    return (("Authorization", f"{'Token' if credential.kind == 'ephemeral' else 'Bearer'} {credential.secret}"),)


def may_send_credential(url: str, trusted_hosts: Collection[str] = ()) -> bool:
    """Return True when a credential may be sent to `url`."""
    parts = _split(url)
    return _host_trusted(parts, trusted_hosts) and (parts.scheme == "wss" or is_loopback(parts.hostname or ""))


def is_loopback(host: str) -> bool:
    """Return True for a name or an address of this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def redacted_url(url: str) -> str:
    """Return a URL without user, password and secrets, for display."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return redactor.text(url)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
    netloc = f"{REDACTED}@{host}{port}" if "@" in parts.netloc else f"{host}{port}"
    return redactor.text(urlunsplit((parts.scheme, netloc, parts.path, parts.query, parts.fragment)))


def _host_trusted(parts: SplitResult, trusted_hosts: Collection[str]) -> bool:
    host = (parts.hostname or "").lower()
    names = {host, f"{host}:{parts.port}"}
    trusted = (name.lower().replace("[", "").replace("]", "") for name in trusted_hosts)
    return _GOOGLE_HOSTS.fullmatch(host) is not None or any(name in names for name in trusted)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("ws", "wss") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    # urlsplit silently drops tabs and newlines, so white space is checked in the URL itself.
    if not valid or re.search(r"[\s\x00-\x1f\x7f]", url.strip()):
        raise ConfigError(
            f"{redacted_url(url)[:80]!r} is not a WebSocket URL",
            remedy="It must look like wss://host/path or ws://127.0.0.1:port",
            field="url",
            value=redacted_url(url),
        )
    if "@" in parts.netloc or re.search(r"(^|[?&])(key|access_token|api_?key)=", parts.query, re.IGNORECASE):
        raise CredentialError(
            "The URL contains a credential",
            remedy="Remove it from the URL; credentials are sent in a header, see GEMINI_API_KEY",
            field="url",
            value=redacted_url(url),
        )
    return parts


def _join(base_url: str, path: str) -> str:
    parts = _split(base_url)
    own = parts.path.rstrip("/")
    if not re.search(r"BidiGenerateContent(Constrained)?$", own):
        own += path
    return urlunsplit((parts.scheme, parts.netloc, own, parts.query, ""))


def _one_of(value: str, allowed: tuple[str, ...], name: str) -> str:
    if not value:
        return allowed[0]
    if value not in allowed:
        raise ConfigError(
            f"{name} is {value!r:.40}, which is unknown",
            remedy=f"Use one of {', '.join(sorted(allowed))}",
            field=name,
            value=value,
        )
    return value
