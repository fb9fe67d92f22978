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
CLIENT = "client_turn_taking_in_a_session"
DEFERRED = "sync_only_model_in_a_session"
EXTRACTION = "extraction_in_a_session"
FAULTS = "faults_in_a_session"
FIGURES = "telemetry_in_a_session"
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
SOFT = "soft_turns_in_a_session"
STEERING = "steering_on_the_wire"
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


PIPELINE = rows(
    "agent.turn_pipeline",
    {
        "TurnPipeline.begin_turn": [
            ("the turn scope is cleared when a turn begins", drop("clear_scope"), TOOLS),
            ("changes and words know their turn", leave_out("turn_number"), CALLBACKS),
        ],
        "TurnPipeline.end_turn": [
            ("session keys settle at the end of a turn", drop("_session_keys.settle"), FIGURES),
            ("listeners get final transcripts", drop("_call_final_transcripts"), CALLBACKS),
            ("extractors run at the end of a turn", drop("_extract"), EXTRACTION),
            ("state settles before patterns see a turn", drop("settle.settle", number=1), PATTERNS),
            ("patterns see turns", drop("observe"), PATTERNS),
            ("state settles after patterns saw a turn", drop("settle.settle", number=2), PATTERNS),
            ("the phase advances at the end of a turn", drop("_advance", number=1), EXTRACTION),
            ("needs are evaluated", gives("_repair", "NO_REPAIR"), REPAIR),
            ("state settles before the model is steered", drop("settle.settle", number=3), STEERING),
            ("the phase advances when repair has escalated", drop("_advance", number=2), REPAIR),
            ("a soft turn leaves the model alone", decide("SOFT_TURN", True), SOFT),
            ("queued context goes out at the end of a turn", drop("_flush_context"), PHASES),
            ("the model is steered at the end of a turn", drop("_steer"), STEERING),
            ("on_turn_boundary", drop("control", "on_turn_boundary"), CALLBACKS),
            ("on_turn_complete", drop("control", "on_turn_complete"), CALLBACKS),
            ("turns are counted", leave_out("turn_count"), SOFT),
            ("the count of turns is in the state", drop("state.set"), SOFT),
        ],
        "TurnPipeline.end_tool": [
            ("successes and failures of tools are counted", drop("tool_ended"), TOOLS),
            ("tool calls are in the transcript", drop("add_tool_call"), TOOLS),
            ("patterns see tools", drop("observe"), PATTERNS),
            (
                "state settles when a tool has ended",
                each(drop("settle.settle", number=1), drop("observe"), drop("settle.settle", number=1)),
                WATCHERS,
            ),
            ("the phase advances before a tool's answer", drop("_advance"), PHASES),
            ("the model is steered before a tool's answer", drop("_steer"), PHASES),
            ("a tool's answer is sent", drop("_tools.give"), TOOLS),
            ("extractors run after a tool call", drop("_extract"), EXTRACTION),
        ],
        "TurnPipeline.complete_generation": [
            ("extractors run when the model has finished generating", drop("_extract"), EXTRACTION),
            ("on_generation_complete", drop("call_listeners"), CALLBACKS),
        ],
        "TurnPipeline._extract": [
            ("the end of a turn waits a moment for extractors", drop("drain"), STEERING),
        ],
        "TurnPipeline._on_extracted": [
            ("what extractors found is used", drop("put"), EXTRACTION),
        ],
        "TurnPipeline._after_extraction": [
            ("on_extracted", drop("control"), CALLBACKS),
            ("late findings move the conversation", drop("reevaluate"), EXTRACTION),
        ],
        "TurnPipeline._after_failure": [
            ("on_extraction_error", drop("control"), CALLBACKS),
        ],
        "TurnPipeline.pass_time": [
            ("patterns see time", drop("observe"), PATTERNS),
        ],
        "TurnPipeline.reevaluate": [
            ("what the program writes moves the conversation", decide("may_advance", False), PHASES),
        ],
        "TurnPipeline.request_phase": [
            ("the program moves the conversation", gives("put", "True"), PHASES),
        ],
        "TurnPipeline.move": [
            ("the model is steered after a requested move", drop("_steer"), PHASES),
        ],
        "TurnPipeline._follow": [
            ("extractors run when a phase was entered", drop("_extract"), EXTRACTION),
        ],
        "TurnPipeline.on_entered": [
            ("needs are counted anew in a new phase", drop("needs.reset"), REPAIR),
        ],
        "TurnPipeline._repair": [
            ("progress ends an escalation", drop("_remove"), REPAIR),
            ("an escalation is in the state", drop("state.set", "ESCALATION"), REPAIR),
        ],
    },
)

