"""Build a session from its spec: agent, sound, backend, limits."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.catalogue import bundled_name
from gemini_live_runtime.agents.loader import load_agent
from gemini_live_runtime.agents.source import AgentSource
from gemini_live_runtime.audio.factory import AudioSpec, make_audio
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.conversation.text_model import TextModel
from gemini_live_runtime.engine.backends import Backend, Local, Provided, backend_of
from gemini_live_runtime.engine.host import PROGRAM
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.local_dialogue import LocalDialogue, labels_of
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.autosave import OwnStore
from gemini_live_runtime.session.agent.tools.consent import ConsentOptions, OnConsent
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.pricing import price_of, price_table, prices_as_of
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.definition.setup import setup_of
from gemini_live_runtime.session.io.agent_session import AgentSession
from gemini_live_runtime.session.io.live_session import LiveSession, Opening
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.persistence.stores import FsPersistence
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.tools.consent import check_policies
from gemini_live_runtime.wire.connection import Connection
from gemini_live_runtime.wire.credentials import scrub_environment
from gemini_live_runtime.wire.endpoints import redacted_url
from gemini_live_runtime.wire.observer import WireObserver

OWN_SETUP = "the program's own adapter makes the setup"


def make_session(spec: EngineSpec, hub: Hub, clock: Clock) -> LiveSession:
    """Return the session of `spec`, not running yet.

    Reads the credentials and removes them from the environment before any code of the agent is imported. Raises
    `GeminiLiveError` for an agent, a file, a limit or a credential that cannot be used.
    """
    limits = Limits(spec.max_cost, spec.max_minutes)
    backend = backend_of(spec)
    try:
        backend.prepare()
    finally:
        scrub_environment()
    if bundled := bundled_name(spec.agent):
        if spec.reload:
            raise UsageError("A bundled agent has no file to reload", remedy="Leave out --reload", field="reload")
        plan = load_agent(spec.agent).with_turns(spec.turns)
        source = None
    else:
        source = AgentSource(spec.agent, auto_reload=spec.reload, turns=spec.turns, tools=spec.profile.tools)
        plan = source.load()
    return session_of(plan, spec, hub, clock, backend=backend, limits=limits, source=source, bundled=bundled)


def session_of(
    plan: SessionPlan,
    spec: EngineSpec,
    hub: Hub,
    clock: Clock,
    *,
    backend: Backend,
    limits: Limits,
    source: AgentSource | None = None,
    bundled: str = "",
    agent_session: AgentSession | None = None,
    on_consent: OnConsent | None = None,
) -> LiveSession:
    """Return a session of `plan`, not running yet.

    `backend` is prepared: its credentials have been read. `source` is the agent's file, for hot reload; `bundled`
    the name of a bundled agent, which has none. `on_consent` answers in place of an operator.
    """
    consent = ConsentOptions(
        check_policies(spec.consent), spec.profile.consent, on_consent, is_attended=not spec.headless
    )
    plan = plan.with_profile(spec.profile.tools)
    definition = plan.definition
    local = LocalDialogue(spec.server_script, bundled) if spec.backend == "local" else None
    model = spec.model or (definition.model if local is None else local.model_of(plan))
    price = price_of(model, price_table(spec.prices))
    if spec.max_cost is not None and price is None:
        raise UsageError(
            f"The price of {model} is not known, so --max-cost cannot be kept",
            remedy="Use --max-minutes",
            field="max_cost",
            value=spec.max_cost,
        )
    capabilities = capabilities_of(model, vertex=spec.backend == "vertex")
    audio = make_audio(
        AudioSpec(
            kind=spec.audio,
            input=spec.input or None,
            output=spec.output or None,
            echo=spec.echo_cancelling,
            headphones=spec.headphones,
            noise_suppression=spec.noise_suppression,
        )
    )
    core = SessionCore(
        CoreState(
            mode=spec.mode,
            voice=spec.voice,
            capabilities=capabilities,
            limits=limits,
            price=price,
            prices_as_of=prices_as_of(spec.prices),
            started_at=clock.now(),
            rules=definition.turn_rules,
            turns=replace(plan.turn_options, fixed=OWN_SETUP) if isinstance(backend, Provided) else plan.turn_options,
            link_policy=LinkPolicy(reconnect_for_s=spec.reconnect_for_s, headless=spec.headless),
        )
    )
    started = ev.SessionStarted(
        session_id=spec.session_id,
        agent=plan.name,
        model=model,
        backend=backend.name,
        wall=hub.wall,
        record=spec.record,
        mode=spec.mode,
        program=PROGRAM,
        phrases=definition.phrases or (() if local is None else local.phrases_of(plan, model)),
        tools=tuple(declared.name for declared in plan.declared),
    )

    def model_of(plan_now: SessionPlan) -> str:
        # On the embedded server each agent has a dialogue of its own.
        return model if local is None or spec.model or plan_now is plan else local.model_of(plan_now)

    def speaks_with(one: Definition, other: Definition) -> bool:
        return local is None or bool(spec.model) or (one.local_model or one.name) == (other.local_model or other.name)

    async def opening() -> Opening:
        if isinstance(backend, Provided):
            return Opening(url=backend.name, adapter=backend.adapter)
        endpoint, factory = await backend.open()

        def adapter(recorder: WireObserver, instruction: str, handle: str) -> Connection:
            plan_now = session.orchestrator.agent.plan
            setup = setup_of(
                plan_now,
                model_of(plan_now),
                voice=core.state.voice,
                capabilities=capabilities,
                instruction=instruction,
                handle=handle,
                turns=core.state.turn_options.detection,
            )
            if local is not None:
                setup = replace(setup, labels=labels_of(plan_now))
            return Connection(endpoint, setup, observer=recorder, transport_factory=factory)

        # With devices the user can type instead, so warn of a server without speech recognition. A microphone file has
        # no such user.
        deaf = backend.deaf if spec.audio == "devices" else ""
        return Opening(url=redacted_url(endpoint.url), adapter=adapter, deaf=deaf)

    notices: list[ev.Payload] = [ev.Notice(level="warning", code="credential", text=text) for text in backend.warnings]
    notices += [ev.Notice(level="warning", code="agent", text=text) for text in plan.warnings()]
    notices += [
        ev.Log(source="engine", level="debug", text=f"Ignored: {text}")
        for text in plan.ignored_settings(model, vertex=spec.backend == "vertex")
    ]
    session = LiveSession(
        started=started,
        plan=plan,
        core=core,
        capabilities=capabilities,
        sink=hub,
        audio=audio,
        opening=opening,
        closing=backend.close,
        clock=clock,
        notices=tuple(notices),
        text_model=_text_model(backend, local, plan, model),
        source=source,
        own_store=_own_store(spec, hub),
        speaks_with=speaks_with,
        agent_session=agent_session,
        harness=HarnessWorker(spec.harness_root, clock=clock),
        dormant_after_s=spec.dormant_after_s,
        consent=consent,
    )
    return session


def _own_store(spec: EngineSpec, hub: Hub) -> OwnStore | None:
    """Return the store of a recorded session's snapshots."""
    if not hub.folder:
        return None
    store = FsPersistence(hub.folder)
    # The embedded server is this engine's child.
    return OwnStore(store, spec.session_id, hub.kept, keeps_handle=spec.backend != "local")


def _text_model(backend: Backend, local: LocalDialogue | None, plan: SessionPlan, model: str) -> TextModel | None:
    """Return the backend's text model, for extractors that name none."""
    if not isinstance(backend, Local):
        return backend.text_model()
    assert local is not None
    return local.text_model(plan, model)
