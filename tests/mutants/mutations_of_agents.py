"""List the mutations of hand-offs, plans, previews, speech handles and tasks."""

from __future__ import annotations

from tests.mutants.edits import argument, assign, decide, drop, each, gives, instead_of, leave_out
from tests.mutants.rows import (
    CALLBACKS,
    CHANGED,
    DEFERRED,
    EVENTS,
    HANDING_OVER,
    INSPECTION,
    LAST_WORDS,
    NOTIFICATIONS,
    NOTIFY,
    OPERATOR,
    PHASES,
    PREVIEWS,
    RECONNECTING,
    RELOADING,
    RUN,
    SPOKEN,
    STEERING,
    TASKS,
    TIMED,
    WAITING_NOTIFICATIONS,
    rows,
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
    "agent.handover.adoption",
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
    "agent.handover.lifecycle",
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
    "agent.handover.handoff",
    "HandoffRunner",
    ("_wait", "the model finishes speaking", gives("host.until", "asyncio.sleep(0)"), HANDING_OVER),
    ("_hand_over", "the agent that speaks is left", drop("_leave_taking.leave"), HANDING_OVER),
    ("_request", "replies are given before a hand-off", drop("note_owed"), LAST_WORDS),
    ("_request", "the agent chooses what its model knows", leave_out("chat"), "fresh_chats"),
    ("_go_on", "an agent goes on after its task", drop("_request"), TASKS),
    ("close", "tasks fail at the end of the session", gives("_tasks.fail_all", "0"), TASKS),
)

TAKING_OVER = rows(
    "agent.handover.takeover",
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

EVENT_VIEWS = rows(
    "agent.listeners.event_views",
    "EventViews",
    ("on_event", "the user's words are added with the end of a turn", drop("_tell_user", number=2), EVENTS),
    ("on_event", "what was heard of a cut answer is added", drop("_tell_model", number=1), EVENTS),
    ("_on_word", "the same state is no change", decide("old", True), EVENTS),
    ("_tell_user", "the user's message is added once", decide("_told", False), EVENTS),
    ("_on_speech", "an answer is added when it was heard", drop("_tell_model"), EVENTS),
    ("_on_finished", "calls of one generation are told together", decide("batch", False, number=1), EVENTS),
) + rows(
    "io.listeners",
    "SessionListeners",
    ("publish", "events are read by iteration", drop("stream.push"), EVENTS),
    ("publish", "listeners are called", drop("call_soon"), EVENTS),
    ("_call", "a listener is called as the agent's code is", drop("code.call"), EVENTS),
    ("end", "iteration ends with the session", drop("stream.end"), EVENTS),
)

RUNS = rows(
    "io.agent_session",
    "AgentSession",
    ("run", "a run inside a run is refused", decide("_is_in_run", False), RUN),
) + rows(
    "agent.tools.mock_tools",
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
    "agent.handover.agent_updates",
    "AgentUpdates",
    ("replace_tools", "tools are checked first", drop("_adoption.prepare"), CHANGED),
    ("replace_chat", "a new context replaces what was said", drop("agent.replace_chat"), CHANGED),
    ("replace_chat", "another connection is told of the context", drop("host.move"), CHANGED),
    ("close", "changes that wait fail at the end", drop("_fail"), CHANGED),
) + rows(
    "agent.handover.adoption",
    "AgentAdoption",
    ("continue_with", "counts and mutes are kept", drop("continue_from", "_settle.watchers"), RELOADING),
    ("continue_with", "patterns go on", drop("continue_from", "_settle.temporal"), RELOADING),
    ("continue_with", "the phase goes on", drop("machine.restore"), CHANGED),
)

SPOKEN_CONSENT = (
    *rows(
        "agent.tools.spoken_question",
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
        "agent.tools.voice_consent",
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
        "agent.tools.consent",
        "ConsentGate",
        ("_on_listening", "the time begins anew", drop("renew"), SPOKEN),
        ("_on_voice_off", "nobody else answers", drop("_answer"), SPOKEN),
    ),
)

DELIVERY = rows(
    "agent.harness.notification_delivery",
    "NotificationDelivery",
    ("begin", "files are looked at by themselves", drop("call_later"), NOTIFICATIONS),
    ("_on_poll", "the poll goes on", drop("call_later"), NOTIFICATIONS),
    ("_on_poll", "a time that came in the machine's sleep is noticed", drop("advance"), TIMED),
    ("on_cancelled", "a cancelled timer is told as such", drop("tell"), TIMED),
    ("on_withheld", "a text for later says why it waits", drop("tell"), NOTIFY),
    ("_record", "what another program has changed is read again", drop("self.look"), NOTIFICATIONS),
    ("_reason", "other speech comes first", decide("why_not_free", False), WAITING_NOTIFICATIONS),
    ("advance", "a dormant session is woken", drop("wake"), NOTIFICATIONS),
    ("advance", "events say why one waits", drop("tell_waiting"), NOTIFICATIONS),
    ("advance", "time alone goes on", drop("_schedule"), NOTIFICATIONS),
    ("advance", "changes are watched while one waits", drop("create_task"), NOTIFICATIONS),
    ("_on_speech", "a delivery is recorded", drop("_write"), NOTIFICATIONS),
    ("_on_speech", "a cut or dropped speech waits again", drop("call_soon"), NOTIFICATIONS),
    ("_on_done", "an answer to the user is no announcement", decide("_is_overtaken", False), NOTIFICATIONS),
    ("_on_done", "silence is no announcement", decide("steps", False), NOTIFICATIONS),
    ("_hear", "what was heard is acknowledged", drop("_write"), NOTIFICATIONS),
    ("_lose", "what was not heard waits again", drop("_write"), NOTIFICATIONS),
    ("_on_turn_completed", "the user's answer lets the next one begin", drop("on_answered"), NOTIFICATIONS),
    ("_on_interrupted", "one that was heard whole is acknowledged", drop("_hear"), NOTIFICATIONS),
    ("_on_connection_closed", "the next connection is not asked again", drop("withdraw"), NOTIFICATIONS),
    ("close", "the next engine delivers", drop("_delivery.close"), NOTIFICATIONS),
)

SILENCE = rows(
    "agent.harness.silence",
    "Silence",
    ("awaited", "a short silence is awaited", decide("end", False), WAITING_NOTIFICATIONS),
    ("ends", "the answer to the user's voice is awaited", decide("_voice_ended", False), WAITING_NOTIFICATIONS),
)

WITHHELD = rows(
    "agent.harness.withheld_notifications",
    "Withheld",
    ("_on_presence", "a user who is away comes back", assign("_is_user_gone", "False", number=2), NOTIFY),
    ("_on_words", "words of the user end an absence", drop("_on_back"), NOTIFY),
)

MUTATIONS = (
    *LIFECYCLE,
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
    *DELIVERY,
    *SILENCE,
    *WITHHELD,
    *SPOKEN_CONSENT,
)