ORCHESTRATOR = rows(
    "orchestrator",
    {
        "Orchestrator._connect": [
            ("subscribers get events", drop("subscribe", "subscribers.push"), HANDLE),
            ("session keys follow events", drop("subscribe", "session_keys.on_event"), FIGURES),
            ("listeners of events are called", drop("subscribe", "_queue_listeners"), CALLBACKS),
        ],
        "Orchestrator.begin": [
            ("a saved session is restored", gives("restore", "False"), PERSISTENCE),
            ("everything is computed at the beginning", drop("settle.begin"), WATCHERS),
            ("the initial phase is entered", each(drop("phases.begin"), drop("on_entered")), PHASES),
            ("callbacks take part in the setup's instruction", drop("prepare_setup"), STEERING),
            ("figures are reported in time", drop("timers.begin"), FIGURES),
        ],
        "Orchestrator.setup_text": [
            ("deferred context is part of a setup", gives("with_instruction", "instruction"), DEFERRED),
        ],
        "Orchestrator.on_connected": [
            ("steering knows what a setup carried", drop("steering.on_connected"), STEERING),
            ("the writer knows what a setup carried", drop("confirm_setup"), DEFERRED),
        ],
        "Orchestrator._recall": [
            ("a new connection gets the conversation so far", decide("so_far", False), RECONNECTING),
        ],
        "Orchestrator._greet": [
            ("the model is steered when a connection is ready", drop("steer"), PHASES),
            ("typed texts are released", drop("release"), STEERING + " " + RECONNECTING),
            ("the greeting", drop("arm_prompt"), STEERING),
            ("on_connected", drop("control", "on_connected"), CALLBACKS),
            ("on_resumed", drop("control", "on_resumed"), CALLBACKS),
        ],
        "Orchestrator.close": [
            ("on_teardown", gives("control", "asyncio.sleep(0)", "on_teardown"), CALLBACKS),
            ("a session is saved at its end", gives("autosave.close", "asyncio.sleep(0)"), PERSISTENCE),
        ],
        "Orchestrator._on_turn_started": [
            ("the beginning of a turn is a step", drop("put"), TOOLS),
        ],
        "Orchestrator._on_phase_entered": [
            ("guards are read on entering", drop("schedule_refresh"), INSPECTION),
        ],
        "Orchestrator._on_turn_completed": [
            ("guards that read the time are read at the end of a turn", drop("guards.on_turn_ended"), INSPECTION),
            ("the end of a turn is a step", drop("put"), STEERING),
            ("a phase waits for the turn's end", drop("operator.on_turn_ended"), OPERATOR),
        ],
        "Orchestrator._queue_listeners": [
            ("on_interrupted", drop("put", "interrupted"), CALLBACKS),
            ("the end of generating is a step", drop("put", "generation complete"), EXTRACTION),
            ("on_go_away", drop("put", "go away"), CALLBACKS),
            ("on_disconnected", drop("put", "disconnected"), CALLBACKS),
            ("on_error", drop("put", "error"), CALLBACKS),
        ],
        "Orchestrator.cancel_call": [
            ("the server's cancellation reaches the tool", drop("tools.cancel"), TOOLS),
            ("on_tool_cancelled", drop("put"), CALLBACKS),
        ],
        "Orchestrator._on_state_changes": [
            ("guards are read after changes", drop("guards.on_state_changes"), INSPECTION),
            ("rules get changes of state", drop("react"), REACTOR),
        ],
        "Orchestrator._queue_reevaluation": [
            ("state settles when it changes", drop("put"), WATCHERS),
        ],
        "Orchestrator._on_turn_done": [
            ("a turn is measured", drop("report_turn"), FIGURES),
            ("a session is saved after a turn", drop("save"), PERSISTENCE),
        ],
        "Orchestrator._go_to_phase": [
            ("rules move the conversation", gives("request_phase", "None"), REACTOR),
        ],
        "Orchestrator._on_notes_dropped": [
            ("dropped notes are counted", drop("on_notes_dropped"), FIGURES),
        ],
        "Orchestrator._on_subscriber_left": [
            ("losses are reported when a subscriber leaves", drop("report_loss"), HANDLE),
        ],
        "Orchestrator._on_agent_finished": [
            ("background agents are reported", drop("emit"), TOOLS),
        ],
    },
)

