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

BOUNDS = "bounds_in_a_session"
CALLBACKS = "callbacks_in_a_session"
CHANGED = "agents_changed_in_a_session"
CLIENT = "client_turn_taking_in_a_session"
CONSENT = "consent_in_a_session"
ENDS = "ends_of_user_turns"
PAUSES = "end_of_turn_model"
DEFERRED = "sync_only_model_in_a_session"
EVENTS = "session_events"
ERRORS = "error_budget"
EXTRACTION = "extraction_in_a_session"
FAULTS = "faults_in_a_session"
FIGURES = "telemetry_in_a_session"
HANDING_OVER = "handing_over"
LAST_WORDS = "last_words"
DEAD_HANDOFFS = "handoffs_of_a_dead_engine"
HANDLE = "handle_in_a_session"
INTERRUPTIONS = "interruptions"
RULES = "rules_of_an_agent"
INSPECTION = "inspection_in_a_session"
NOTIFICATIONS = "notifications_in_a_session"
NOTIFY = "notify_tool"
TIMED = "timers_in_a_session"
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
RUN = "run_expectations"
SESSIONS = "agent_sessions"
SOFT = "soft_turns_in_a_session"
SPOKEN = "spoken_consent"
STEERING = "steering_on_the_wire"
SUPERVISION = "supervision_in_a_session"
TASKS = "inline_tasks"
TOOLS = "tools_in_a_session"
TRANSCRIPT = "transcript_in_a_session"
TURNS = "turn_detection"
WATCHDOGS = "watchdogs_in_a_session"
VIEW = "the_models_view"
TOOL_STEPS = "tool_steps"
USER_STATES = "user_states"
WATCHERS = "watchers_in_a_session"

Row = tuple[str, str, Edit, str]
"""A function, a part of it, the edit that takes the part out, and the test files that have to notice."""


def rows(module: str, owner: str, *found: Row) -> tuple[Mutation, ...]:
    """Return the mutations of a class, or without `owner` of functions, in one module."""
    return tuple(
        Mutation(part, module, f"{owner}.{function}" if owner else function, edit, tests)
        for function, part, edit, tests in found
    )


PIPELINE = rows(
    "agent.turn_pipeline",
    "TurnPipeline",
    ("_queue_reevaluation", "state settles when it changes", drop("put"), WATCHERS),
    ("begin_turn", "the turn scope is cleared when a turn begins", drop("clear_scope"), TOOLS),
    ("begin_turn", "changes and words know their turn", leave_out("turn_number"), CALLBACKS),
    ("end_turn", "session keys settle at the end of a turn", drop("_session_keys.settle"), FIGURES),
    ("end_turn", "listeners get final transcripts", drop("_call_final_transcripts"), CALLBACKS),
    ("end_turn", "extractors run at the end of a turn", drop("_extract"), EXTRACTION),
    ("end_turn", "state settles before patterns see a turn", drop("settle.settle", number=1), PATTERNS),
    ("end_turn", "patterns see turns", drop("observe"), PATTERNS),
    ("end_turn", "state settles after patterns saw a turn", drop("settle.settle", number=2), PATTERNS),
    ("end_turn", "the phase advances at the end of a turn", drop("_advance", number=1), EXTRACTION),
    ("end_turn", "needs are evaluated", gives("_repair", "NO_REPAIR"), REPAIR),
    ("end_turn", "state settles before the model is steered", drop("settle.settle", number=3), STEERING),
    ("end_turn", "the phase advances when repair has escalated", drop("_advance", number=2), REPAIR),
    ("end_turn", "a soft turn leaves the model alone", decide("SOFT_TURN", True), SOFT),
    ("end_turn", "queued context goes out at the end of a turn", drop("_flush_context"), PHASES),
    ("end_turn", "the model is steered at the end of a turn", drop("_steer"), STEERING),
    ("end_turn", "on_turn_boundary", drop("control", "on_turn_boundary"), CALLBACKS),
    ("end_turn", "on_turn_complete", drop("control", "on_turn_complete"), CALLBACKS),
    ("end_turn", "turns are counted", leave_out("turn_count"), SOFT),
    ("end_turn", "the count of turns is in the state", drop("state.set"), SOFT),
    ("end_tool", "successes and failures of tools are counted", drop("on_tool_ended"), TOOLS),
    ("end_tool", "tool calls are in the transcript", drop("add_tool_call"), TOOLS),
    ("end_tool", "patterns see tools", drop("observe"), PATTERNS),
    (
        "end_tool",
        "state settles when a tool has ended",
        each(drop("settle.settle", number=1), drop("observe"), drop("settle.settle", number=1)),
        WATCHERS,
    ),
    ("end_tool", "the phase advances before a tool's answer", drop("_advance"), PHASES),
    ("end_tool", "the model is steered before a tool's answer", drop("_steer"), PHASES),
    ("end_tool", "a tool's answer is sent", drop("_tools.give"), TOOLS),
    ("end_tool", "extractors run after a tool call", drop("_extract"), EXTRACTION),
    ("complete_generation", "extractors run when the model has finished generating", drop("_extract"), EXTRACTION),
    ("complete_generation", "on_generation_complete", drop("call_listeners"), CALLBACKS),
    ("_extract", "the end of a turn waits a moment for extractors", drop("drain"), STEERING),
    ("_on_extracted", "what extractors found is used", drop("put"), EXTRACTION),
    ("_after_extraction", "on_extracted", drop("control"), CALLBACKS),
    ("_after_extraction", "late findings move the conversation", drop("reevaluate"), EXTRACTION),
    ("_after_failure", "on_extraction_error", drop("control"), CALLBACKS),
    ("pass_time", "patterns see time", drop("observe"), PATTERNS),
    ("reevaluate", "what the program writes moves the conversation", decide("may_advance", False), PHASES),
    ("request_phase", "the program moves the conversation", gives("put", "True"), PHASES),
    ("move", "the model is steered after a requested move", drop("_steer"), PHASES),
    ("_follow", "extractors run when a phase was entered", drop("_extract"), EXTRACTION),
    ("on_entered", "needs are counted anew in a new phase", drop("needs.reset"), REPAIR),
    ("_repair", "progress ends an escalation", drop("_remove"), REPAIR),
    ("_repair", "an escalation is in the state", drop("state.set", "ESCALATION"), REPAIR),
)

