"""List the mutations: each takes one part out of a named function of the session."""

from __future__ import annotations

from tests.mutants.edits import (
    Edit,
    argument,
    assign,
    decide,
    drop,
    each,
    gives,
    instead_of,
    leave_out,
    never,
    no_rounds,
)
from tests.mutants.mutation import Mutation

CALLBACKS = "callbacks_in_a_session"
CLIENT_TURN_TAKING = "client_turn_taking_in_a_session"
EXTRACTION = "extraction_in_a_session"
FAULTS = "faults_in_a_session"
HANDLE = "handle_in_a_session"
INSPECTION = "inspection_in_a_session"
OPERATOR = "operator_in_a_session"
PATTERNS = "patterns_in_a_session"
PERSISTENCE = "persistence_in_a_session"
PHASES = "phases_in_a_session"
PREVIEWS = "previews_in_a_session"
PROMPTS = "prompts_in_a_session"
REACTOR = "reactor_in_a_session"
RECONNECTING = "reconnecting_in_a_session"
RELOADING = "reloading_in_a_session"
REPAIR = "repair_in_a_session"
SOFT_TURNS = "soft_turns_in_a_session"
STEERING = "steering_on_the_wire"
SYNC_ONLY_MODEL = "sync_only_model_in_a_session"
TELEMETRY = "telemetry_in_a_session"
TOOLS = "tools_in_a_session"
TRANSCRIPT = "transcript_in_a_session"
WATCHERS = "watchers_in_a_session"

Row = tuple[str, Edit, str]
"""A part, the edit that takes it out, and the test files that have to notice."""


def rows(module: str, functions: dict[str, list[Row]]) -> tuple[Mutation, ...]:
    """Return the mutations of one module, named below the session package."""
    return tuple(
        Mutation(part, module, function, edit, tests)
        for function, parts in functions.items()
        for part, edit, tests in parts
    )


DERIVED_STATE_PARTS = rows(
    "agent.derived_state",
    {
        "SettleEngine.settle": [
            ("what is affected is computed again", drop("_faults", "changed"), WATCHERS),
            ("near misses are told", drop("_emit", "missed_event"), WATCHERS),
            ("watchers that fired are carried out", drop("_fired"), WATCHERS),
            ("patterns see state", drop("observe"), PATTERNS),
        ],
        "SettleEngine.observe": [
            ("patterns that fired are carried out", drop("_pattern"), PATTERNS),
            ("patterns that were shown something are read", drop("_shown"), INSPECTION),
        ],
        "SettleEngine._pattern": [
            ("patterns that fired are told", drop("_emit"), PATTERNS),
        ],
        "SettleEngine.fire": [
            ("watchers that the operator fired are told", drop("_emit", "fired_event"), OPERATOR),
            ("watchers that the operator fires act", drop("_act"), OPERATOR),
        ],
    },
)

