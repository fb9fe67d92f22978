"""Run an agent inside a program: in the caller's event loop, without a console."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from types import TracebackType
from typing import Any, get_args

from gemini_live_runtime import events as ev
from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.clock import Clock, LoopClock
from gemini_live_runtime.engine.assemble import session_of
from gemini_live_runtime.engine.backends import Provided, backend_of
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.spec import BACKENDS, AudioKind, EngineSpec, new_session_id
from gemini_live_runtime.errors import EngineError, GeminiLiveError
from gemini_live_runtime.harness.profile import Profile
from gemini_live_runtime.session.agent.tools.consent import OnConsent
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.io.agent_session import AgentSession
from gemini_live_runtime.session.io.handle import LiveHandle
from gemini_live_runtime.session.io.live_session import LiveSession
from gemini_live_runtime.session.ports.provider import AdapterFactory
from gemini_live_runtime.tools.consent import check_policies

_CHOICES: dict[str, tuple[str, ...]] = {
    "mode": get_args(ev.Mode),
    "record": get_args(ev.Record),
    "audio": get_args(AudioKind),
}

_KINDS: dict[str, type] = {"session_id": str, "profile": Profile}
"""Types of options whose defaults do not show them."""

_NOT_HERE = frozenset(("agent", "headless", "linger_s"))
"""Fields of a spec without a meaning here: the agent is an argument, and no console comes or goes."""

_OF_BACKENDS = (
    "api_key_file",
    "api_key_source",
    "api_version",
    "backend",
    "fast",
    "server_script",
    "trusted_hosts",
    "vertex_location",
    "vertex_project",
    "voice",
)
"""Options that only a backend takes."""


class Connecting:
    """Context manager of one session, returned by `connect`, for one `async with`."""

    def __init__(
        self,
        plan: SessionPlan,
        options: dict[str, Any],
        adapter: AdapterFactory | None = None,
        agent_session: AgentSession | None = None,
        on_consent: OnConsent | None = None,
    ) -> None:
        self._context = _running(plan, _spec(plan.name, options), adapter, agent_session, on_consent)
        self._used = False

    async def __aenter__(self) -> LiveHandle:
        if self._used:
            raise EngineError(
                "This session was already started", remedy="Call connect once for each `async with` block"
            )
        self._used = True
        return await self._context.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._context.__aexit__(kind, error, trace)


def connect(
    plan: SessionPlan,
    *,
    adapter: AdapterFactory | None = None,
    agent_session: AgentSession | None = None,
    on_consent: OnConsent | None = None,
    **options: Any,
) -> Connecting:
    """Run a session of `plan` during an `async with` block.

    `options` are those of `EngineSpec`, with other defaults: `backend="gemini"`, `audio="none"`, `mode="text"`,
    `record="off"`. With `audio="program"` and `mode="voice"` the program brings the microphone's audio
    (`LiveHandle.send_audio`) and plays the model's (`on_audio`). The block begins once the connection is made. Raises
    `GeminiLiveError` for unusable options, and on entering when the session cannot be started, or its connection cannot
    be made or is refused; later failures are events.

    `adapter` makes the connections in place of a backend: a provider of the program's own, or a `ScriptedAdapter` in
    its tests. `agent_session` is a facade that stands for the session. `on_consent` gets each call that needs consent,
    with its arguments, and returns True to let it run; it may be async and has 30 s. Without one they are refused.
    """
    _check_on_consent(on_consent)
    if adapter is not None:
        _check_adapter(adapter, options)
    return Connecting(plan, options, adapter, agent_session, on_consent)


def check_options(options: dict[str, Any]) -> None:
    """Raise `EngineError` for options that `connect` cannot use."""
    rest = dict(options)
    adapter = rest.pop("adapter", None)
    _check_on_consent(rest.pop("on_consent", None))
    if adapter is not None:
        _check_adapter(adapter, rest)
    _spec("", rest)


def _check_on_consent(on_consent: object) -> None:
    if on_consent is not None and not callable(on_consent):
        raise EngineError(
            f"on_consent is {on_consent!r:.60}, which answers nothing",
            remedy="Give a function of a ConsentRequest that returns True or False",
            field="on_consent",
        )


def _check_adapter(adapter: object, options: dict[str, Any]) -> None:
    if not callable(adapter):
        raise EngineError(
            f"adapter is {adapter!r:.60}, which makes no connections",
            remedy="Give a function of an observer, an instruction and a handle, or a ScriptedAdapter",
            field="adapter",
        )
    for name in _OF_BACKENDS:
        if name in options:
            raise EngineError(f"{name} is of no use with an adapter", remedy="Leave one of the two out", field=name)


def _spec(agent: str, options: dict[str, Any]) -> EngineSpec:
    wanted = {"backend": "gemini", "audio": "none", "mode": "text", "record": "off", **options}
    wanted.setdefault("session_id", new_session_id(time.time()))
    known = {field.name: field for field in fields(EngineSpec) if field.name not in _NOT_HERE}
    for name, value in list(wanted.items()):
        if name not in known:
            raise EngineError(
                f"connect has no option {name!r}", remedy=f"Use one of {', '.join(sorted(known))}", field=name
            )
        choices = _CHOICES.get(name)
        if choices is not None:
            wanted[name] = value = as_choice(value, choices)
        if choices is not None and value not in choices:
            raise EngineError(
                f"{name} cannot be {value!r:.60}", remedy=f"Use one of {', '.join(choices)}", field=name, value=value
            )
        if name == "backend":
            wanted[name] = value = as_choice(value, BACKENDS)  # or a URL
        default = known[name].default
        kind = type(default) if isinstance(default, str | bool) else _KINDS.get(name)
        if kind is not None and type(value) is not kind:
            raise EngineError(f"{name} is {value!r:.60}, not a {kind.__name__}", remedy="Leave it out", field=name)
    check_policies(wanted.get("consent", {}))
    return EngineSpec(agent=agent, headless=True, **wanted)


@asynccontextmanager
async def _running(
    plan: SessionPlan,
    spec: EngineSpec,
    adapter: AdapterFactory | None,
    agent_session: AgentSession | None,
    on_consent: OnConsent | None,
) -> AsyncIterator[LiveHandle]:
    created: asyncio.Future[LiveSession] = asyncio.get_running_loop().create_future()
    refused: list[GeminiLiveError] = []

    def factory(spec: EngineSpec, hub: Hub, clock: Clock) -> LiveSession:
        try:
            backend = backend_of(spec) if adapter is None else Provided(adapter)
            backend.prepare()
            limits = Limits(spec.max_cost, spec.max_minutes)
            session = session_of(
                plan,
                spec,
                hub,
                clock,
                backend=backend,
                limits=limits,
                agent_session=agent_session,
                on_consent=on_consent,
            )
        except GeminiLiveError as error:
            refused.append(error)
            raise
        session.orchestrator.subscribers.keep_early()
        created.set_result(session)
        return session

    engine = in_process(spec, factory, clock=LoopClock())
    ended = asyncio.ensure_future(engine.wait())
    opened: asyncio.Future[None] | None = None
    try:
        first: tuple[asyncio.Future[Any], ...] = (created, ended)
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if refused:
            raise refused[0]
        if not created.done():
            raise EngineError(f"The session could not be started: {engine.host.hub.view.ended}")
        session = created.result()
        opened = asyncio.ensure_future(session.opened())
        then: tuple[asyncio.Future[Any], ...] = (opened, ended)
        await asyncio.wait(then, return_when=asyncio.FIRST_COMPLETED)
        failure = engine.host.failure
        if failure is not None:
            if isinstance(failure, GeminiLiveError):
                raise failure
            raise EngineError(engine.host.hub.view.ended) from failure
        if session.first_failure is not None:
            raise session.first_failure
        session.orchestrator.subscribers.end_early()
        yield session.handle
    finally:
        if opened is not None:
            opened.cancel()
        try:
            await engine.hang_up("the program is done")
        except asyncio.CancelledError:
            # Cancelled again while it ends: cancel the session, too, which would otherwise outlive the block.
            engine.host.stop_at_once("the program was cancelled")
            raise
        await ended
