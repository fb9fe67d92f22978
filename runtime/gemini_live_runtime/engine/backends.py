"""Find a session's server and the credential for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.clock import VirtualTimeLoop
from gemini_live_runtime.engine.local_server import LocalServerProcess
from gemini_live_runtime.engine.spec import BACKENDS, EngineSpec
from gemini_live_runtime.errors import CredentialError, EngineError, UnreachableError, UsageError
from gemini_live_runtime.paths import expand_user
from gemini_live_runtime.wire.connection import TransportFactory
from gemini_live_runtime.wire.credentials import (
    NO_KEY_REMEDY,
    Credential,
    FoundCredential,
    credential_environment,
    find_api_key,
    find_vertex_token,
)
from gemini_live_runtime.wire.endpoints import (
    Endpoint,
    gemini_endpoint,
    local_endpoint,
    may_send_credential,
    redacted_url,
    url_endpoint,
    vertex_endpoint,
)
from gemini_live_runtime.wire.transport import Transport
from gemini_live_runtime.wire.websocket import open_websocket

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.text_model import TextModel, TextRequest
    from gemini_live_runtime.local.server import LocalServer
    from gemini_live_runtime.session.ports.provider import AdapterFactory

TEXT_MODEL = "gemini-flash-latest"
"""Text model of extractors by default: Google's alias for the newest fast one."""


class Remote:
    """Backend over the network: Google's, or a server named by its URL."""

    deaf = ""

    def __init__(self, name: str, find: Callable[[], tuple[Callable[[], Endpoint], tuple[str, ...]]]) -> None:
        self.name = name
        self.warnings: tuple[str, ...] = ()
        self._find = find
        self._endpoint: Callable[[], Endpoint] | None = None

    def prepare(self) -> None:
        """Find the credential; raises `CredentialError`."""
        self._endpoint, self.warnings = self._find()

    async def open(self) -> tuple[Endpoint, TransportFactory]:
        """Return the endpoint and the factory of its transport."""
        assert self._endpoint is not None
        # In a thread: a Vertex token is fetched over the network.
        return await asyncio.to_thread(self._endpoint), open_websocket

    def text_model(self) -> TextModel | None:
        """Return Google's text model with the same credential; None for another server."""
        return _RemoteTextModel(self) if self.name in ("gemini", "vertex") else None

    async def close(self) -> None:
        """No-op: the server is not ours."""


class _RemoteTextModel:
    """Text model at the backend's host.

    Created with the first request, since a Vertex token is fetched over the network.
    """

    def __init__(self, backend: Remote) -> None:
        self._backend = backend
        self._model: TextModel | None = None

    async def generate(self, request: TextRequest, /) -> str:
        """Return the reply; raises `GeminiLiveError`."""
        if self._model is None:
            from gemini_live_runtime.conversation.gemini_text import GeminiTextModel

            endpoint, _ = await self._backend.open()
            self._model = GeminiTextModel(TEXT_MODEL, endpoint)
        return await self._model.generate(request)


class Local:
    """Embedded server, as a child process or in this one on the session's own clock."""

    def __init__(self, script: str, in_process: bool) -> None:
        self.name = "local"
        self.warnings: tuple[str, ...] = ()
        self.deaf = ""
        self._script = script
        self._in_process = in_process
        self._process: LocalServerProcess | None = None
        self._server: LocalServer | None = None
        self._has_run = False
        """True once a process was ready: one that fails then may do so for the moment only."""

    def prepare(self) -> None:
        """Check the script; the embedded server takes no credential. Raises `ConfigError`."""
        if self._script:
            from gemini_live_runtime.local.scripts.script import load_script

            load_script(Path(self._script))

    async def open(self) -> tuple[Endpoint, TransportFactory]:
        """Start the server; return its endpoint and the factory of its transport.

        A server that has ended is started again. Raises `EngineError` when it does not start, `UnreachableError` when
        it did before: another attempt may help. Raises `UsageError` for a process in virtual time.
        """
        if not self._in_process:
            if isinstance(asyncio.get_running_loop(), VirtualTimeLoop):
                raise UsageError(
                    "The embedded server's process cannot be awaited in virtual time",
                    remedy="Give connect fast=True, or use asyncio.run in place of run_virtual",
                    field="fast",
                    value=False,
                )
            if self._process is None or not self._process.is_running:
                self._process = await self._start_again() if self._has_run else await self._start()
            self.deaf = self._process.deaf
            return local_endpoint(self._process.url, self._process.token), open_websocket
        # Imported here: the server's parts are heavy and usually loaded in their own process.
        from gemini_live_runtime.local.server import LocalServer, ServerOptions

        server = self._server = self._server or LocalServer(
            ServerOptions(script=Path(self._script) if self._script else None)
        )

        async def transport(_: Endpoint) -> Transport:
            return server.connect()

        return local_endpoint("ws://localhost"), transport

    async def _start(self) -> LocalServerProcess:
        process = await LocalServerProcess.start(self._script)
        self._has_run = True
        return process

    async def _start_again(self) -> LocalServerProcess:
        ended, self._process = self._process, None
        if ended is not None:
            await ended.stop()
        try:
            return await self._start()
        except EngineError as error:
            raise UnreachableError(error.message, remedy=error.remedy) from error

    async def close(self) -> None:
        """Stop the server."""
        if self._process is not None:
            await self._process.stop()
        if self._server is not None:
            await self._server.stop()