DISPATCH = rows(
    "rules.dispatch",
    {
        "RuleDispatcher._perform": [
            ("what rules ask for is performed", drop("perform_reactions"), REACTOR),
            ("reactions are reported", drop("_emit"), REACTOR),
            ("rules replace the instruction", drop("_replace_instruction"), REACTOR),
        ],
        "RuleDispatcher._is_possible": [
            ("a prompt waits for a pending answer", decide("_is_answer_pending", False), PROMPTS),
        ],
    },
)

HOST = rows(
    "agent.host",
    {
        "SessionHost.is_answer_pending": [
            ("a prompt waits for queued sound", decide("playing", False), PROMPTS),
            ("a prompt waits for an answer that is owed", decide("owes_answer", False), PROMPTS),
        ],
        "SessionHost.take_soft_turn": [
            ("soft turns end the turn", drop("_perform"), SOFT),
        ],
        "SessionHost.note_prompt": [
            ("a prompt is an answer owed", drop("_perform"), HANDLE),
        ],
    },
)

STATE_EVENTS = rows(
    "agent.state_events",
    {
        "StateEvents.__init__": [
            ("changes of state are noticed", drop("on_mutations"), WATCHERS),
        ],
        "StateEvents.publish": [
            ("parts get changes of state", no_rounds("on_changes"), REACTOR),
            ("changes call for decisions", drop("on_unsettled"), WATCHERS),
        ],
    },
)

FAULT_REPORTS = rows(
    "agent.faults",
    {
        "FaultReporter.callback": [
            ("faults of listeners are reported", drop("code"), FAULTS),
            ("slow callbacks are reported", drop("_emit"), CALLBACKS),
        ],
        "FaultReporter.rule": [
            ("faults of rules are reported", drop("code"), REACTOR),
        ],
        "FaultReporter.effect": [
            ("faults of effects are reported", drop("code"), REACTOR),
        ],
        "FaultReporter.tool": [
            ("faults of formatters are reported", drop("code"), FAULTS),
        ],
    },
)

