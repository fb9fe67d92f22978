"""Build a session from its spec: agent, sound, backend, limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from gemini_live_runtime.local.default_parts import DefaultParts
    from gemini_live_runtime.local.scripts.script_types import Script


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
    if bundled_name(spec.agent):
        if spec.reload:
            raise UsageError("A bundled agent has no file to reload", remedy="Leave out --reload", field="reload")
        plan = load_agent(spec.agent).with_turns(spec.turns)
        source = None
    else:
        source = AgentSource(spec.agent, auto_reload=spec.reload, turns=spec.turns, tools=spec.profile.tools)
        plan = source.load()
    return session_of(plan, spec, hub, clock, backend=backend, limits=limits, source=source)


def session_of(
    plan: SessionPlan,
    spec: EngineSpec,
    hub: Hub,
    clock: Clock,
    *,
    backend: Backend,
    limits: Limits,
    source: AgentSource | None = None,
    agent_session: AgentSession | None = None,
    on_consent: OnConsent | None = None,
) -> LiveSession:
    """Return a session of `plan`, not running yet.

    `backend` is prepared: its credentials have been read. `source` is the agent's file, for hot reload. `on_consent`
    answers in place of an operator.
    """
    consent = ConsentOptions(
        check_policies(spec.consent), spec.profile.consent, on_consent, is_attended=not spec.headless
    )
    plan = plan.with_profile(spec.profile.tools)
    definition = plan.definition
    parts = _local_parts(spec)
    model = spec.model or (definition.model if parts is None else _local_model(plan, parts))
    script = None if parts is None else _script(model, parts)
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
        phrases=definition.phrases or (_local_phrases(plan, script, parts) if parts and script else ()),
        tools=tuple(declared.name for declared in plan.declared),
    )

    def model_of(plan_now: SessionPlan) -> str:
        # On the embedded server each agent has a dialogue of its own.
        return model if parts is None or spec.model or plan_now is plan else _local_model(plan_now, parts)

    def speaks_with(one: Definition, other: Definition) -> bool:
        return parts is None or bool(spec.model) or (one.local_model or one.name) == (other.local_model or other.name)

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
            if parts is not None:
                setup = replace(setup, labels=_labels(plan_now))
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
        text_model=_text_model(plan, script, backend),
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


def _local_parts(spec: EngineSpec) -> DefaultParts | None:
    """Return the embedded server's parts; None for another backend."""
    if spec.backend != "local":
        return None
    from gemini_live_runtime.local.default_parts import DefaultParts

    return DefaultParts(Path(spec.server_script) if spec.server_script else None)


def _local_model(plan: SessionPlan, parts: DefaultParts) -> str:
    if parts.own is not None:
        return f"local-{parts.own.name}"
    if plan.definition.local_model:
        return plan.definition.local_model
    from gemini_live_runtime.local.default_parts import DEFAULT_SCRIPT
    from gemini_live_runtime.local.scripts.script import bundled_names

    if plan.name not in bundled_names():
        return f"local-{DEFAULT_SCRIPT}"
    # An agent that merely has the name of a bundled one must not speak as that one.
    script = parts.script(f"local-{plan.name}")
    called = {call.tool for intent in script.intents for call in intent.calls}
    return f"local-{plan.name if called <= {tool.name for tool in plan.declared} else DEFAULT_SCRIPT}"


def _labels(plan: SessionPlan) -> dict[str, str]:
    """Return the names that the embedded server's neutral dialogue says."""
    return {"agent": plan.name, "phases": ",".join(phase.name for phase in plan.definition.phases)}


def _script(model: str, parts: DefaultParts) -> Script:
    """Return the dialogue that the embedded server has for `model`."""
    try:
        return parts.script(model)
    except KeyError:
        # The server will refuse this model when connecting: any dialogue does until then.
        return parts.script("")


def _text_model(plan: SessionPlan, script: Script | None, backend: Backend) -> TextModel | None:
    """Return the backend's text model, for extractors that name none."""
    if not plan.definition.extractors:
        return None
    if not isinstance(backend, Local):
        return backend.text_model()
    assert script is not None
    from gemini_live_runtime.local.dialogue.slot_extractor import SlotExtractor

    return SlotExtractor(script)


def _local_phrases(plan: SessionPlan, script: Script, parts: DefaultParts) -> tuple[str, ...]:
    """Return phrases for an agent without any that the embedded server understands.

    They are the examples of its dialogue, or, when that is not its own, the names of its tools as words, if it has any.
    """
    own_names = (plan.name, plan.definition.local_model.removeprefix("local-"))
    if script is parts.own or script.name in own_names:
        return script.examples
    from gemini_live_runtime.local.language.words import name_words

    return tuple(" ".join(name_words(tool.name)) for tool in plan.declared) or script.examples