EVENT_OBSERVER_PARTS = rows(
    "agent.event_observer",
    {
        "EventObserver._note": [
            ("typed text is in the transcript", drop("transcript.add_input"), TRANSCRIPT),
            ("typed text begins a latency", drop("telemetry.text_sent"), TELEMETRY),
            ("a turn begins in the transcript", drop("transcript.begin_turn"), TRANSCRIPT),
            ("a turn begins in the figures", drop("telemetry.turn_started"), TELEMETRY),
            ("an interruption is in the transcript", drop("transcript.interrupted"), TRANSCRIPT),
            ("an interruption is in the figures", drop("telemetry.interrupted"), TELEMETRY),
            ("playback is in the figures", drop("telemetry.playback_started"), TELEMETRY),
            ("rules hear that playback begins", drop("react", "PlaybackStarted"), REACTOR),
            ("rules hear that playback has drained", drop("react", "PlaybackDrained"), REACTOR),
            ("on_input_transcript, typed", drop("_fast"), CALLBACKS),
        ],
        "EventObserver.hear": [
            ("rules hear of events", drop("react"), REACTOR),
            ("patterns see events", drop("lane.put"), PATTERNS),
        ],
        "EventObserver._words": [
            ("the user's words are in the transcript", drop("transcript.add_input"), TRANSCRIPT),
            ("the model's words are in the transcript", drop("transcript.add_output"), TRANSCRIPT),
            ("words of an answer that was cut are kept apart", argument("add_output", "cut", None), TRANSCRIPT),
            ("the model's first words end a latency", drop("telemetry.first_model_frame"), TELEMETRY),
            ("words end the wait for a soft turn", drop("_soft.model_responded"), SOFT_TURNS),
            ("on_input_transcript, pieces", drop("_fast", "on_input_transcript"), CALLBACKS),
            ("on_output_transcript, pieces", drop("_fast", "on_output_transcript"), CALLBACKS),
            ("on_thought", drop("_fast", "on_thought"), CALLBACKS),
            ("on_text", drop("_fast", "on_text"), CALLBACKS),
        ],
        "EventObserver._turn_completed": [
            ("a turn ends in the transcript", drop("transcript.end_turn"), TRANSCRIPT),
            ("a turn ends in the figures", drop("telemetry.turn_completed"), TELEMETRY),
            ("rules hear of a soft turn", drop("react"), SOFT_TURNS),
            ("a soft turn is told", drop("body.emit"), SOFT_TURNS),
            ("on_text_complete", drop("_fast"), CALLBACKS),
        ],
        "EventObserver._voice": [
            ("voice ends the wait for a soft turn", drop("_soft.voice_started"), SOFT_TURNS),
            ("the end of voice begins the wait for a soft turn", drop("_soft.voice_ended"), SOFT_TURNS),
            ("on_vad_start and on_vad_end", drop("_fast"), CALLBACKS),
            ("voice begins a turn in the figures", drop("telemetry.voice_started"), TELEMETRY),
            ("the end of voice begins a latency", drop("telemetry.voice_ended", "server_vad"), TELEMETRY),
        ],
        "EventObserver._tick": [
            ("a soft turn is taken", drop("body.soft_turn"), SOFT_TURNS),
            ("drops are told with the figures", drop("_deliveries"), HANDLE),
            ("drops of notes are told after a moment", drop("_tell_notes"), TELEMETRY),
            ("figures are reported", drop("body.emit"), TELEMETRY),
            ("rules hear time", drop("react"), REACTOR),
            ("patterns hear time", drop("lane.put"), PATTERNS),
            ("patterns are told", drop("_tell_patterns"), INSPECTION),
        ],
        "EventObserver._phase_of_wire": [
            ("on_phase", drop("_fast"), CALLBACKS),
        ],
        "EventObserver._usage": [
            ("on_usage", drop("_fast"), CALLBACKS),
            ("tokens are in the figures", drop("telemetry.usage"), TELEMETRY),
        ],
        "EventObserver.delivery": [
            ("drops are told", drop("body.emit"), HANDLE),
        ],
        "EventObserver.turn_measured": [
            ("drops are told with a turn", drop("_deliveries"), HANDLE),
        ],
        "EventObserver.user_speech": [
            ("rules hear who has the floor", drop("react"), REACTOR),
        ],
        "EventObserver._tell_patterns": [
            ("equal progress is not repeated", decide("progress", True), INSPECTION),
            ("patterns that time moves are read again", leave_out("_patterns_due", number=2), INSPECTION),
        ],
    },
)

FAULTS_PARTS = rows(
    "agent.faults",
    {
        "FaultReporter.rule": [
            ("faults of rules are told", drop("_faults.tell"), REACTOR),
        ],
        "FaultReporter.effect": [
            ("faults of effects are told", drop("_faults.tell"), REACTOR),
        ],
        "FaultReporter.callback": [
            ("faults of listeners are told", drop("_faults.tell"), FAULTS),
            ("slow callbacks are told", drop("_emit"), CALLBACKS),
        ],
        "FaultReporter.tool": [
            ("faults of formatters are told", drop("_faults.tell"), FAULTS),
        ],
    },
)

GUARD_MONITOR_PARTS = rows(
    "agent.guard_monitor",
    {
        "GuardMonitor.read": [
            ("readings are told", drop("_emit"), INSPECTION),
            ("equal readings are not repeated", decide("_told", True), INSPECTION),
        ],
        "GuardMonitor.heard": [
            ("functions are read after any change", decide("_any", False), INSPECTION),
        ],
    },
)

MOVES_PARTS = rows(
    "agent.moves",
    {
        "PhaseNavigator.to": [
            ("the program moves the conversation", gives("put", "True"), PHASES),
        ],
    },
)