OBSERVER = rows(
    "agent.event_observer",
    {
        "EventObserver._ask_rules": [
            ("rules get events", drop("react"), REACTOR),
        ],
        "EventObserver._show_patterns": [
            ("patterns see events", drop("put"), PATTERNS),
        ],
        "EventObserver._on_words": [
            ("the user's words are in the transcript", drop("add_input"), TRANSCRIPT),
            ("the model's words are in the transcript", drop("add_output"), TRANSCRIPT),
            ("words of a cut answer are kept apart", argument("add_output", "cut", None), TRANSCRIPT),
            ("the model's first words end a latency", drop("first_model_frame"), FIGURES),
            ("words end the wait for a soft turn", drop("on_model_responded"), SOFT),
            ("on_input_transcript, pieces", drop("_call", "on_input_transcript"), CALLBACKS),
            ("on_output_transcript, pieces", drop("_call", "on_output_transcript"), CALLBACKS),
            ("on_thought", drop("_call", "on_thought"), CALLBACKS),
            ("on_text", drop("_call", "on_text"), CALLBACKS),
        ],
        "EventObserver._on_text_sent": [
            ("typed text is in the transcript", drop("add_input"), TRANSCRIPT),
            ("typed text begins a latency", drop("text_sent"), FIGURES),
            ("on_input_transcript, typed", drop("_call"), CALLBACKS),
        ],
        "EventObserver._on_turn_started": [
            ("a turn begins in the transcript", drop("begin_turn"), TRANSCRIPT),
            ("a turn begins in the figures", drop("turn_started"), FIGURES),
        ],
        "EventObserver._on_turn_completed": [
            ("a turn ends in the transcript", drop("end_turn"), TRANSCRIPT),
            ("a turn ends in the figures", drop("turn_completed"), FIGURES),
            ("on_text_complete", drop("_call"), CALLBACKS),
            ("rules get soft turns", drop("react"), SOFT),
            ("timers get the end of a turn", drop("on_turn_completed"), SOFT),
        ],
        "EventObserver._on_turn_interrupted": [
            ("an interruption is in the transcript", drop("transcript.interrupted"), TRANSCRIPT),
            ("an interruption is in the figures", drop("telemetry.interrupted"), FIGURES),
        ],
        "EventObserver._on_playback": [
            ("playback is in the figures", drop("playback_started"), FIGURES),
            ("rules get the beginning of playback", drop("react", "PlaybackStarted"), REACTOR),
            ("rules get the end of playback", drop("react", "has_prompt"), REACTOR),
        ],
        "EventObserver._on_voice": [
            ("voice begins a turn in the figures", drop("voice_started"), FIGURES),
            ("the end of voice begins a latency", drop("voice_ended", "server_vad"), FIGURES),
            ("on_vad_start and on_vad_end", drop("_call"), CALLBACKS),
        ],
        "EventObserver.on_user_speech": [
            ("rules know who has the floor", drop("react"), REACTOR),
        ],
        "EventObserver.on_session_state": [
            ("on_phase", drop("_call"), CALLBACKS),
        ],
        "EventObserver._on_usage": [
            ("tokens are in the figures", drop("telemetry.usage"), FIGURES),
            ("on_usage", drop("_call"), CALLBACKS),
        ],
    },
)

TIMERS = rows(
    "agent.timers",
    {
        "Timers.on_voice": [
            ("voice ends the wait for a soft turn", drop("voice_started"), SOFT),
            ("the end of voice begins the wait for a soft turn", drop("voice_ended"), SOFT),
        ],
        "Timers.on_turn_completed": [
            ("a soft turn is reported", drop("emit"), SOFT),
        ],
        "Timers.report_losses": [
            ("losses are reported at the end", drop("_reporter.report_losses"), HANDLE),
        ],
        "Timers._report_patterns": [
            ("equal progress is not repeated", decide("progress", True), INSPECTION),
            ("patterns that time moves are read again", leave_out("_patterns_due", number=2), INSPECTION),
        ],
        "Timers._tick": [
            ("a soft turn is taken", drop("take_soft_turn"), SOFT),
            ("totals are reported in time", drop("report_totals"), FIGURES),
            ("dropped notes are reported after a moment", drop("_report_notes"), FIGURES),
            ("progress of patterns is reported", drop("_report_patterns"), INSPECTION),
            ("rules get time", drop("react"), REACTOR),
            ("patterns get time", drop("put"), PATTERNS),
        ],
    },
)