ORCHESTRATOR = rows(
    "orchestrator",
    "Orchestrator",
    ("_connect", "subscribers get events", drop("subscribe", "subscribers.push"), HANDLE),
    ("_connect", "session keys follow events", drop("subscribe", "session_keys.on_event"), FIGURES),
    ("_connect", "listeners of events are called", drop("subscribe", "_queue_listeners"), CALLBACKS),
    ("begin", "a saved session is restored", gives("restore", "False"), PERSISTENCE),
    ("begin", "everything is computed at the beginning", drop("settle.begin"), WATCHERS),
    ("begin", "callbacks take part in the setup's instruction", drop("prepare_setup"), STEERING),
    ("begin", "figures are reported in time", drop("timers.begin"), FIGURES),
    ("_on_agent_returned", "a tool hands over", drop("handoff.request"), HANDING_OVER),
    ("close", "on_teardown", gives("control", "asyncio.sleep(0)", "on_teardown"), CALLBACKS),
    ("close", "a session is saved at its end", gives("autosave.close", "asyncio.sleep(0)"), PERSISTENCE),
    ("_on_turn_started", "the beginning of a turn is a step", drop("put"), TOOLS),
    ("_on_phase_entered", "guards are read on entering", drop("schedule_refresh"), INSPECTION),
    (
        "_on_turn_completed",
        "guards that read the time are read at the end of a turn",
        drop("guards.on_turn_ended"),
        INSPECTION,
    ),
    ("_on_turn_completed", "the end of a turn is a step", drop("put"), STEERING),
    ("_on_turn_completed", "a phase waits for the turn's end", drop("operator.on_turn_ended"), OPERATOR),
    ("_queue_listeners", "on_interrupted", drop("callbacks.start", "on_interrupted"), CALLBACKS),
    ("_queue_listeners", "the end of generating is a step", drop("put", "generation complete"), EXTRACTION),
    ("_queue_listeners", "on_go_away", drop("put", "go away"), CALLBACKS),
    ("_queue_listeners", "on_disconnected", drop("put", "disconnected"), CALLBACKS),
    ("_queue_listeners", "on_error", drop("put", "error"), CALLBACKS),
    ("cancel_call", "the server's cancellation reaches the tool", drop("tools.cancel"), TOOLS),
    ("cancel_call", "on_tool_cancelled", drop("put"), CALLBACKS),
    ("_on_turn_done", "a turn is measured", drop("report_turn"), FIGURES),
    ("_on_turn_done", "a session is saved after a turn", drop("save"), PERSISTENCE),
    ("_go_to_phase", "rules move the conversation", gives("request_phase", "None"), REACTOR),
    ("_on_notes_dropped", "dropped notes are counted", drop("on_notes_dropped"), FIGURES),
    ("_on_subscriber_left", "losses are reported when a subscriber leaves", drop("report_loss"), HANDLE),
    ("_on_agent_finished", "background agents are reported", drop("emit"), TOOLS),
)

DISPATCH = rows(
    "rules.dispatch",
    "RuleDispatcher",
    ("_perform", "what rules ask for is performed", drop("perform_reactions"), REACTOR),
    ("_perform", "reactions are reported", drop("_emit"), REACTOR),
    ("_perform", "rules replace the instruction", drop("_replace_instruction"), REACTOR),
    ("_is_possible", "a prompt waits for a pending answer", decide("_is_floor_taken", False), PROMPTS),
    ("_is_possible", "a prompt that waited is asked about again", drop("_on_prompt_withheld"), PROMPTS),
)

HOST = rows(
    "agent.host",
    "SessionHost",
    ("is_answer_pending", "a prompt waits for queued sound", decide("playing", False), PROMPTS),
    ("is_answer_pending", "a prompt waits for an answer that is owed", decide("is_answering", False), PROMPTS),
    ("take_soft_turn", "soft turns end the turn", drop("_perform"), SOFT),
    ("note_prompt", "a prompt is an answer owed", drop("_perform"), HANDLE),
)

STATE_EVENTS = rows(
    "agent.state_events",
    "StateEvents",
    ("__init__", "changes of state are noticed", drop("on_mutations"), WATCHERS),
    ("publish", "parts get changes of state", no_rounds("on_changes"), REACTOR),
    ("publish", "changes call for decisions", drop("on_unsettled"), WATCHERS),
)

FAULT_REPORTS = rows(
    "agent.faults",
    "FaultReporter",
    ("callback", "faults of listeners are reported", drop("code"), FAULTS),
    ("callback", "slow callbacks are reported", drop("_emit"), CALLBACKS),
    ("rule", "faults of rules are reported", drop("code"), REACTOR),
    ("effect", "faults of effects are reported", drop("code"), REACTOR),
    ("tool", "faults of formatters are reported", drop("code"), FAULTS),
)

INPUT_TIMES = rows(
    "agent.input_times",
    "InputTimes",
    ("_on_voice", "a voice begins before its words", drop("_mark"), CONSENT),
    ("on_activity", "the client's activity begins before its words", drop("_mark"), CONSENT),
    ("_on_refused", "a refused text is forgotten", drop("on_text_sent"), CONSENT),
    ("_on_turn_completed", "an answer ends a noise", drop("_end_voice"), CONSENT),
    ("_on_connection_closed", "a voice ends with its connection", drop("_end_voice"), CONSENT),
)