PHASE_RUNNER_PARTS = rows(
    "agent.phase_runner",
    {
        "PhaseRunner._evaluated": [
            ("a blocked phase is told", drop("_emit", "blocked_event"), PHASES),
            ("preparations are run", no_rounds("preparations"), PHASES),
        ],
        "PhaseRunner._carry_out": [
            ("on_exit", never("RunExit"), PHASES),
            ("a phase that was entered is told", drop("_emit", "entered_event"), PHASES),
            ("keys are cleared on entering", never("ClearKeys"), PHASES),
            ("on_enter", never("RunEnter"), PHASES),
            ("on_enter_context", never("GatherContext"), PHASES),
            ("where the conversation stands is in the state", never("ResolveInstruction"), PHASES),
        ],
    },
)

STATE_EVENTS_PARTS = rows(
    "agent.state_events",
    {
        "StateEvents.publish": [
            ("rules hear of state", drop("_heard"), REACTOR),
            ("state settles when it changes", drop("_unsettled"), WATCHERS),
        ],
    },
)

STEERING_RUNNER_PARTS = rows(
    "agent.steering_runner",
    {
        "SteeringRunner._input": [
            ("instruction_template", leave_out("_template"), STEERING),
            ("instruction_amendment", leave_out("_amendment"), STEERING),
        ],
        "SteeringRunner._as_it_stands": [
            ("modifiers of the phase", leave_out("modifiers", number=2), PHASES),
            ("modifiers of every phase", assign("modifiers", "()", number=1), PHASES),
            ("the tools of the phase are told", leave_out("tools", number=2), PHASES),
        ],
        "SteeringRunner._instruct": [
            ("the instruction is updated", drop("perform"), STEERING),
            ("a new connection is made for a new instruction", drop("_reconnect"), STEERING),
        ],
        "SteeringRunner._tell": [
            ("context is sent", drop("_executor.perform"), STEERING),
            ("context waits where it does not travel", drop("_hold"), SYNC_ONLY_MODEL),
        ],
        "SteeringRunner.entered": [
            ("a phase's words are part of the setup", leave_out("_unsaid"), SYNC_ONLY_MODEL),
        ],
        "SteeringRunner.arm_prompt": [
            ("a prompt is armed", drop("_pending.arm_prompt"), STEERING),
            ("rules hear that a prompt is armed", drop("_prompt_armed"), STEERING),
        ],
        "SteeringRunner.connected": [
            ("a fresh connection knows nothing", drop("steering.forget"), RECONNECTING),
        ],
    },
)

TOOL_EXECUTOR_PARTS = rows(
    "agent.tool_executor",
    {
        "ToolExecutor.gate": [
            ("the allow-list", decide("_allowed", True), PHASES),
            ("on_tool_call", gives("tool_overrides", "{}"), TOOLS),
        ],
        "ToolExecutor._start": [
            ("background calls are acknowledged", drop("_acknowledge"), TOOLS),
            ("no tool runs without being started", drop("dispatcher.start"), TOOLS),
        ],
        "ToolExecutor.answer": [
            ("before_tool_response", gives("tool_responses", "[response]"), TOOLS),
            (
                "a dropped answer is told",
                drop("_listener", "before_tool_response dropped the answer; it was sent as it was"),
                TOOLS,
            ),
        ],
    },
)