REPORTER = rows(
    "agent.metrics_reporter",
    {
        "MetricsReporter.report_turn": [
            ("losses are reported with a turn", drop("report_losses"), HANDLE),
        ],
        "MetricsReporter.report_totals": [
            ("totals are published", drop("emit"), FIGURES),
            ("losses are reported with the totals", drop("report_losses"), HANDLE),
        ],
        "MetricsReporter.report_loss": [
            ("losses are published", drop("emit"), HANDLE),
        ],
    },
)

SETTLE = rows(
    "agent.settle_engine",
    {
        "SettleEngine.copy": [
            ("previews leave the watchers' memory alone", gives("watchers.copy", "self.watchers"), OPERATOR),
            ("previews leave the patterns' memory alone", gives("temporal.copy", "(self.temporal, [])"), OPERATOR),
            ("unsettled changes count in previews", argument("track", 0, None), OPERATOR),
        ],
        "SettleEngine.settle": [
            ("affected values are computed again", drop("_report", "changed"), WATCHERS),
            ("watchers are evaluated", argument("evaluate", 0, "{}"), WATCHERS),
            ("near misses are reported", drop("_emit", "_missed_event"), WATCHERS),
            ("muted firings are reported", drop("_emit", "_fired_event"), WATCHERS),
            ("watchers fire", drop("_fire"), WATCHERS),
            ("patterns see state", drop("observe"), PATTERNS),
            ("a loop of watchers is broken", assign("rest", "{}"), WATCHERS),
        ],
        "SettleEngine.observe": [
            ("patterns fire", drop("_fire_pattern"), PATTERNS),
            ("progress of patterns is read after events", drop("on_patterns_shown"), INSPECTION),
        ],
        "SettleEngine.force": [
            ("watchers that the operator fired are reported", drop("_emit"), OPERATOR),
            ("watchers that the operator fires act", drop("_act"), OPERATOR),
        ],
        "SettleEngine._is_too_often": [
            ("a watcher that sets itself off rests", instead_of("MAX_PER_S", "3 * MAX_PER_S", number=3), WATCHERS),
        ],
        "SettleEngine._fire": [
            ("watchers that fired are reported", drop("_emit", number=2), WATCHERS),
        ],
        "SettleEngine._fire_pattern": [
            ("patterns that fired are reported", drop("_emit"), PATTERNS),
        ],
        "SettleEngine._report": [
            ("faults of computed values are reported", drop("failed"), WATCHERS),
        ],
    },
)

PHASE_RUNNER = rows(
    "agent.phase_runner",
    {
        "PhaseRunner._evaluate": [
            ("a blocked phase is reported", drop("_emit"), PHASES),
            ("preparations run", no_rounds("preparations"), PHASES),
        ],
        "PhaseRunner.carry_out": [
            ("on_exit", never("RunExit"), PHASES),
            ("an entered phase is reported", drop("_emit"), PHASES),
            ("keys are cleared on entering", never("ClearKeys"), PHASES + " " + PREVIEWS),
            ("what is presented is marked", never("MarkPresented"), PHASES + " " + OPERATOR),
            ("on_enter", never("RunEnter"), PHASES),
            ("on_enter_context", never("GatherContext"), PHASES),
            ("the phase is in the state", never("ResolveInstruction"), PHASES + " " + OPERATOR),
        ],
    },
)