OBSERVER = rows(
    "agent.event_observer",
    "EventObserver",
    ("_react_to_changes", "rules get changes of state", drop("react"), REACTOR),
    ("_ask_rules", "rules get events", drop("react"), REACTOR),
    ("_show_patterns", "patterns see events", drop("put"), PATTERNS),
    ("_on_words", "the user's words are in the transcript", drop("add_input"), TRANSCRIPT),
    ("_on_words", "the model's words are in the transcript", drop("add_output"), TRANSCRIPT),
    ("_on_words", "words of a cut answer are kept apart", argument("add_output", "cut", None), TRANSCRIPT),
    ("_on_words", "the model's first words end a latency", drop("first_model_frame"), FIGURES),
    ("_on_words", "words end the wait for a soft turn", drop("on_model_responded"), SOFT),
    ("_on_words", "on_input_transcript, pieces", drop("_call", "on_input_transcript"), CALLBACKS),
    ("_on_words", "on_output_transcript, pieces", drop("_call", "on_output_transcript"), CALLBACKS),
    ("_on_words", "on_thought", drop("_call", "on_thought"), CALLBACKS),
    ("_on_words", "on_text", drop("_call", "on_text"), CALLBACKS),
    ("_on_text_sent", "typed text is in the transcript", drop("add_input"), TRANSCRIPT),
    ("_on_text_sent", "typed text was said when it was typed", argument("add_input", "said_at", "10**9"), CONSENT),
    ("_on_text_sent", "typed text begins a latency", drop("text_sent"), FIGURES),
    ("_on_text_sent", "on_input_transcript, typed", drop("_call"), CALLBACKS),
    ("_on_turn_started", "a turn begins in the transcript", drop("begin_turn"), TRANSCRIPT),
    ("_on_turn_started", "a turn begins in the figures", drop("turn_started"), FIGURES),
    ("_on_turn_completed", "a turn ends in the transcript", drop("end_turn"), TRANSCRIPT),
    ("_on_turn_completed", "a turn ends in the figures", drop("turn_completed"), FIGURES),
    ("_on_turn_completed", "on_text_complete", drop("_call"), CALLBACKS),
    ("_on_turn_completed", "rules get soft turns", drop("react"), SOFT),
    ("_on_turn_completed", "timers get the end of a turn", drop("on_turn_completed"), SOFT),
    ("_on_turn_interrupted", "an interruption is in the transcript", drop("transcript.interrupted"), TRANSCRIPT),
    ("_on_turn_interrupted", "an interruption is in the figures", drop("telemetry.interrupted"), FIGURES),
    ("_on_playback", "playback is in the figures", drop("on_playback_started"), FIGURES),
    ("_on_playback", "rules get the beginning of playback", drop("react", "PlaybackStarted"), REACTOR),
    ("_on_playback", "rules get the end of playback", drop("react", "has_prompt"), REACTOR),
    ("_on_voice", "voice begins a turn in the figures", drop("voice_started"), FIGURES),
    ("_on_voice", "the end of voice begins a latency", drop("voice_ended", "server_vad"), FIGURES),
    ("_on_voice", "on_vad_start and on_vad_end", drop("_call"), CALLBACKS),
    ("on_user_speech", "rules know who has the floor", drop("react"), REACTOR),
    ("on_session_state", "on_phase", drop("_call"), CALLBACKS),
    ("_on_usage", "tokens are in the figures", drop("telemetry.usage"), FIGURES),
    ("_on_usage", "on_usage", drop("_call"), CALLBACKS),
)

TIMERS = rows(
    "agent.timers",
    "Timers",
    ("on_voice", "voice ends the wait for a soft turn", drop("voice_started"), SOFT),
    ("on_voice", "the end of voice begins the wait for a soft turn", drop("voice_ended"), SOFT),
    ("on_turn_completed", "a soft turn is reported", drop("emit"), SOFT),
    ("report_losses", "losses are reported at the end", drop("_reporter.report_losses"), HANDLE),
    ("_report_patterns", "equal progress is not repeated", decide("progress", True), INSPECTION),
    ("_report_patterns", "patterns that time moves are read again", leave_out("_patterns_due", number=2), INSPECTION),
    ("_run_what_is_due", "a soft turn is taken", drop("take_soft_turn"), SOFT),
    ("_run_what_is_due", "totals are reported in time", drop("report_totals"), FIGURES),
    ("_run_what_is_due", "dropped notes are reported after a moment", drop("_report_notes"), FIGURES),
    ("_run_what_is_due", "progress of patterns is reported", drop("_report_patterns"), INSPECTION),
    ("_run_what_is_due", "rules get time", drop("react"), REACTOR),
    ("_run_what_is_due", "patterns get time", drop("put"), PATTERNS),
)

REPORTER = rows(
    "agent.metrics_reporter",
    "MetricsReporter",
    ("report_turn", "losses are reported with a turn", drop("report_losses"), HANDLE),
    ("report_totals", "totals are published", drop("emit"), FIGURES),
    ("report_totals", "losses are reported with the totals", drop("report_losses"), HANDLE),
    ("report_loss", "losses are published", drop("emit"), HANDLE),
)

SETTLE = rows(
    "agent.settle_engine",
    "SettleEngine",
    ("copy", "previews leave the watchers' memory alone", gives("watchers.copy", "self.watchers"), OPERATOR),
    ("copy", "previews leave the patterns' memory alone", gives("temporal.copy", "(self.temporal, [])"), OPERATOR),
    ("copy", "unsettled changes count in previews", argument("track", 0, None), OPERATOR),
    ("settle", "affected values are computed again", drop("_report", "changed"), WATCHERS),
    ("settle", "watchers are evaluated", argument("evaluate", 0, "{}"), WATCHERS),
    ("settle", "near misses are reported", drop("_emit", "_missed_event"), WATCHERS),
    ("settle", "muted firings are reported", drop("_emit", "_fired_event"), WATCHERS),
    ("settle", "watchers fire", drop("_fire"), WATCHERS),
    ("settle", "patterns see state", drop("observe"), PATTERNS),
    ("settle", "a loop of watchers is broken", assign("rest", "{}"), WATCHERS),
    ("observe", "patterns fire", drop("_fire_pattern"), PATTERNS),
    ("observe", "progress of patterns is read after events", drop("on_patterns_shown"), INSPECTION),
    ("force", "watchers that the operator fired are reported", drop("_emit"), OPERATOR),
    ("force", "watchers that the operator fires act", drop("_act"), OPERATOR),
    (
        "_is_too_often",
        "a watcher that sets itself off rests",
        instead_of("MAX_PER_S", "3 * MAX_PER_S", number=3),
        WATCHERS,
    ),
    ("_fire", "watchers that fired are reported", drop("_emit", number=2), WATCHERS),
    ("_fire_pattern", "patterns that fired are reported", drop("_emit"), PATTERNS),
    ("_report", "faults of computed values are reported", drop("failed"), WATCHERS),
)

PHASE_RUNNER = rows(
    "agent.phase_runner",
    "PhaseRunner",
    ("_evaluate", "a blocked phase is reported", drop("_emit"), PHASES),
    ("_evaluate", "preparations run", no_rounds("preparations"), PHASES),
    ("carry_out", "on_exit", never("RunExit"), PHASES),
    ("carry_out", "an entered phase is reported", drop("_emit"), PHASES),
    ("carry_out", "keys are cleared on entering", never("ClearKeys"), PHASES + " " + PREVIEWS),
    ("carry_out", "what is presented is marked", never("MarkPresented"), PHASES + " " + OPERATOR),
    ("_mark_presented", "what is presented again is marked anew", drop("remove"), CONSENT),
    ("carry_out", "on_enter", never("RunEnter"), PHASES),
    ("carry_out", "on_enter_context", never("GatherContext"), PHASES),
    ("carry_out", "the phase is in the state", never("ResolveInstruction"), PHASES + " " + OPERATOR),
)

