"""Where a connection goes and with which credential: Google's APIs, a server of one's own, the embedded one.

A credential is sent in a header, never in the URL; only to Google's hosts or to hosts named in config; and never over
plain `ws://` unless to this machine. The functions here refuse anything else with `CredentialError`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from gemini_live_runtime.errors import ConfigError, CredentialError
from gemini_live_runtime.text import REDACTED, redactor
from gemini_live_runtime.wire.credentials import Credential

Backend = Literal["gemini", "vertex", "local", "url"]

GEMINI_HOST = "generativelanguage.googleapis.com"
API_VERSIONS = ("v1beta", "v1", "v1alpha")
"""Versions of the Developer API, the default first."""

VERTEX_VERSIONS = ("v1beta1", "v1")
"""Versions of the Vertex API, the default first."""

DEFAULT_VERTEX_LOCATION = "us-central1"

_GEMINI_PATH = "/ws/google.ai.generativelanguage.{version}.GenerativeService.{method}"
_VERTEX_PATH = "/ws/google.cloud.aiplatform.{version}.LlmBidiService/BidiGenerateContent"
_GOOGLE_HOSTS = re.compile(
    r"generativelanguage\.googleapis\.com|([a-z0-9-]+-)?aiplatform\.googleapis\.com"
    r"|aiplatform\.[a-z0-9-]+\.rep\.googleapis\.com"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A URL, the headers that go with it, and how models are named there. Headers never show in `repr`."""

    backend: Backend
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    model_prefix: str = "models/"

    @property
    def host(self) -> str:
        """Host, and port when the URL names one."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def model_path(self, model: str) -> str:
        """`model` as `setup.model` wants it; full resource names stay as they are."""
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
    """The Developer API, with an API key or an ephemeral token. `version` "" is the default."""
    version = _one_of(version, API_VERSIONS, "api_version")
    if credential.kind == "bearer":
        raise CredentialError(
            "The Developer API takes an API key or an ephemeral token, not a bearer token",
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
    """Vertex AI, with a bearer token. `location` "" is the default region; `global` is one too."""
    version = _one_of(version, VERTEX_VERSIONS, "api_version")
    location = location or DEFAULT_VERTEX_LOCATION
    check_vertex_names(project, location)
    if credential.kind != "bearer":
        raise CredentialError(
            "Vertex takes a bearer token, not an API key",
            remedy="Log in with `gcloud auth application-default login`, or use the backend gemini",
            field="credential",
        )
    host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
    url = _join(base_url or f"wss://{host}", _VERTEX_PATH.format(version=version))
    headers = (*credential_headers(url, credential, trusted_hosts), ("x-goog-user-project", project))
    return Endpoint("vertex", url, headers, f"projects/{project}/locations/{location}/publishers/google/models/")


def check_vertex_names(project: str, location: str) -> None:
    """Raise `ConfigError` for what cannot be the name of a project or a location."""
    for name, value, variable in (
        ("project", project, "GOOGLE_CLOUD_PROJECT"),
        ("location", location, "GOOGLE_CLOUD_LOCATION"),
    ):
        if not _NAME.fullmatch(value):
            what = f"the {name} {value!r:.60}, which cannot be one" if value else f"no {name}"
            raise ConfigError(f"Vertex has {what}", remedy=f"Set {variable}", field=f"vertex_{name}", value=value)


def url_endpoint(
    url: str, credential: Credential | None = None, *, version: str = "", trusted_hosts: Collection[str] = ()
) -> Endpoint:
    """Any Live server by its ws:// or wss:// URL. A URL that names no method gets the Developer API's path.

    Give a credential only for a host in `trusted_hosts` (or Google's own), see `may_send_credential`.
    """
    path = _GEMINI_PATH.format(version=_one_of(version, API_VERSIONS, "api_version"), method="BidiGenerateContent")
    joined = _join(url, path)
    headers = credential_headers(joined, credential, trusted_hosts) if credential is not None else ()
    return Endpoint("url", joined, headers)


def local_endpoint(url: str) -> Endpoint:
    """The embedded server, by the URL it printed. It never gets a credential."""
    endpoint = url_endpoint(url)
    return Endpoint("local", endpoint.url)


def credential_headers(
    url: str, credential: Credential, trusted_hosts: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    """The headers that carry `credential` to `url`; raises `CredentialError` where it may not go."""
    parts = _split(url)
    host = parts.hostname or ""
    if not _host_trusted(parts, trusted_hosts):
        raise CredentialError(
            f"The credential is not sent to {host}, which is neither Google's nor named in config",
            remedy=f"Add {host!r} to trusted_hosts in the config if you trust it with your key",
            field="trusted_hosts",
            value=host,
        )
    if parts.scheme != "wss" and not is_loopback(host):
        raise CredentialError(
            f"The credential is not sent to {host} over plain ws://, where anybody on the way can read it",
            remedy="Use wss://",
            field="url",
            value=redacted_url(url),
        )
    if credential.kind == "api-key":
        return (("x-goog-api-key", credential.secret),)
    return (("Authorization", f"{'Token' if credential.kind == 'ephemeral' else 'Bearer'} {credential.secret}"),)


def may_send_credential(url: str, trusted_hosts: Collection[str] = ()) -> bool:
    """Whether the rules of this module let a credential go to `url`."""
    parts = _split(url)
    return _host_trusted(parts, trusted_hosts) and (parts.scheme == "wss" or is_loopback(parts.hostname or ""))


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine by name or address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def redacted_url(url: str) -> str:
    """`url` fit to be shown: no user, no password, no secret in the query."""
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
    return _GOOGLE_HOSTS.fullmatch(host) is not None or any(name.lower() in names for name in trusted_hosts)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("ws", "wss") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid or re.search(r"[\s\x00-\x1f\x7f]", url.strip()):
        raise ConfigError(
            f"{redacted_url(url)[:80]!r} is not a WebSocket URL",
            remedy="It must look like wss://host/path or ws://127.0.0.1:port",
            field="url",
            value=redacted_url(url),
        )
    if "@" in parts.netloc or re.search(r"(^|[?&])(key|access_token|api_?key)=", parts.query, re.IGNORECASE):
        raise CredentialError(
            "The URL holds a credential",
            remedy="Take it out of the URL; credentials are sent in a header, see GEMINI_API_KEY",
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
            f"{name} is {value!r:.40}", remedy=f"Use one of {', '.join(sorted(allowed))}", field=name, value=value
        )
    return value