STEERING_RUNNER = rows(
    "agent.steering_runner",
    {
        "SteeringRunner.replace_instruction": [
            ("the program's instruction reaches the model", drop("put"), STEERING),
        ],
        "SteeringRunner.on_connected": [
            ("a new connection knows nothing", drop("forget"), RECONNECTING),
            ("what a setup carried is confirmed", drop("confirm_setup"), STEERING),
        ],
        "SteeringRunner.on_entered": [
            ("a phase's words are part of the setup", leave_out("_unsent"), DEFERRED),
        ],
        "SteeringRunner._send": [
            ("context waits where it does not travel", drop("_defer"), DEFERRED),
            ("context is sent", drop("perform"), STEERING),
            ("what was sent is confirmed", drop("confirm"), STEERING),
        ],
        "SteeringRunner.arm_prompt": [
            ("a prompt is armed", drop("context_queue.arm_prompt"), STEERING),
            ("rules get armed prompts", drop("react"), STEERING),
        ],
        "SteeringRunner._instruct": [
            ("a new connection is made for a new instruction", drop("reconnect"), STEERING),
            ("the instruction is updated", drop("perform"), STEERING),
        ],
        "SteeringRunner._input": [
            ("instruction_template", leave_out("_template"), STEERING),
            ("instruction_amendment", leave_out("_amendment"), STEERING),
        ],
        "SteeringRunner._current_input": [
            ("modifiers of every phase", assign("modifiers", "()", number=1), PHASES),
            ("modifiers of the phase", leave_out("modifiers", number=2), PHASES),
            ("the tools of the phase are told", leave_out("tools", number=2), PHASES),
        ],
    },
)

TOOL_EXECUTOR = rows(
    "agent.tool_executor",
    {
        "ToolExecutor.on_calls": [
            ("tool calls pass the gate", drop("put"), TOOLS),
        ],
        "ToolExecutor.on_outcome": [
            ("the program answers for a tool", decide("given", False), TOOLS),
        ],
        "ToolExecutor._gate": [
            ("the allow-list", decide("_is_allowed", True), PHASES),
            ("on_tool_call", gives("tool_overrides", "{}"), TOOLS),
        ],
        "ToolExecutor._start": [
            ("background calls are acknowledged", drop("acknowledge"), TOOLS),
            ("no tool runs without being started", drop("dispatcher.start"), TOOLS),
        ],
        "ToolExecutor.answer": [
            ("before_tool_response", gives("tool_responses", "[response]"), TOOLS),
            ("a dropped answer is reported", drop("_listener", "before_tool_response dropped"), TOOLS),
        ],
    },
)

AUTOSAVE = rows(
    "agent.autosave",
    {
        "Autosave._take_up": [
            ("the state is restored", gives("restore_state", "()"), PERSISTENCE),
            ("the transcript is restored", leave_out("transcript"), PERSISTENCE),
            ("the count of turns is restored", leave_out("turn_count"), PERSISTENCE),
            ("the phase is restored", gives("_phase_goes_on", "False"), PERSISTENCE),
            ("needs are restored", drop("needs.restore"), PERSISTENCE),
            ("the server's session is resumed", drop("resume_with"), PERSISTENCE),
        ],
        "Autosave.save": [
            ("the phase is saved", argument("take", "phases", "None"), PERSISTENCE),
            ("the handle is saved", argument("take", "handle", "''"), PERSISTENCE),
        ],
        "Autosave._on_saved": [
            ("saving is reported", drop("emit"), STEERING),
        ],
    },
)

GUARD_MONITOR = rows(
    "agent.guard_monitor",
    {
        "GuardMonitor.on_state_changes": [
            ("functions are read after any change", decide("_has_functions", False), INSPECTION),
        ],
        "GuardMonitor.refresh": [
            ("another phase has other keys", decide("machine.current", "not self._phase", number=1), INSPECTION),
            ("equal readings are not repeated", decide("_published", True), INSPECTION),
            ("readings are published", drop("_emit"), INSPECTION),
        ],
    },
)

INPUT = rows(
    "io.audio_input",
    {
        "AudioInput.take_audio": [
            ("our own detector decides", decide("_activity", True), CLIENT),
            ("context goes out ahead of audio", decide("has_context", False), STEERING),
        ],
        "AudioInput.on_microphone": [
            ("closing the microphone ends the activity", drop("finish"), CLIENT),
        ],
        "AudioInput._commit_speech": [
            ("rules get committed speech", drop("on_user_speech"), CLIENT),
            ("commits begin a latency", drop("committed"), CLIENT),
        ],
    },
)