STEERING_RUNNER = rows(
    "agent.steering_runner",
    "SteeringRunner",
    ("replace_instruction", "the program's instruction reaches the model", drop("put"), STEERING),
    ("on_connected", "a new connection knows nothing", drop("forget"), RECONNECTING),
    ("on_connected", "what waits for an old connection is withdrawn", drop("withdraw"), VIEW),
    ("_note_told", "context that has left the queue is confirmed", drop("confirm_context"), VIEW),
    ("_current_input", "a need that is met ends its nudge", decide("issuperset", True), REPAIR),
    ("on_connected", "what a setup carried is confirmed", drop("confirm_setup"), STEERING),
    ("on_entered", "a phase's words are part of the setup", leave_out("_unsent"), DEFERRED),
    ("_send", "context waits where it does not travel", drop("_defer"), DEFERRED),
    ("_send", "context is sent", drop("perform"), STEERING),
    ("_send", "what was sent is confirmed", drop("confirm"), STEERING),
    ("arm_prompt", "a prompt is armed", drop("context_queue.arm_prompt"), STEERING),
    ("arm_prompt", "rules get armed prompts", drop("react"), STEERING),
    ("_reconnect", "a new connection is made for a new instruction", drop("reconnect"), STEERING),
    ("_instruct", "the instruction is updated", drop("perform"), STEERING),
    ("_instruct", "instructions are counted", drop("_count", number=1), BOUNDS),
    ("_instruct", "instructions of phases are counted", drop("_count", number=2), BOUNDS),
    ("_send", "context is counted", drop("_count"), BOUNDS),
    ("flush", "a typed text follows the newest instruction", drop("_instruct"), BOUNDS),
    ("flush", "a typed text follows the newest context", drop("_send"), BOUNDS),
    ("_within_pace", "words of entering wait with other context", drop("_keep"), BOUNDS),
    ("_steer_later", "the newest instruction is sent in the end", drop("put"), BOUNDS),
    ("_input", "instruction_template", leave_out("_template"), STEERING),
    ("_input", "instruction_amendment", leave_out("_amendment"), STEERING),
    ("_current_input", "modifiers of every phase", assign("modifiers", "()", number=1), PHASES),
    ("_current_input", "modifiers of the phase", leave_out("modifiers", number=2), PHASES),
    ("_current_input", "the tools of the phase are told", leave_out("tools", number=2), PHASES),
)

TOOL_EXECUTOR = rows(
    "agent.tool_executor",
    "ToolExecutor",
    ("on_calls", "tool calls pass the gate", drop("put"), TOOLS),
    ("on_outcome", "the program answers for a tool", decide("override", False), TOOLS),
    ("on_calls", "a notification runs no tool with effects", assign("by_notification", "False"), NOTIFICATIONS),
    ("_gate", "a notification lets the model queue no other", decide("_is_for_users_only", False), TIMED),
    ("_gate", "the allow-list", decide("_is_allowed", True), PHASES),
    ("_gate", "on_tool_call", gives("tool_overrides", "{}"), TOOLS),
    ("_start", "background calls are acknowledged", drop("acknowledge"), TOOLS),
    ("_start", "no tool runs without being started", drop("dispatcher.start"), TOOLS),
    ("answer", "before_tool_response", gives("tool_responses", "[response]"), TOOLS),
    ("answer", "a dropped answer is reported", drop("_listener", "before_tool_response dropped"), TOOLS),
)

AUTOSAVE = rows(
    "agent.autosave",
    "Autosave",
    ("_take_up", "the state is restored", gives("restore_state", "()"), PERSISTENCE),
    ("_take_up", "the transcript is restored", leave_out("transcript"), PERSISTENCE),
    ("_take_up", "the count of turns is restored", leave_out("turn_count"), PERSISTENCE),
    ("_take_up", "the phase is restored", gives("_phase_goes_on", "False"), PERSISTENCE),
    ("_take_up", "needs are restored", drop("needs.restore"), PERSISTENCE),
    ("_take_up", "the server's session is resumed", drop("resume_with"), PERSISTENCE),
    ("_take_up", "steering is restored", drop("_steering.restore"), STEERING),
    ("_take_up", "an agent began anew", leave_out("agent.told_from"), DEAD_HANDOFFS),
    ("_on_connected", "a hand-off that waited is made", drop("request_handoff"), DEAD_HANDOFFS),
    ("_take", "the phase is saved", argument("take", "phases", "None"), PERSISTENCE),
    ("_take", "the handle is saved", argument("take", "handle", "''"), PERSISTENCE),
    ("_on_saved", "saving is reported", drop("emit"), STEERING),
)

GUARD_MONITOR = rows(
    "agent.guard_monitor",
    "GuardMonitor",
    ("on_state_changes", "guards are read after changes", drop("schedule_refresh"), INSPECTION),
    ("on_state_changes", "functions are read after any change", decide("_has_functions", False), INSPECTION),
    ("refresh", "another phase has other keys", decide("machine.current", "not self._phase", number=1), INSPECTION),
    ("refresh", "equal readings are not repeated", decide("_published", True), INSPECTION),
    ("refresh", "readings are published", drop("_emit"), INSPECTION),
)

TURN_TAKING = (
    *rows(
        "core.turn_detection",
        "TurnDetectionChanges",
        ("accept", "the connection is renewed for another setup", drop("append", "RenewConnection"), TURNS),
        ("leave", "a turn ends before another detector takes over", drop("apply_microphone"), TURNS),
        ("take", "the microphone's input follows the options", drop("append", "ApplyTurnOptions"), TURNS),
        ("take", "by hand the microphone waits for its switch", instead_of("begins_by_hand", "False", 1), TURNS),
    ),
    *rows(
        "io.connections",
        "ConnectionManager",
        ("_one", "a change takes effect with a connection", drop("turns.take"), TURNS),
        ("_one", "a change that came while connecting is made", drop("renew"), TURNS),
    ),
    *rows(
        "io.live_session",
        "LiveSession",
        ("run", "who finds the turns is told", drop("publish"), TURNS),
    ),
    *rows(
        "io.session_commands",
        "SessionCommands",
        ("_set_options", "a change takes effect on the present connection", drop("detection.take"), TURNS),
    ),
    *rows(
        "io.user_turns",
        "UserTurns",
        ("apply_options", "the delay is that of the options", drop("set_delay"), TURNS),
        ("filter", "our own detector decides", decide("_activity", True, 1), CLIENT),
        ("_on_pause", "the model is asked about a pause", drop("ask"), PAUSES),
        ("_on_prediction", "a pause in which more is expected lasts longer", drop("expect_more"), PAUSES),
        ("_on_prediction", "a failing model is reported", drop("code.failed"), PAUSES),
        ("_mark_end", "rules get committed speech", drop("on_user_speech"), CLIENT),
        ("_mark_end", "commits begin a latency", drop("committed"), CLIENT),
        ("_end", "the agent sees a turn that has ended", decide("hook", True), ENDS),
        ("_complete", "the agent drops a turn", drop("_clear"), ENDS),
        ("_settle", "context goes out with the turn", drop("send_context"), ENDS),
        ("_settle", "what was said meanwhile is the next turn", drop("_release"), ENDS),
        ("commit", "a commit ends our detector's turn", drop("finish"), ENDS),
        ("commit", "a commit closes the microphone", drop("_perform"), ENDS),
        ("clear", "both commands need turns that end here", drop("_check_ours"), ENDS),
    ),
    *rows(
        "core.turn_detection",
        "TurnDetectionChanges",
        ("clear", "the server forgets a cleared turn", drop("append", "LeaveConnection"), ENDS),
        ("clear", "a handle that knows the turn is given up", drop("forget_handle"), ENDS),
        ("clear", "what was said is not sent again", drop("audio.take"), ENDS),
        ("clear", "a cleared turn ends", drop("close_turn"), ENDS),
    ),
    *rows(
        "agent.event_observer",
        "EventObserver",
        ("_on_turn_completed", "a cleared turn is not told anew", drop("discard_input"), ENDS),
    ),
    *rows(
        "io.effect_performer",
        "EffectPerformer",
        ("_send", "a typed text does not wait for the hook", drop("settle_now"), ENDS),
    ),
    *rows(
        "definition.setup",
        "",
        ("setup_of", "the server's detector is set", argument("replace", "realtime_input_config", "None"), TURNS),
    ),
)