class Provided:
    """Connections that the program which runs the session makes itself."""

    name = "program"
    deaf = ""
    warnings: tuple[str, ...] = ()

    def __init__(self, adapter: AdapterFactory) -> None:
        self.adapter = adapter

    def prepare(self) -> None:
        """No-op: credentials are the program's."""

    def text_model(self) -> None:
        """Return None: extractors name their own text model."""

    async def close(self) -> None:
        """No-op: the provider is not ours."""


Backend = Remote | Local | Provided


def backend_of(spec: EngineSpec) -> Backend:
    """Return the backend that `spec` names; raises `UsageError` for other's options."""
    if spec.backend == "local":
        if spec.api_version:
            raise UsageError("The embedded server has no API versions", remedy="Leave out --api-version")
        return Local(spec.server_script, spec.fast)
    if spec.fast:
        raise UsageError("--fast needs the embedded server", remedy="Use --backend local, or leave --fast out")
    if spec.server_script:
        raise UsageError("A server script is for the embedded server", remedy="Use --backend local")
    if spec.backend == "gemini":
        return Remote("gemini", lambda: _gemini(spec))
    if spec.backend == "vertex":
        return Remote("vertex", lambda: _vertex(spec))
    if "://" not in spec.backend:
        raise UsageError(
            f"There is no backend {redacted_url(spec.backend)!r:.60}",
            remedy=f"Use {', '.join(BACKENDS)}, or a URL such as wss://host/path",
            field="backend",
            value=redacted_url(spec.backend),
        )
    return Remote(redacted_url(spec.backend), lambda: _url(spec))


_Found = tuple[Callable[[], Endpoint], tuple[str, ...]]


def _gemini(spec: EngineSpec) -> _Found:
    found = _find_key(spec)
    if found.credential is None:
        raise CredentialError("No Gemini API key was found", remedy=NO_KEY_REMEDY, field="GEMINI_API_KEY")
    endpoint = gemini_endpoint(found.credential, version=spec.api_version, trusted_hosts=spec.trusted_hosts)
    return lambda: endpoint, found.warnings


def _vertex(spec: EngineSpec) -> _Found:
    # A copy: the token is looked up when connecting, and credentials are removed from the environment before that.
    environment = credential_environment()

    def endpoint() -> Endpoint:
        found = find_vertex_token(environment)
        if found.credential is None:
            raise CredentialError("No Google Cloud login was found", remedy="Run gcloud auth application-default login")
        return vertex_endpoint(
            found.credential,
            project=spec.vertex_project or found.project,
            location=spec.vertex_location or environment.get("GOOGLE_CLOUD_LOCATION", ""),
            version=spec.api_version,
            trusted_hosts=spec.trusted_hosts,
        )

    return endpoint, ()


def _url(spec: EngineSpec) -> _Found:
    credential: Credential | None = None
    warnings: tuple[str, ...] = ()
    # A user's own server usually needs no key; one named in trusted_hosts gets it.
    if may_send_credential(spec.backend, spec.trusted_hosts):
        found = _find_key(spec)
        credential, warnings = found.credential, found.warnings
    endpoint = url_endpoint(spec.backend, credential, version=spec.api_version, trusted_hosts=spec.trusted_hosts)
    return lambda: endpoint, warnings


def _find_key(spec: EngineSpec) -> FoundCredential:
    return find_api_key(
        credential_environment(),
        source=spec.api_key_source,
        key_file=expand_user(spec.api_key_file, field="credentials.file") if spec.api_key_file else None,
        keyring_entry=spec.api_key_entry,
    )