BUS = rows(
    "ports.event_bus",
    {
        "EventBus.publish": [
            ("changes of state are published before what follows", drop("publish_state"), HANDLE),
            ("parts see events", no_rounds("handlers"), STEERING),
        ],
    },
)

LIVE_SESSION = rows(
    "io.live_session",
    {
        "LiveSession._make_router": [
            ("the operator's commands are carried out", drop("orchestrator.register"), OPERATOR),
        ],
        "LiveSession.run": [
            ("an agent is described", drop("emit", "describe"), INSPECTION),
            ("losses are reported before the end", drop("report_losses"), HANDLE),
        ],
        "LiveSession._finish": [
            ("subscriptions end with the session", drop("subscribers.end"), HANDLE),
        ],
        "LiveSession._wind_up": [
            (
                "the agent ends with the session",
                instead_of("orchestrator.close", "self._connections.hang_up"),
                PERSISTENCE,
            ),
        ],
        "LiveSession._perform": [
            ("a call begins before its cancellation", drop("on_calls", number=1), TRANSCRIPT),
            ("the server's cancellation is passed on", drop("cancel_call"), TOOLS),
            ("tools run", drop("on_calls", number=2), TOOLS),
        ],
        "LiveSession._send": [
            ("context goes out ahead of typed text", decide("has_context", False), STEERING),
        ],
        "LiveSession._play": [
            ("the model's sound is counted and passed on", drop("_model_sound"), CALLBACKS),
        ],
    },
)

CONNECTIONS = rows(
    "io.connections",
    {
        "ConnectionManager.__init__": [
            ("a connection is left when the server says so", drop("subscribe"), RECONNECTING),
        ],
        "ConnectionManager.run": [
            ("the agent begins before the connection", drop("_orchestrator.begin"), PHASES),
        ],
        "ConnectionManager._one": [
            ("a session is resumed", assign("handle", "''"), RECONNECTING),
            ("a setup carries the present instruction", gives("instruction_for_setup", "''"), PHASES),
            ("the agent learns of a connection", drop("on_connected"), PHASES),
        ],
    },
)

LIVE_HANDLE = rows(
    "io.handle",
    {
        "LiveHandle.send_video": [
            ("a picture makes the budget that of video", drop("mark_video_sent"), FIGURES),
        ],
        "LiveHandle.user_speech_started": [
            ("the program reports that the user speaks", drop("on_user_speech"), REACTOR),
        ],
        "LiveHandle.user_speech_ended": [
            ("the program reports that the user has spoken", drop("on_user_speech"), REACTOR),
        ],
        "LiveHandle.playback_drained": [
            ("the program reports that all was played", drop("react"), HANDLE),
        ],
    },
)

PLAN = rows(
    "definition.plan",
    {
        "SessionPlan.make_state": [
            ("initial values are published", drop("on_mutations"), INSPECTION),
        ],
    },
)

COMMANDS = rows(
    "control.operator_commands",
    {
        "OperatorCommands._read": [
            ("computed keys are not edited", decide("inputs", False), OPERATOR),
            ("the session's own keys are not edited", decide("READ_ONLY_KEYS", False), OPERATOR),
        ],
        "OperatorCommands._publish": [
            ("edits by hand are reported", drop("emit"), OPERATOR),
        ],
        "OperatorCommands._go": [
            ("a move that is replaced is refused", drop("_refuse"), OPERATOR),
            ("a phase waits while a turn goes on", decide("turn_open", False), OPERATOR),
        ],
        "OperatorCommands.switch_watcher": [
            ("muting is reported", drop("emit"), OPERATOR),
        ],
        "OperatorCommands._set_instruction": [
            ("the new instruction is described", drop("emit"), OPERATOR),
        ],
    },
)

