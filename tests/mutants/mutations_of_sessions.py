"""List the mutations of turns, sound, connections and the end."""

from __future__ import annotations

from tests.mutants.edits import argument, assign, decide, drop, gives, instead_of, leave_out, no_rounds
from tests.mutants.rows import (
    BESIDE,
    CALLBACKS,
    CLIENT,
    ENDS,
    ERRORS,
    FIGURES,
    HANDING_OVER,
    HANDLE,
    INSPECTION,
    INTERRUPTIONS,
    LAST_WORDS,
    OPERATOR,
    PAUSES,
    PERSISTENCE,
    PHASES,
    REACTOR,
    RECONNECTING,
    RESUMED_TEXTS,
    RULES,
    SESSIONS,
    STATE,
    STEERING,
    SUBSCRIBERS,
    SUPERVISION,
    TOOL_STEPS,
    TOOLS,
    TRANSCRIPT,
    TURNS,
    USER_STATES,
    WATCHDOGS,
    rows,
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
        ("_one", "a change that came while connecting is made", drop("departure.renew"), TURNS),
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
        ("clear", "what was said is not sent again", drop("audio.forget_turn"), ENDS),
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
    ("_send", "context goes out ahead of audio", decide("has_context", False), STEERING),
    ("on_microphone", "closing the microphone ends the activity", drop("finish"), CLIENT),
)

BUS = rows(
    "ports.event_bus",
    "EventBus",
    ("publish", "changes of state are published before what follows", drop("publish_state"), STATE),
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
    ("run", "losses are reported before the end", drop("report_losses"), SUBSCRIBERS),
    ("_finish", "subscriptions end with the session", drop("subscribers.end"), SUBSCRIBERS),
    (
        "_wind_up",
        "the agent ends with the session",
        instead_of("_lifespan.close", "self._connections.hang_up"),
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
    ("_measure", "a dead socket is left", drop("departure.leave_at_once"), WATCHDOGS),
    ("_on_fault", "a fault of ours is told", gives("faults.internal", "''"), SUPERVISION),
    ("run", "the agent begins before the connection", drop("_begin"), PHASES),
    ("_one", "a session is resumed", assign("handle", "''"), RECONNECTING),
    ("_open", "a setup carries the present instruction", gives("instruction_for_setup", "''"), PHASES),
    ("_read", "what an old connection says is not heard", decide("is_unheard", False), HANDING_OVER),
    ("_one", "the agent learns of a connection", drop("lifecycle.on_connected"), PHASES),
)

DEPARTURE = rows(
    "io.departure",
    "Departure",
    ("leave", "a silent server is left", drop("leave_at_once", number=2), WATCHDOGS),
    ("leave", "an old connection is left", drop("_depart"), WATCHDOGS),
    ("move_now", "a fresh server session knows nothing", drop("forget_handle"), HANDING_OVER),
    ("move_now", "the old connection is left at once", drop("leave_at_once"), HANDING_OVER),
)

LIVE_HANDLE = rows(
    "io.handle",
    "LiveHandle",
    ("send_video", "a picture makes the budget that of video", drop("mark_video_sent"), FIGURES),
    ("user_speech_started", "the program reports that the user speaks", drop("on_user_speech"), REACTOR),
    ("user_speech_ended", "the program reports that the user has spoken", drop("on_user_speech"), REACTOR),
    ("playback_drained", "the program reports that all was played", drop("react"), HANDLE),
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
        "core.microphone",
        "",
        ("change_voice", "a voice over a protected speech is told", drop("ignore_interruption"), INTERRUPTIONS),
    ),
    *rows(
        "core.state",
        "CoreState",
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

STEPS = (
    *rows(
        "core.tool_events",
        "ToolEvents",
        ("start", "rounds of calls are counted", drop("tool_steps.on_call"), TOOL_STEPS),
        ("start", "a call before the first word begins a speech", drop("tell_speeches"), "speeches"),
        ("acknowledge", "the answer of a background call ends a round", drop("on_answer"), TOOL_STEPS),
        ("finish", "an answer ends a round", drop("on_answer"), TOOL_STEPS),
    ),
    *rows(
        "core.tool_calls",
        "CallLedger",
        ("begin", "a call of a non-blocking tool is not waited for", drop("_background.add"), BESIDE),
    ),
    *rows(
        "core.server_events",
        "ServerEvents",
        ("_turn_complete", "the telling of a result is expected", drop("_expect_result"), BESIDE),
        ("_server_interrupted", "an interruption does not take it back", drop("_expect_result"), BESIDE),
    ),
    *rows("core.state", "CoreState", ("open_turn", "the user begins anew", drop("begin_again"), TOOL_STEPS)),
    *rows(
        "core.server_events", "ServerEvents", ("on_prompt_sent", "so does a prompt", drop("begin_again"), TOOL_STEPS)
    ),
    *rows(
        "agent.tools.tool_executor",
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
    *rows(
        "core.settling",
        "",
        ("settle_unanswered", "a resumed server gets no text twice", decide("is_resumed", False), RESUMED_TEXTS),
        ("_ask", "it is asked once", drop("give_up_prompted"), RESUMED_TEXTS),
    ),
    *rows(
        "core.server_events",
        "ServerEvents",
        ("_ask_again", "an empty turn is not asked for twice", drop("give_up_prompted"), RESUMED_TEXTS),
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

MUTATIONS = (
    *BUDGET,
    *STEPS,
    *BARGE_IN,
    *PRESENCE,
    *TURN_TAKING,
    *INPUT,
    *BUS,
    *LIVE_SESSION,
    *EFFECTS,
    *SESSION_COMMANDS,
    *CONNECTIONS,
    *DEPARTURE,
    *LIVE_HANDLE,
    *DRAINING,
)