INPUT = rows(
    "io.audio_input",
    "AudioInput",
    ("_pass_on", "context goes out ahead of audio", decide("has_context", False), STEERING),
    ("on_microphone", "closing the microphone ends the activity", drop("finish"), CLIENT),
)

BUS = rows(
    "ports.event_bus",
    "EventBus",
    ("publish", "changes of state are published before what follows", drop("publish_state"), HANDLE),
    ("publish", "parts see events", no_rounds("handlers"), STEERING),
)

SESSION_COMMANDS = rows(
    "io.session_commands",
    "SessionCommands",
    ("make_router", "the operator's commands are carried out", drop("_orchestrator.register"), OPERATOR),
)

EFFECTS = rows(
    "io.effect_performer",
    "EffectPerformer",
    ("perform", "a call begins before its cancellation", drop("on_calls", number=1), TRANSCRIPT),
    ("perform", "the server's cancellation is passed on", drop("cancel_call"), TOOLS),
    ("perform", "tools run", drop("on_calls", number=2), TOOLS),
    ("_send", "context goes out ahead of typed text", decide("has_context", False), STEERING),
    ("_play", "the model's sound is counted and passed on", drop("_tap"), CALLBACKS),
)

LIVE_SESSION = rows(
    "io.live_session",
    "LiveSession",
    ("run", "an agent is described", drop("emit", "describe"), INSPECTION),
    ("run", "losses are reported before the end", drop("report_losses"), HANDLE),
    ("_finish", "subscriptions end with the session", drop("subscribers.end"), HANDLE),
    (
        "_wind_up",
        "the agent ends with the session",
        instead_of("orchestrator.close", "self._connections.hang_up"),
        PERSISTENCE,
    ),
)

CONNECTIONS = rows(
    "io.connections",
    "ConnectionManager",
    ("__init__", "a connection is left when the server says so", drop("subscribe", number=1), RECONNECTING),
    ("__init__", "a held agent's silence is no fault", drop("subscribe", number=2), WATCHDOGS),
    ("__init__", "latencies of answers are watched", drop("subscribe", number=3), WATCHDOGS),
    ("__init__", "a dead socket is noticed soon while the user waits", drop("subscribe", number=4), WATCHDOGS),
    ("_on_pong", "a pong is a sign of life", drop("_link.on_pong"), WATCHDOGS),
    ("leave", "a silent server is left", drop("_leave", number=2), WATCHDOGS),
    ("leave", "an old connection is left", drop("_depart"), WATCHDOGS),
    ("_measure", "a dead socket is left", drop("_leave"), WATCHDOGS),
    ("_on_fault", "a fault of ours is told", gives("faults.internal", "''"), SUPERVISION),
    ("move_now", "a fresh server session knows nothing", drop("forget_handle"), HANDING_OVER),
    ("move_now", "the old connection is left at once", drop("_leave"), HANDING_OVER),
    ("run", "the agent begins before the connection", drop("_orchestrator.begin"), PHASES),
    ("_one", "a session is resumed", assign("handle", "''"), RECONNECTING),
    ("_open", "a setup carries the present instruction", gives("instruction_for_setup", "''"), PHASES),
    ("_read", "what an old connection says is not heard", decide("_is_unheard", False), HANDING_OVER),
    ("_one", "the agent learns of a connection", drop("lifecycle.on_connected"), PHASES),
)

LIVE_HANDLE = rows(
    "io.handle",
    "LiveHandle",
    ("send_video", "a picture makes the budget that of video", drop("mark_video_sent"), FIGURES),
    ("user_speech_started", "the program reports that the user speaks", drop("on_user_speech"), REACTOR),
    ("user_speech_ended", "the program reports that the user has spoken", drop("on_user_speech"), REACTOR),
    ("playback_drained", "the program reports that all was played", drop("react"), HANDLE),
)

PLAN = rows(
    "definition.plan",
    "SessionPlan",
    ("make_state", "initial values are published", drop("on_mutations"), INSPECTION),
)

COMMANDS = rows(
    "control.operator_commands",
    "OperatorCommands",
    ("_read", "computed keys are not edited", decide("inputs", False), OPERATOR),
    ("_read", "the session's own keys are not edited", decide("READ_ONLY_KEYS", False), OPERATOR),
    ("_publish", "edits by hand are reported", drop("emit"), OPERATOR),
    ("_go", "a move that is replaced is refused", drop("_refuse"), OPERATOR),
    ("_go", "a phase waits while a turn goes on", decide("turn_open", False), OPERATOR),
    ("switch_watcher", "muting is reported", drop("emit"), OPERATOR),
    ("_set_instruction", "the new instruction is described", drop("emit"), OPERATOR),
)

PREVIEW_RUNNER = rows(
    "control.preview_runner",
    "PreviewRunner",
    ("run", "previews are limited in number", decide("MAX_THREADS", False), OPERATOR),
    ("_run_in_thread", "previews are limited in time", argument("wait", "timeout", "None"), OPERATOR),
)

PREVIEW = rows(
    "control.preview",
    "",
    ("preview_edit", "an edit's consequences settle in previews", drop("settle", number=1), PREVIEWS),
    ("preview_edit", "the next phase is previewed", gives("advance", "''"), PREVIEWS),
    ("preview_edit", "what follows the next phase is previewed", drop("settle", number=2), PREVIEWS),
    ("preview_edit", "patterns see previewed events", drop("show_events"), PREVIEWS),
    ("preview_phase", "a previewed move is carried out", drop("enter"), OPERATOR),
    ("ActionRecorder.failed", "what fails in a preview is named", leave_out("unknown"), OPERATOR),
)