TURN_PIPELINE_PARTS = rows(
    "agent.turn_pipeline",
    {
        "TurnPipeline.turn_began": [
            ("the turn scope is cleared when a turn begins", drop("state.clear_scope"), TOOLS),
            ("mutations and words know their turn", leave_out("state.turn_number"), CALLBACKS),
        ],
        "TurnPipeline.turn_ended": [
            ("signals settle at the end of a turn", drop("signals.settle"), TELEMETRY),
            ("final words are told", drop("_final_transcripts"), CALLBACKS),
            ("state settles before patterns of a turn are asked", drop("settler.settle", number=1), PATTERNS),
            ("patterns see turns", drop("settler.observe"), PATTERNS),
            ("state settles after patterns of a turn", drop("settler.settle", number=2), PATTERNS),
            ("the phase advances at the end of a turn", drop("_advance", number=1), EXTRACTION),
            ("the phase advances when repair has escalated", drop("_advance", number=2), REPAIR),
            ("needs are evaluated", gives("_repair", "NO_REPAIR"), REPAIR),
            ("state settles before the model is told", drop("settler.settle", number=3), STEERING),
            ("a soft turn leaves the model alone", decide("SOFT_TURN", True), SOFT_TURNS),
            ("context that waits goes out at the end of a turn", drop("_flush"), PHASES),
            ("the model is told at the end of a turn", drop("_steer"), STEERING),
            ("on_turn_boundary", drop("callbacks.control", "on_turn_boundary"), CALLBACKS),
            ("on_turn_complete", drop("callbacks.control", "on_turn_complete"), CALLBACKS),
            ("turns are counted", leave_out("turn_count"), SOFT_TURNS),
            ("the count of turns is in the state", drop("state.set"), SOFT_TURNS),
            ("a turn is measured", drop("fast.turn_measured"), TELEMETRY),
            ("a session is kept after a turn", drop("keeper.save"), PERSISTENCE),
        ],
        "TurnPipeline.tool_ended": [
            ("successes and failures of tools are counted", drop("signals.tool_ended"), TOOLS),
            ("tool calls are in the transcript", drop("transcript.add_tool_call"), TOOLS),
            ("patterns see tools", drop("settler.observe"), PATTERNS),
            (
                "state settles when a tool has ended",
                each(drop("settler.settle", number=1), drop("observe"), drop("settler.settle", number=1)),
                WATCHERS,
            ),
            ("the phase advances before a tool is answered", drop("_advance"), PHASES),
            ("the model is told before a tool is answered", drop("_steer"), PHASES),
            ("a tool is answered", drop("mind.answer"), TOOLS),
            ("extractors are asked after a tool call", drop("_read"), EXTRACTION),
        ],
        "TurnPipeline.generation_completed": [
            ("extractors are asked when the model has finished generating", drop("_read"), EXTRACTION),
            ("on_generation_complete", drop("callbacks.control"), CALLBACKS),
        ],
        "TurnPipeline._follow": [
            ("extractors are asked when a phase was entered", drop("_read"), EXTRACTION),
        ],
        "TurnPipeline._read": [
            ("the end of a turn waits a moment for extractors", drop("extraction.drain"), STEERING),
        ],
        "TurnPipeline.extracted": [
            ("findings are taken up", drop("lane.put"), EXTRACTION),
        ],
        "TurnPipeline._after_extraction": [
            ("on_extracted", drop("callbacks.control"), CALLBACKS),
            ("findings that come late move the conversation", drop("between"), EXTRACTION),
        ],
        "TurnPipeline._told_failure": [
            ("on_extraction_error", drop("callbacks.control"), CALLBACKS),
        ],
        "TurnPipeline.time_passed": [
            ("patterns see time", drop("settler.observe"), PATTERNS),
        ],
        "TurnPipeline.between": [
            ("what the program writes moves the conversation", decide("may_move", False), PHASES),
        ],
        "TurnPipeline.entered": [
            ("needs are counted anew in a new phase", drop("needs.reset"), REPAIR),
        ],
        "TurnPipeline._repair": [
            ("an escalation is called off", drop("_call_off"), REPAIR),
            ("an escalation is in the state", drop("state.set", "ESCALATION"), REPAIR),
        ],
        "TurnPipeline.move": [
            ("the model is told of a move that was asked for", drop("_steer"), PHASES),
        ],
    },
)

HOT_RELOAD_PARTS = rows(
    "debugger.hot_reload",
    {
        "HotReload.begin": [
            ("files are looked at while nobody talks", argument("call_later", 0, "1e9"), RELOADING),
        ],
        "HotReload._look": [
            ("nobody looks while a turn goes on", decide("turn_open", True), RELOADING),
        ],
        "HotReload._ordered": [
            ("an order in a turn waits", decide("turn_open", False), RELOADING),
        ],
        "HotReload.turn_ended": [
            ("an order that waits is carried out", decide("_wanted", False), RELOADING),
        ],
        "HotReload._adopt": [
            ("what a reading opens is gone through", drop("pipeline.between"), RELOADING),
        ],
    },
)

OPERATOR_COMMANDS_PARTS = rows(
    "debugger.operator_commands",
    {
        "OperatorCommands._read": [
            ("computed keys are not edited", decide("inputs", False), OPERATOR),
            ("the session's own keys are not edited", decide("OWN_KEYS", False), OPERATOR),
        ],
        "OperatorCommands._applied": [
            ("edits by hand are told", drop("_emit", "EditsApplied"), OPERATOR),
        ],
        "OperatorCommands._go": [
            ("a phase is asked for once", drop("_refuse", "earlier"), OPERATOR),
            ("a phase waits while a turn goes on", decide("turn_open", False), OPERATOR),
        ],
        "OperatorCommands.switch": [
            ("switching is told", drop("_emit"), OPERATOR),
        ],
    },
)

