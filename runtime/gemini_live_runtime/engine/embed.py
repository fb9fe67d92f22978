"""Running an agent inside one's own program: no process, no console, the caller's event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gemini_live_runtime.clock import Clock, LoopClock
from gemini_live_runtime.engine.assemble import session_of
from gemini_live_runtime.engine.backends import backend_of
from gemini_live_runtime.engine.host import in_process
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.session.handle import LiveHandle
from gemini_live_runtime.session.limits import Limits
from gemini_live_runtime.session.plan import SessionPlan
from gemini_live_runtime.session.runner import LiveSession


@asynccontextmanager
async def connect(plan: SessionPlan, **options: Any) -> AsyncIterator[LiveHandle]:
    """Run a session of `plan` for the length of the `async with` block.

    `options` are those of `EngineSpec`, with other defaults: `backend="gemini"`, `audio="none"`, `mode="text"`,
    `record="off"`. The block begins once the connection is made or refused. Raises `GeminiLiveError` for what cannot
    be started; what goes wrong later is an event.
    """
    wanted = {"backend": "gemini", "audio": "none", "mode": "text", "record": "off", **options}
    wanted.setdefault("session_id", new_session_id(time.time()))
    known = set(EngineSpec.__dataclass_fields__) - {"agent"}
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise EngineError(
            f"connect has no option {unknown[0]!r}", remedy=f"Use one of {', '.join(sorted(known))}", field=unknown[0]
        )
    spec = EngineSpec(agent=plan.name, **wanted)
    made: asyncio.Future[LiveSession] = asyncio.get_running_loop().create_future()

    def factory(spec: EngineSpec, hub: Hub, clock: Clock) -> LiveSession:
        backend = backend_of(spec)
        backend.prepare()
        limits = Limits(spec.max_cost, spec.max_minutes)
        session = session_of(plan, spec, hub, clock, backend=backend, limits=limits)
        made.set_result(session)
        return session

    engine = in_process(spec, factory, clock=LoopClock())
    ended = asyncio.ensure_future(engine.wait())
    opened: asyncio.Future[None] | None = None
    try:
        first: tuple[asyncio.Future[Any], ...] = (made, ended)
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if not made.done():
            raise EngineError(f"The session could not be started: {engine.host.hub.view.ended}")
        session = made.result()
        opened = asyncio.ensure_future(session.opened())
        then: tuple[asyncio.Future[Any], ...] = (opened, ended)
        await asyncio.wait(then, return_when=asyncio.FIRST_COMPLETED)
        yield session.handle
    finally:
        if opened is not None:
            opened.cancel()
        await engine.hang_up("the program is done")
        await ended