RELOAD = rows(
    "control.hot_reload",
    "HotReload",
    ("begin", "files are checked while nobody talks", argument("call_later", 0, "1e9"), RELOADING),
    ("_look", "files are not checked while a turn goes on", decide("turn_open", True), RELOADING),
    ("_reload", "a reload in a turn waits", decide("turn_open", False), RELOADING),
    ("on_turn_ended", "a reload that waits is carried out", decide("_is_wanted", False), RELOADING),
    ("_adopt", "what cannot be used is rolled back", drop("roll_back", number=2), RELOADING),
    ("_adopt", "transitions are evaluated after a reload", drop("reevaluate"), RELOADING),
    ("_prepare", "tools are declared anew", drop("reconnect"), RELOADING),
    ("_merge", "the operator's instruction stays", leave_out("kept", number=2), RELOADING),
)

ADOPTION = rows(
    "agent.adoption",
    "AgentAdoption",
    ("adopt", "the instruction that was read is used", leave_out("agent.plan"), RELOADING),
    ("adopt", "declared keys are replaced", drop("redeclare"), RELOADING),
    ("adopt", "new initial values are set", drop("state.set"), RELOADING),
    ("adopt", "tools are replaced", drop("_tools.replace"), RELOADING),
    ("adopt", "callbacks are replaced", drop("_callbacks.replace"), RELOADING),
    ("adopt", "rules are replaced", drop("_reactor.replace"), RELOADING),
    ("adopt", "extractors are replaced", drop("_extraction.replace"), RELOADING),
    ("adopt", "watchers and computed values are replaced", drop("_settle.replace"), RELOADING),
    ("adopt", "new rules get time", drop("redefine"), RELOADING),
    ("adopt", "the agent is described anew", drop("emit"), RELOADING),
    ("_replace_phases", "phases are replaced", drop("phases.replace"), RELOADING),
    ("_replace_phases", "guards are read anew", drop("guards.replace"), RELOADING),
    ("_replace_phases", "an agent without phases shows none", drop("withdraw"), HANDING_OVER),
)

LIFECYCLE = rows(
    "agent.lifecycle",
    "AgentLifecycle",
    ("enter_first_phase", "the initial phase is entered", each(drop("phases.begin"), drop("on_entered")), PHASES),
    ("setup_text", "deferred context is part of a setup", gives("with_instruction", "instruction"), DEFERRED),
    ("on_connected", "steering knows what a setup carried", drop("_steering.on_connected"), STEERING),
    ("on_connected", "the writer knows what a setup carried", drop("confirm_setup"), DEFERRED),
    ("_recall", "a new connection gets the conversation so far", decide("so_far", False), RECONNECTING),
    ("_begin_speaking", "the model is steered when a connection is ready", drop("steer"), PHASES),
    ("_begin_speaking", "typed texts are released", drop("release"), STEERING + " " + RECONNECTING),
    ("_begin_speaking", "the greeting", drop("arm_prompt"), STEERING),
    ("_begin_speaking", "hooks of an agent that begins are run", drop("spawn_hook"), HANDING_OVER),
    ("_begin_speaking", "a class knows its session", drop("owner.attach"), HANDING_OVER),
    ("arrive", "the phases of another agent are entered", drop("on_entered"), HANDING_OVER),
    ("leave", "hooks of an agent that is left are run", drop("_code.run"), HANDING_OVER),
    ("_greet", "on_connected", drop("control", "on_connected"), CALLBACKS),
    ("_greet", "on_resumed", drop("control", "on_resumed"), CALLBACKS),
)

HANDING = rows(
    "agent.handoff",
    "HandoffRunner",
    ("_wait", "the model finishes speaking", gives("host.until", "asyncio.sleep(0)"), HANDING_OVER),
    ("_hand_over", "the agent that speaks is left", drop("_leave_taking.leave"), HANDING_OVER),
    ("_request", "replies are given before a hand-off", drop("note_owed"), LAST_WORDS),
    ("_request", "the agent chooses what its model knows", leave_out("chat"), "fresh_chats"),
    ("_go_on", "an agent goes on after its task", drop("_request"), TASKS),
    ("close", "tasks fail at the end of the session", gives("_tasks.fail_all", "0"), TASKS),
)

TAKING_OVER = rows(
    "agent.takeover",
    "Takeover",
    ("enter_phases", "the other agent's phases are entered", gives("phases.begin", "asyncio.sleep(0)"), HANDING_OVER),
    ("put_in_place", "another connection carries the other agent", drop("host.move"), HANDING_OVER),
    ("put_in_place", "a hand-off is an event", drop("agent.emit"), HANDING_OVER),
    ("put_in_place", "chosen messages replace the talk", drop("replace_chat"), "fresh_chats"),
    ("prepare", "a paused agent goes on in its phase", drop("machine.restore"), TASKS),
)

CANCELLING = rows(
    "core.cancelled_speech",
    "CancelledSpeeches",
    ("tick", "a cancelled speech is given up", drop("give_up"), "cancelled_speeches"),
    ("tick", "what comes later is cut", leave_out("self._state.unwanted_until"), "cancelled_speeches"),
)

PRESENCE = (
    *rows(
        "core.state",
        "CoreState",
        ("flush", "tools keep the user from being away", instead_of("calls", "()"), USER_STATES),
        ("flush", "the time is the agent's", instead_of("user_away_timeout_s", "15.0"), USER_STATES),
    ),
    *rows(
        "core.commands",
        "CoreCommands",
        ("_send_text", "who types is there", drop("on_sign"), USER_STATES),
    ),
    *rows(
        "core.server_events",
        "ServerEvents",
        ("_on_user_text", "words bring the user back", drop("on_sign"), USER_STATES),
    ),
    *rows(
        "core.core",
        "SessionCore",
        ("deadline", "time alone makes the user away", drop("next_check", "presence"), USER_STATES),
    ),
)