PREVIEW_PARTS = rows(
    "debugger.preview",
    {
        "PreviewScene._too_often": [
            ("a watcher that sets itself off rests", decide("MAX_PER_S", False), WATCHERS),
        ],
        "PreviewScene.of": [
            ("watchers' memory is not touched", gives("watchers.copy", "settler.watchers"), OPERATOR),
            ("patterns' memory is not touched", gives("temporal.copy", "(settler.temporal, [])"), OPERATOR),
            ("changes that have not settled count", gives("pending", "state.track()"), OPERATOR),
        ],
        "PreviewScene.settle": [
            ("patterns see what settles", drop("_notice"), PREVIEWS),
            ("computed values are foreseen", argument("recompute_affected", 1, "()"), PREVIEWS),
        ],
        "foresee_edit": [
            ("patterns hear what happened", drop("scene.hear"), PREVIEWS),
            ("the next phase is foreseen", gives("advance", "''"), PREVIEWS),
            ("what comes after the next phase is foreseen", leave_out("watchers", number=2), PREVIEWS),
        ],
        "PreviewScene.enter": [
            ("cleared keys are foreseen", decide("ClearKeys", False), PREVIEWS),
            ("what a phase tells of itself is foreseen", drop("publish_phase"), OPERATOR),
        ],
        "PreviewScene.advance": [
            ("what fails is named", drop("_failures"), OPERATOR),
        ],
    },
)

PREVIEW_RUNNER_PARTS = rows(
    "debugger.preview_runner",
    {
        "PreviewRunner._ask": [
            ("code is not waited for too long", argument("wait", "timeout", "None"), OPERATOR),
        ],
        "PreviewRunner.ask": [
            ("not too many questions at once", decide("MAX_ASKING", False), OPERATOR),
        ],
    },
)

REPLACING_PARTS = rows(
    "debugger.replacing",
    {
        "replacement": [
            ("the phase goes on in the edited agent", drop("machine.restore"), RELOADING),
            ("new first values are set", drop("state.set"), RELOADING),
            ("tools are replaced", drop("tools.replace"), RELOADING),
            ("callbacks are replaced", drop("callbacks.replace"), RELOADING),
            ("rules are replaced", drop("reactor.replace"), RELOADING),
            ("extractors are replaced", drop("extraction.replace"), RELOADING),
            ("phases are replaced", drop("director.replace"), RELOADING),
            ("the ways out are read anew", drop("standing.replace"), RELOADING),
            ("the instruction that was read is taken", drop("steersman.redefine"), RELOADING),
            ("watchers and computed values are replaced", drop("settler.replace"), RELOADING),
            ("other keys call for settling", leave_out("state_events.observed"), RELOADING),
            ("rules that are new are asked", drop("fast.redefine"), RELOADING),
            ("declared keys are others", drop("state.redeclare"), RELOADING),
            ("the agent is described anew", drop("body.emit"), RELOADING),
            ("tools are declared anew", drop("body.reconnect"), RELOADING),
        ],
    },
)

AUDIO_INPUT_PARTS = rows(
    "io.audio_input",
    {
        "AudioInput.take_audio": [
            ("context goes out ahead of audio", decide("has_context", False), STEERING),
            ("our own detector decides", decide("_activity", True), CLIENT_TURN_TAKING),
        ],
        "AudioInput.microphone": [
            ("closing the microphone ends the activity", drop("_activity.finish"), CLIENT_TURN_TAKING),
        ],
        "AudioInput._speech_committed": [
            ("commits are the beginning of a latency", drop("telemetry.committed"), CLIENT_TURN_TAKING),
            ("commits are told to the rules", drop("fast.user_speech"), CLIENT_TURN_TAKING),
        ],
    },
)

CONNECTIONS_PARTS = rows(
    "io.connections",
    {
        "ConnectionManager.run": [
            ("the mind begins before the connection", drop("_conductor.begin"), PHASES),
        ],
        "ConnectionManager._one": [
            ("a session is resumed", assign("handle", "''"), RECONNECTING),
            ("the mind hears of a connection", drop("_conductor.connected"), PHASES),
            ("a setup carries the instruction of now", gives("instruction_for_setup", "''"), PHASES),
        ],
    },
)

