"""Describe rows of mutations, and name the test files that notice them."""

from __future__ import annotations

from tests.mutants.edits import Edit
from tests.mutants.mutation import Mutation

BESIDE = "tools_beside_the_talk"
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
RESUMED_TEXTS = "texts_over_a_resumed_link"
RULES = "rules_of_an_agent"
INSPECTION = "inspection_in_a_session"
NOTIFICATIONS = "notifications_in_a_session"
WAITING_NOTIFICATIONS = "notifications_that_wait"
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
STATE = "state_in_a_session"
STEERING = "steering_on_the_wire"
SUBSCRIBERS = "subscribers_in_a_session"
SUPERVISION = "supervision_in_a_session"
TASKS = "inline_tasks"
TOOLS = "tools_in_a_session"
BACKGROUND_CALLS = "background_calls"
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
