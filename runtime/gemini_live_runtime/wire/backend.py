"""From the name of a backend to an endpoint with its credential: the one place that puts the parts together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from gemini_live_runtime.errors import ConfigError, CredentialError
from gemini_live_runtime.wire.credentials import (
    NO_KEY_REMEDY,
    FoundCredential,
    find_api_key,
    find_vertex_token,
)
from gemini_live_runtime.wire.endpoints import (
    Endpoint,
    gemini_endpoint,
    local_endpoint,
    may_send_credential,
    url_endpoint,
    vertex_endpoint,
)


@dataclass(frozen=True, slots=True)
class ResolvedEndpoint:
    """Where to connect, and sentences the person should see."""

    endpoint: Endpoint
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSettings:
    """What config says about backends; "" is the default or wherever it is found."""

    trusted_hosts: Collection[str] = ()
    api_version: str = ""
    api_key_source: str = ""
    api_key_file: Path | None = None
    vertex_project: str = ""
    vertex_location: str = ""


async def resolve_endpoint(
    backend: str, environment: Mapping[str, str], settings: BackendSettings | None = None, *, local_url: str = ""
) -> ResolvedEndpoint:
    """The endpoint of `backend`: `gemini`, `vertex`, `local` (at `local_url`) or a ws:// or wss:// URL.

    Raises `ConfigError`, `CredentialError` or `MissingExtraError`. Call it again before each reconnection to Vertex,
    whose tokens live an hour; `environment` must then still be a copy made before `scrub_environment`.
    """
    settings = settings or BackendSettings()
    if backend == "local":
        return ResolvedEndpoint(local_endpoint(local_url))
    if backend == "gemini":
        found = _find_key(environment, settings)
        if found.credential is None:
            raise CredentialError("There is no API key", remedy=NO_KEY_REMEDY, field="GEMINI_API_KEY")
        endpoint = gemini_endpoint(found.credential, version=settings.api_version, trusted_hosts=settings.trusted_hosts)
        return ResolvedEndpoint(endpoint, found.warnings)
    if backend == "vertex":
        found = await asyncio.to_thread(find_vertex_token, environment)
        assert found.credential is not None
        endpoint = vertex_endpoint(
            found.credential,
            project=settings.vertex_project or found.project,
            location=settings.vertex_location or environment.get("GOOGLE_CLOUD_LOCATION", "").strip(),
            version=settings.api_version,
            trusted_hosts=settings.trusted_hosts,
        )
        return ResolvedEndpoint(endpoint, found.warnings)
    if backend.startswith(("ws://", "wss://")):
        # A host that is not trusted is simply not given the key: most servers of one's own need none.
        trusted = may_send_credential(backend, settings.trusted_hosts)
        found = _find_key(environment, settings) if trusted else FoundCredential(None)
        endpoint = url_endpoint(
            backend, found.credential, version=settings.api_version, trusted_hosts=settings.trusted_hosts
        )
        return ResolvedEndpoint(endpoint, found.warnings)
    raise ConfigError(
        f"The backend is {backend!r:.60}",
        remedy="Use gemini, vertex, local or a ws:// or wss:// URL",
        field="backend",
        value=backend,
    )


def _find_key(environment: Mapping[str, str], settings: BackendSettings) -> FoundCredential:
    return find_api_key(environment, source=settings.api_key_source, key_file=settings.api_key_file)