EVENT_VIEWS = rows(
    "agent.event_views",
    "EventViews",
    ("on_event", "the user's words are added with the end of a turn", drop("_tell_user", number=2), EVENTS),
    ("on_event", "what was heard of a cut answer is added", drop("_tell_model", number=1), EVENTS),
    ("_on_word", "the same state is no change", decide("old", True), EVENTS),
    ("_tell_user", "the user's message is added once", decide("_told", False), EVENTS),
    ("_on_speech", "an answer is added when it was heard", drop("_tell_model"), EVENTS),
    ("_on_finished", "calls of one generation are told together", decide("batch", False), EVENTS),
) + rows(
    "io.listeners",
    "SessionListeners",
    ("publish", "events are read by iteration", drop("stream.push"), EVENTS),
    ("publish", "listeners are called", drop("call_soon"), EVENTS),
    ("_call", "a listener is called as the agent's code is", drop("code.call"), EVENTS),
    ("end", "iteration ends with the session", drop("stream.end"), EVENTS),
)

BARGE_IN = (
    *rows(
        "core.interruptions",
        "Interruptions",
        ("on_voice_over", "speech is paused", drop("state.out.append"), INTERRUPTIONS),
        ("on_words", "words are added up", leave_out("open_one.text"), INTERRUPTIONS),
        ("on_words", "words interrupt", drop("_interrupt"), INTERRUPTIONS),
        ("on_words", "few words do not interrupt", instead_of("_needed_words", "1"), INTERRUPTIONS),
        ("on_generation", "another answer interrupts", drop("_interrupt"), INTERRUPTIONS),
        ("on_too_short", "a short voice is told", drop("ignore_interruption"), INTERRUPTIONS),
        ("_let_go", "a false interruption is told", drop("ignore_interruption"), INTERRUPTIONS),
        ("_let_go", "the speech goes on", drop("end_barge_in"), INTERRUPTIONS),
        ("on_paused", "a pause is an event", drop("emit"), INTERRUPTIONS),
        ("_interrupt", "the turn that was cut is over", drop("close_turn"), INTERRUPTIONS),
    ),
    *rows(
        "core.state",
        "CoreState",
        ("change_voice", "a voice over a protected speech is told", drop("ignore_interruption"), INTERRUPTIONS),
        ("end_barge_in", "what is cut is not paused", drop("out.append"), INTERRUPTIONS),
        ("end", "nothing goes on at the end", leave_out("self.barge_in"), INTERRUPTIONS),
    ),
    *rows(
        "definition.setup",
        "",
        (
            "setup_of",
            "the server is told not to interrupt",
            argument("realtime_input", "interruptible", None),
            INTERRUPTIONS,
        ),
    ),
)

RUNS = rows(
    "io.agent_session",
    "AgentSession",
    ("run", "a run inside a run is refused", decide("_is_in_run", False), RUN),
) + rows(
    "agent.mock_tools",
    "",
    ("stand_in", "a mock is of one agent", decide("is_for", True), RUN),
)

HISTORY = rows(
    "agent.event_observer",
    "EventObserver",
    ("_on_agent", "the history begins with the first agent", drop("add_handoff", number=1), EVENTS),
    ("_on_agent", "hand-offs are in the history", drop("add_handoff", number=2), EVENTS),
)

AGENT_UPDATES = rows(
    "agent.agent_updates",
    "AgentUpdates",
    ("replace_tools", "tools are checked first", drop("_adoption.prepare"), CHANGED),
    ("replace_chat", "a new context replaces what was said", drop("agent.replace_chat"), CHANGED),
    ("replace_chat", "another connection is told of the context", drop("host.move"), CHANGED),
    ("close", "changes that wait fail at the end", drop("_fail"), CHANGED),
) + rows(
    "agent.adoption",
    "AgentAdoption",
    ("continue_with", "counts and mutes are kept", drop("continue_from", "_settle.watchers"), RELOADING),
    ("continue_with", "patterns go on", drop("continue_from", "_settle.temporal"), RELOADING),
    ("continue_with", "the phase goes on", drop("machine.restore"), CHANGED),
)

STEPS = (
    *rows(
        "core.tool_events",
        "ToolEvents",
        ("start", "rounds of calls are counted", drop("tool_steps.on_call"), TOOL_STEPS),
        ("start", "a call before the first word begins a speech", drop("tell_speeches"), "speeches"),
        ("acknowledge", "the answer of a background call ends a round", drop("on_answer"), TOOL_STEPS),
        ("finish", "an answer ends a round", drop("on_answer"), TOOL_STEPS),
    ),
    *rows("core.state", "CoreState", ("open_turn", "the user begins anew", drop("begin_again"), TOOL_STEPS)),
    *rows(
        "core.server_events", "ServerEvents", ("on_prompt_sent", "so does a prompt", drop("begin_again"), TOOL_STEPS)
    ),
    *rows(
        "agent.tool_executor",
        "ToolExecutor",
        ("_gate", "a further round is refused", decide("call.refusal", False), TOOL_STEPS),
    ),
)

DRAINING = (
    *rows(
        "core.core",
        "SessionCore",
        ("drain", "the microphone is closed while draining", drop("apply_microphone"), SESSIONS),
    ),
    *rows(
        "core.commands",
        "CoreCommands",
        ("_send_text", "no text is taken while draining", decide("is_draining", False), SESSIONS),
    ),
    *rows(
        "io.live_session",
        "LiveSession",
        (
            "_end_when_quiet",
            "a drain finishes what is owed",
            gives("until_quiet", "asyncio.sleep(0)", number=1),
            LAST_WORDS,
        ),
        (
            "_end_when_quiet",
            "a drain waits for last words",
            gives("until_quiet", "asyncio.sleep(0)", number=2),
            LAST_WORDS,
        ),
        ("_end_when_quiet", "a drain closes the session", drop("_perform"), SESSIONS),
    ),
    *rows(
        "io.agent_session",
        "AgentSession",
        ("_check_usable", "nothing is accepted while draining", decide("is_draining", False), SESSIONS),
        ("drain", "a tool does not wait for its own end", drop("check_may_wait"), SESSIONS),
    ),
)

BUDGET = (
    *rows(
        "core.connection_events",
        "ConnectionEvents",
        ("on_disconnected", "only what was asked counts as failed", decide("facts.owed", True), ERRORS),
        ("on_disconnected", "a spent budget is told", decide("schedule.is_spent", False), ERRORS),
        ("release", "instructions are told again", drop("_tell_instructions"), "asked_again"),
    ),
    *rows("core.state", "CoreState", ("on_answer_begun", "speaking resets failures", leave_out("failures"), ERRORS)),
    *rows("link.retry", "RetrySchedule", ("after", "a spent budget gives up", decide("is_spent", False), ERRORS)),
    *rows(
        "link.controller",
        "RealtimeSessionController",
        ("ask_to_connect", "who connects begins anew", leave_out("schedule.failures"), ERRORS),
    ),
    *rows(
        "core.commands",
        "CoreCommands",
        ("_adopt", "rules change in the session", drop("set_rules"), INTERRUPTIONS),
        ("_adopt", "changed rules are told", drop("emit"), INTERRUPTIONS),
        ("take_rules_of", "an agent has rules of its own", gives("with_own", "self._state.rules"), RULES),
    ),
    *rows(
        "core.speech_queue",
        "SpeechQueue",
        ("new", "answers are protected", leave_out("speech.allow_interruptions"), RULES),
    ),
    *rows(
        "core.state",
        "CoreState",
        ("set_rules", "answers are protected from now on", leave_out("speeches.allows_interruptions"), RULES),
        ("set_rules", "the number of failures changes", drop("link.limit_errors"), RULES),
    ),
)