HANDLE_PARTS = rows(
    "io.handle",
    {
        "LiveHandle.send_video": [
            ("a picture makes the budget that of video", drop("signals.mark_video_sent"), TELEMETRY),
        ],
        "LiveHandle.user_speech_started": [
            ("the program says that the user speaks", drop("fast.user_speech"), REACTOR),
        ],
        "LiveHandle.user_speech_ended": [
            ("the program says that the user has spoken", drop("fast.user_speech"), REACTOR),
        ],
        "LiveHandle.playback_drained": [
            ("the program says that all was played", drop("react"), HANDLE),
        ],
    },
)

HOST_ADAPTER_PARTS = rows(
    "io.host_adapter",
    {
        "HostAdapter.soft_turn": [
            ("soft turns close the turn", drop("_perform"), SOFT_TURNS),
        ],
        "HostAdapter.prompted": [
            ("a prompt is an answer owed", drop("_perform"), HANDLE),
        ],
    },
)

LIVE_SESSION_PARTS = rows(
    "io.live_session",
    {
        "LiveSession._publish": [
            ("what was written is told before what happens", drop("conductor.publish_state"), HANDLE),
            ("the mind observes events", drop("conductor.observe"), STEERING),
            ("a connection is left when the server says so", drop("_wire.leave"), RECONNECTING),
        ],
        "LiveSession._perform": [
            ("context goes out ahead of typed text", decide("has_context", False), STEERING),
            ("tools are run", drop("calls", number=2), TOOLS),
            ("a call is begun before its cancellation is heard", drop("calls", number=1), TRANSCRIPT),
            ("the server's cancellation is heard of", drop("conductor.cancel_call"), TOOLS),
        ],
        "LiveSession._play": [
            ("the model's sound is counted and heard of", drop("_model_sound"), CALLBACKS),
        ],
        "LiveSession._wind_up": [
            ("the mind ends with the session", instead_of("conductor.close", "self._wire.hang_up"), PERSISTENCE),
        ],
        "LiveSession._over": [
            ("subscribers hear of the end", drop("subscribers.end"), HANDLE),
        ],
        "LiveSession.run": [
            ("losses are told before the end", drop("fast.tell_losses"), HANDLE),
            ("an agent is described", drop("_emit", "describe"), INSPECTION),
        ],
        "LiveSession.__init__": [
            ("the operator's orders are heard", drop("operator.take_orders"), OPERATOR),
        ],
    },
)

ORCHESTRATOR_PARTS = rows(
    "orchestrator",
    {
        "Orchestrator.begin": [
            ("a kept session is restored", gives("restore", "False"), PERSISTENCE),
            ("everything is computed at the beginning", drop("settler.begin"), WATCHERS),
            ("the initial phase is entered", each(drop("director.begin"), drop("pipeline.entered")), PHASES),
            ("templates and amendments are asked for the setup", drop("steersman.setup_instruction"), STEERING),
            ("figures are reported in time", drop("fast.begin"), TELEMETRY),
        ],
        "Orchestrator.connected": [
            ("what a setup carried is known", drop("steersman.connected"), STEERING),
            ("what a setup carried is told", drop("writer.setup_carried"), SYNC_ONLY_MODEL),
        ],
        "Orchestrator._recall": [
            ("a fresh connection is told what was said", decide("so_far", False), RECONNECTING),
        ],
        "Orchestrator.setup_text": [
            ("what waits for a setup is in it", gives("in_setup", "instruction"), SYNC_ONLY_MODEL),
        ],
        "Orchestrator._connected": [
            ("the model is told when a connection is ready", drop("steersman.steer"), PHASES),
            ("typed texts are released", drop("release"), STEERING + " " + RECONNECTING),
            ("the greeting", drop("steersman.arm_prompt"), STEERING),
            ("on_connected", argument("control", 0, "'on_resumed' if resumed else 'on_teardown'"), CALLBACKS),
            ("on_resumed", argument("control", 0, "'on_teardown' if resumed else 'on_connected'"), CALLBACKS),
        ],
        "Orchestrator.close": [
            ("on_teardown", gives("control", "asyncio.sleep(0)", "on_teardown"), CALLBACKS),
            ("a session is kept at its end", gives("keeper.close", "asyncio.sleep(0)"), PERSISTENCE),
        ],
        "Orchestrator._observe": [
            ("subscribers get events", drop("subscribers.push"), HANDLE),
            ("the fast lane hears events", drop("fast.hear"), TRANSCRIPT),
            ("signals follow events", drop("signals.observe"), TELEMETRY),
            ("the beginning of a turn is a step", drop("lane.put", "turn begins"), TOOLS),
            ("the end of a turn is a step", drop("lane.put", "TURN_ENDS"), STEERING),
            ("on_interrupted", drop("lane.put", "interrupted"), CALLBACKS),
            ("the end of generating is a step", drop("lane.put", "generation complete"), EXTRACTION),
            ("on_go_away", drop("lane.put", "go away"), CALLBACKS),
            ("on_disconnected", drop("lane.put", "disconnected"), CALLBACKS),
            ("on_error", drop("lane.put", "error"), CALLBACKS),
            ("guards are read on entering", drop("standing.stale"), INSPECTION),
            ("guards that read the time are read at the end of a turn", drop("standing.turn_ended"), INSPECTION),
            ("a phase waits for the turn's end", drop("operator.turn_ended"), OPERATOR),
        ],
        "Orchestrator.__init__": [
            ("drops are told when a reader wants no more", drop("delivery"), HANDLE),
            ("drops of notes are told", drop("notes_dropped"), TELEMETRY),
            ("rules move the conversation", drop("to", "reactor"), REACTOR),
        ],
        "Orchestrator.calls": [
            ("tool calls pass the gate", drop("lane.put"), TOOLS),
        ],
        "Orchestrator.cancel_call": [
            ("the server's cancellation reaches the tool", drop("desk.cancel"), TOOLS),
            ("on_tool_cancelled", drop("lane.put"), CALLBACKS),
        ],
        "Orchestrator._tool_ended": [
            ("the program answers for a tool", leave_out("outcome"), TOOLS),
        ],
        "Orchestrator.replace_instruction": [
            ("an instruction of the program's is told", drop("lane.put"), STEERING),
        ],
        "Orchestrator._agent_finished": [
            ("background agents are told of", drop("_emit"), TOOLS),
        ],
        "Orchestrator._state_heard": [
            ("guards are read after changes", drop("standing.heard"), INSPECTION),
        ],
    },
)