PREVIEW_RUNNER = rows(
    "control.preview_runner",
    {
        "PreviewRunner.run": [
            ("previews are limited in number", decide("MAX_THREADS", False), OPERATOR),
        ],
        "PreviewRunner._run_in_thread": [
            ("previews are limited in time", argument("wait", "timeout", "None"), OPERATOR),
        ],
    },
)

PREVIEW = rows(
    "control.preview",
    {
        "preview_edit": [
            ("an edit's consequences settle in previews", drop("settle", number=1), PREVIEWS),
            ("the next phase is previewed", gives("advance", "''"), PREVIEWS),
            ("what follows the next phase is previewed", drop("settle", number=2), PREVIEWS),
            ("patterns see previewed events", drop("show_events"), PREVIEWS),
        ],
        "preview_phase": [
            ("a previewed move is carried out", drop("enter"), OPERATOR),
        ],
        "ActionRecorder.failed": [
            ("what fails in a preview is named", leave_out("unknown"), OPERATOR),
        ],
    },
)

RELOAD = rows(
    "control.hot_reload",
    {
        "HotReload.begin": [
            ("files are checked while nobody talks", argument("call_later", 0, "1e9"), RELOADING),
        ],
        "HotReload._look": [
            ("files are not checked while a turn goes on", decide("turn_open", True), RELOADING),
        ],
        "HotReload._reload": [
            ("a reload in a turn waits", decide("turn_open", False), RELOADING),
        ],
        "HotReload.on_turn_ended": [
            ("a reload that waits is carried out", decide("_is_wanted", False), RELOADING),
        ],
        "HotReload._adopt": [
            ("what cannot be used is rolled back", drop("roll_back"), RELOADING),
            ("transitions are evaluated after a reload", drop("reevaluate"), RELOADING),
        ],
        "HotReload._prepare": [
            ("counts and mutes are kept", drop("continue_from", "_settle.watchers"), RELOADING),
            ("patterns go on", drop("continue_from", "_settle.temporal"), RELOADING),
            ("the phase goes on in the edited agent", drop("machine.restore"), RELOADING),
            ("the instruction that was read is used", leave_out("agent.plan"), RELOADING),
            ("declared keys are replaced", drop("redeclare"), RELOADING),
            ("new initial values are set", drop("state.set"), RELOADING),
            ("tools are replaced", drop("_tools.replace"), RELOADING),
            ("callbacks are replaced", drop("_callbacks.replace"), RELOADING),
            ("rules are replaced", drop("_reactor.replace"), RELOADING),
            ("extractors are replaced", drop("extraction.replace"), RELOADING),
            ("phases are replaced", drop("phases.replace"), RELOADING),
            ("guards are read anew", drop("_guards.replace"), RELOADING),
            ("watchers and computed values are replaced", drop("_settle.replace"), RELOADING),
            ("new rules get time", drop("redefine"), RELOADING),
            ("the agent is described anew", drop("emit"), RELOADING),
            ("tools are declared anew", drop("reconnect"), RELOADING),
        ],
        "HotReload._merge": [
            ("the operator's instruction stays", leave_out("kept", number=2), RELOADING),
        ],
    },
)

MUTATIONS: tuple[Mutation, ...] = (
    *PIPELINE,
    *ORCHESTRATOR,
    *DISPATCH,
    *HOST,
    *STATE_EVENTS,
    *FAULT_REPORTS,
    *OBSERVER,
    *TIMERS,
    *REPORTER,
    *SETTLE,
    *PHASE_RUNNER,
    *STEERING_RUNNER,
    *TOOL_EXECUTOR,
    *AUTOSAVE,
    *GUARD_MONITOR,
    *INPUT,
    *BUS,
    *LIVE_SESSION,
    *CONNECTIONS,
    *LIVE_HANDLE,
    *PLAN,
    *COMMANDS,
    *PREVIEW_RUNNER,
    *PREVIEW,
    *RELOAD,
)
"""Every mutation."""