SPOKEN_CONSENT = (
    *rows(
        "agent.spoken_question",
        "SpokenQuestion",
        ("_check", "the question has its own words", gives("has_asked", "True"), SPOKEN),
        ("on_playback", "the model speaks before the answer", drop("close"), SPOKEN),
        ("_follow", "other words follow the question", decide("_answers", False), SPOKEN),
        ("on_voice", "both speak at once", drop("close"), SPOKEN),
        ("on_words", "words have a voice", drop("close", "UNMARKED"), SPOKEN),
        ("on_words", "words come before the model speaks", drop("close", "MODEL_SPOKE"), SPOKEN),
        ("_answers", "an answer begins after the question", decide("one.began", True), SPOKEN),
        ("_due", "what goes on after a pause belongs to it", instead_of("CONTINUES_S", "0.1"), SPOKEN),
    ),
    *rows(
        "agent.voice_consent",
        "VoiceConsent",
        ("question_for", "a notification is not asked about aloud", decide("by_notification", False), SPOKEN),
        ("question_for", "the program answers", decide("by_program", False), SPOKEN),
        ("question_for", "a secret is not said", decide("redactor.text", True), SPOKEN),
        ("_why_unsafe", "user and model hear each other", decide("why_unheard", False), SPOKEN),
        ("_why_unsafe", "an echo may be the model", decide("_is_leaking", False), SPOKEN),
        ("_follow", "the canceller is proven", decide("_why_unproven", False), SPOKEN),
        ("_why_lost", "the loudspeaker's voice is none", decide("heard_itself", False), SPOKEN),
        ("begin", "the model need not wait for the call", drop("suspend_call"), SPOKEN),
        ("_after_speech", "it is asked again", drop("_ask_soon"), SPOKEN),
        ("end", "a question that waits is dropped", drop("_drop_speech"), SPOKEN),
        ("_ask", "the question calls no tool", leave_out("speech.uses_tools"), SPOKEN),
    ),
    *rows(
        "agent.consent",
        "ConsentGate",
        ("_on_listening", "the time begins anew", drop("renew"), SPOKEN),
        ("_on_voice_off", "nobody else answers", drop("_answer"), SPOKEN),
    ),
)

DELIVERY = rows(
    "agent.notification_delivery",
    "NotificationDelivery",
    ("begin", "files are looked at by themselves", drop("call_later"), NOTIFICATIONS),
    ("_on_poll", "the poll goes on", drop("call_later"), NOTIFICATIONS),
    ("_on_poll", "a time that came in the machine's sleep is noticed", drop("advance"), TIMED),
    ("on_cancelled", "a cancelled timer is told as such", drop("_tell"), TIMED),
    ("on_withheld", "a text for later says why it waits", drop("_tell"), NOTIFY),
    ("_on_presence", "a user who is away comes back", assign("_is_user_gone", "False", number=2), NOTIFY),
    ("_on_words", "words of the user end an absence", drop("_on_user_back"), NOTIFY),
    ("_record", "what another program has changed is read again", drop("self.look"), NOTIFICATIONS),
    ("_reason", "other speech comes first", decide("why_not_free", False), NOTIFICATIONS),
    ("_reason", "a short silence is awaited", decide("end", False), NOTIFICATIONS),
    ("_silences", "the answer to the user's voice is awaited", decide("_voice_ended", False), NOTIFICATIONS),
    ("advance", "a dormant session is woken", drop("wake"), NOTIFICATIONS),
    ("advance", "events say why one waits", drop("_tell_waiting"), NOTIFICATIONS),
    ("advance", "time alone goes on", drop("_schedule"), NOTIFICATIONS),
    ("advance", "changes are watched while one waits", drop("create_task"), NOTIFICATIONS),
    ("_on_speech", "a delivery is recorded", drop("_write"), NOTIFICATIONS),
    ("_on_speech", "a cut or dropped speech waits again", drop("call_soon"), NOTIFICATIONS),
    ("_on_done", "an answer to the user is no announcement", decide("_is_overtaken", False), NOTIFICATIONS),
    ("_on_done", "silence is no announcement", decide("steps", False), NOTIFICATIONS),
    ("_hear", "what was heard is acknowledged", drop("_write"), NOTIFICATIONS),
    ("_lose", "what was not heard waits again", drop("_write"), NOTIFICATIONS),
    ("_on_sign", "the user's answer lets the next one begin", drop("on_answered"), NOTIFICATIONS),
    ("_on_interrupted", "one that was heard whole is acknowledged", drop("_hear"), NOTIFICATIONS),
    ("_on_connection_closed", "the next connection is not asked again", drop("withdraw"), NOTIFICATIONS),
    ("close", "the next engine delivers", drop("_delivery.close"), NOTIFICATIONS),
)

MUTATIONS: tuple[Mutation, ...] = (
    *BUDGET,
    *STEPS,
    *BARGE_IN,
    *PRESENCE,
    *PIPELINE,
    *ORCHESTRATOR,
    *LIFECYCLE,
    *DISPATCH,
    *HOST,
    *STATE_EVENTS,
    *FAULT_REPORTS,
    *INPUT_TIMES,
    *OBSERVER,
    *TIMERS,
    *REPORTER,
    *SETTLE,
    *PHASE_RUNNER,
    *STEERING_RUNNER,
    *TOOL_EXECUTOR,
    *AUTOSAVE,
    *GUARD_MONITOR,
    *TURN_TAKING,
    *INPUT,
    *BUS,
    *LIVE_SESSION,
    *EFFECTS,
    *SESSION_COMMANDS,
    *CONNECTIONS,
    *LIVE_HANDLE,
    *PLAN,
    *COMMANDS,
    *PREVIEW_RUNNER,
    *PREVIEW,
    *RELOAD,
    *ADOPTION,
    *HANDING,
    *TAKING_OVER,
    *CANCELLING,
    *EVENT_VIEWS,
    *RUNS,
    *HISTORY,
    *AGENT_UPDATES,
    *DRAINING,
    *DELIVERY,
    *SPOKEN_CONSENT,
)
"""Every mutation."""