AUTOSAVE_PARTS = rows(
    "persistence.autosave",
    {
        "Autosave._take_up": [
            ("the state is restored", gives("restore_state", "()"), PERSISTENCE),
            ("the transcript is restored", leave_out("transcript"), PERSISTENCE),
            ("the count of turns is restored", leave_out("turn_count"), PERSISTENCE),
            ("needs are restored", drop("needs.restore"), PERSISTENCE),
            ("the server's session is taken up", drop("body.resume_with"), PERSISTENCE),
            ("the phase is restored", gives("_phase_goes_on", "False"), PERSISTENCE),
        ],
        "Autosave._saved": [
            ("saving is told", drop("body.emit"), STEERING),
        ],
    },
)

DISPATCH_PARTS = rows(
    "rules.dispatch",
    {
        "RuleDispatcher._perform": [
            ("what rules want is performed", drop("executor.perform_reactions"), REACTOR),
            ("reactions are told", drop("_body.emit"), REACTOR),
        ],
        "RuleDispatcher._has_its_moment": [
            ("a prompt waits for sound that is queued", decide("sounding", False), PROMPTS),
            ("a prompt waits for an answer that is owed", decide("owes_answer", False), PROMPTS),
        ],
    },
)

MUTATIONS: tuple[Mutation, ...] = (
    *DERIVED_STATE_PARTS,
    *EVENT_OBSERVER_PARTS,
    *FAULTS_PARTS,
    *GUARD_MONITOR_PARTS,
    *MOVES_PARTS,
    *PHASE_RUNNER_PARTS,
    *STATE_EVENTS_PARTS,
    *STEERING_RUNNER_PARTS,
    *TOOL_EXECUTOR_PARTS,
    *TURN_PIPELINE_PARTS,
    *HOT_RELOAD_PARTS,
    *OPERATOR_COMMANDS_PARTS,
    *PREVIEW_PARTS,
    *PREVIEW_RUNNER_PARTS,
    *REPLACING_PARTS,
    *AUDIO_INPUT_PARTS,
    *CONNECTIONS_PARTS,
    *HANDLE_PARTS,
    *HOST_ADAPTER_PARTS,
    *LIVE_SESSION_PARTS,
    *ORCHESTRATOR_PARTS,
    *AUTOSAVE_PARTS,
    *DISPATCH_PARTS,
)
"""Every mutation."""
