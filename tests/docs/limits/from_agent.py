"""List limits of what comes from an agent."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, size

from gemini_live_runtime import json_schema, restarts, text
from gemini_live_runtime.conversation import chat, memory_text
from gemini_live_runtime.engine import hub, key_block, stdio
from gemini_live_runtime.harness import (
    consent_store,
    event_log,
    memory_store,
    record_files,
    store,
    task_restarts,
    task_store,
)
from gemini_live_runtime.session.agent import (
    answers_in_a_row,
    background_agents,
    event_observer,
    settle_engine,
    user_code,
)
from gemini_live_runtime.session.agent.handover import handoff
from gemini_live_runtime.session.agent.listeners import callback_runner
from gemini_live_runtime.session.core import connection_events, speech_queue
from gemini_live_runtime.session.definition import known_agents, workspace
from gemini_live_runtime.session.io import listeners
from gemini_live_runtime.session.outbound import context_queue, deferred_context
from gemini_live_runtime.session.persistence import stores
from gemini_live_runtime.session.rules import dispatch as rules_dispatch
from gemini_live_runtime.session.rules import executor
from gemini_live_runtime.state import temporal, values
from gemini_live_runtime.tools import dispatch, progress, results, voice_consent

LIMITS = (
    Limit(
        "answers in a row that its code asks for",
        f"{answers_in_a_row.MAX_IN_A_ROW}",
        "further requests are refused, prompts of phases left out with a notice",
        "session/decisions/test_answers_in_a_row.py::test_a_listener_that_asks_for_the_next_answer_is_stopped_and_told",
    ),
    Limit(
        "nesting of a value in state",
        f"{values.MAX_DEPTH} levels",
        "the write raises",
        "unit/state/test_store.py::test_a_value_that_contains_itself_is_refused",
    ),
    Limit(
        "result of a tool",
        f"{characters(results.MAX_RESULT_CHARS)}, {results.VALUE_CHARS} for each value in it",
        "the model gets an error with size and limit",
        "unit/tools/test_dispatch.py::test_a_result_too_large_for_a_model_is_an_error_with_size_and_limit",
    ),
    Limit(
        "nesting of a tool's result",
        f"{results.MAX_RESULT_LEVELS} levels",
        "the model gets an error with the limit",
        "unit/tools/test_dispatch.py::test_a_result_too_deep_for_a_message_is_an_error_with_the_limit",
    ),
    Limit(
        "checkpoint of a task",
        characters(progress.MAX_CHECKPOINT),
        "the tool gets an error",
        "session/harness/test_restarted_tasks.py::test_a_checkpoint_that_cannot_be_kept_is_refused",
    ),
    Limit(
        "printed line",
        characters(stdio.MAX_LINE_CHARS),
        "the rest is cut and counted",
        "unit/engine/test_stdio.py::test_long_lines_are_cut_and_say_so",
    ),
    Limit(
        "printed lines",
        f"{stdio.MAX_LINES_AT_ONCE:,} at once, {stdio.MAX_LINES_PER_S} a second",
        "further ones are dropped and counted",
        "unit/engine/test_stdio.py::test_lines_above_the_rate_are_dropped_and_counted",
    ),
    Limit(
        "result of a background agent",
        characters(background_agents.MAX_TEXT),
        "the rest is cut and counted",
        "unit/session/test_background_agents.py::test_a_result_without_end_is_cut_and_says_so",
    ),
    Limit(
        "background agents that wait",
        f"{background_agents.MAX_WAITING}",
        "a further one is refused",
        "unit/session/test_background_agents.py::test_too_many_waiting_are_refused",
    ),
    Limit(
        "memory's value",
        characters(memory_store.MAX_VALUE),
        "it is refused",
        "unit/harness/test_memory_store.py::test_a_memory_that_is_too_large_is_refused_in_a_sentence",
    ),
    Limit(
        "memories of a scope",
        f"{memory_store.MAX_IN_SCOPE:,}",
        "a further one is refused",
        "unit/harness/test_memory_store.py::test_a_full_scope_takes_changes_but_nothing_new",
    ),
    Limit(
        "memories of a profile",
        f"{memory_store.MAX_MEMORIES:,}",
        "a further one is refused",
        "unit/harness/test_memory_store.py::test_a_root_has_a_limit_over_all_scopes",
    ),
    Limit(
        "scopes of a profile's memories",
        f"{memory_store.MAX_SCOPES:,}",
        "a further one is refused",
        "unit/harness/test_memory_store.py::test_the_number_of_scopes_has_a_limit",
    ),
    Limit(
        "memories that the model is told at the start",
        f"the {memory_text.MAX_TOLD} newest of a scope",
        "the rest is found with a tool",
        "session/harness/test_memory_in_a_session.py::test_of_short_memories_fifty_are_told",
    ),
    Limit(
        "all of these together",
        characters(memory_text.MAX_CHARS),
        "the rest is counted",
        "session/harness/test_memory_in_a_session.py::test_what_is_told_is_capped_and_the_rest_counted",
    ),
    Limit(
        "saved session",
        size(stores.MAX_SNAPSHOT),
        "it is not saved, and the last one stays",
        "unit/session/test_stores.py::test_a_session_that_is_too_large_is_refused_and_the_last_one_stays",
    ),
    Limit(
        "requests for the rest of an answer that a lost connection broke off",
        f"{connection_events.MAX_CONTINUED}",
        "the answer stays as it is",
        "session/link/test_broken_answers.py"
        "::test_an_answer_that_breaks_off_again_and_again_is_left_until_the_user_says_something",
    ),
    Limit(
        "notes that wait to be sent",
        f"{context_queue.MAX_NOTES}",
        "the oldest is dropped, counted and reported",
        "session/decisions/test_telemetry_in_a_session.py"
        "::test_notes_that_are_dropped_for_want_of_room_are_told_once_in_a_burst_and_counted",
    ),
    Limit(
        "notes of earlier setups",
        f"{deferred_context.MAX_KEPT}",
        "the newest are carried again",
        "unit/session/test_deferred_context.py::test_only_the_newest_notes_of_earlier_setups_are_carried_again",
    ),
    Limit(
        "speeches that wait",
        f"{speech_queue.MAX_QUEUED}",
        "a further one is refused",
        "session/voice/test_speeches.py::test_more_than_a_hundred_waiting_speeches_are_refused",
    ),
    Limit(
        "hand-offs without a word of the user",
        f"{handoff.MAX_IN_A_ROW}",
        "a further one is stopped",
        "session/agents/test_handing_over.py::test_agents_that_hand_over_in_a_circle_are_stopped",
    ),
    Limit(
        "agents of a conversation that are known",
        f"{known_agents.MAX_KNOWN}",
        "further ones are not looked for",
        "session/agents/test_careless_programs.py::test_agents_that_are_made_without_end_are_known_up_to_a_limit",
    ),
    Limit(
        "rounds in which watchers set each other off",
        f"{settle_engine.MAX_ROUNDS}",
        "they are stopped with a notice",
        "session/decisions/test_watchers_in_a_session.py::test_watchers_that_set_each_other_off_are_stopped_and_told",
    ),
    Limit(
        "firings of one watcher or pattern",
        f"{settle_engine.MAX_PER_S} a second",
        "it rests for a while, with a notice",
        "session/decisions/test_watchers_in_a_session.py::test_a_concurrent_watcher_that_sets_itself_off_rests_for_a_while",
    ),
    Limit(
        "ticks of a detector whose deadline is over",
        f"{temporal.MAX_OVERDUE} in a row",
        "it is reported, and not asked again",
        "session/decisions/test_decisions_without_end.py::test_a_detector_whose_deadline_is_always_over_is_reported_and_not_asked_without_end",
    ),
    Limit(
        "answers of a rule",
        f"{rules_dispatch.MAX_PER_TURN} a turn",
        "it is stopped for the rest of the turn",
        "session/decisions/test_decisions_without_end.py::test_a_rule_that_answers_everything_is_stopped_for_the_rest_of_the_turn",
    ),
    Limit(
        "events that a rule emits",
        f"{rules_dispatch.MAX_EVENTS_PER_TURN:,} a turn",
        "it is stopped for the rest of the turn",
        "session/decisions/test_decisions_without_end.py::test_a_rule_that_answers_its_own_errors_is_stopped_for_the_rest_of_the_turn",
    ),
    Limit(
        "effects of rules at once",
        f"{executor.MAX_CONCURRENT}",
        "a further one is not begun but reported",
        "unit/session/test_executor.py::test_too_many_concurrent_effects_are_not_begun_but_reported",
    ),
    Limit(
        "listeners that run at once",
        f"{callback_runner.MAX_RUNNING}",
        "a further one is not called but reported",
        "unit/session/test_callback_runner.py::test_too_many_concurrent_listeners_are_not_called_but_reported",
    ),
    Limit(
        "actions that run at once",
        f"{user_code.MAX_CONCURRENT}",
        "a further one is not begun but reported",
        "unit/session/test_user_code.py::test_actions_that_never_end_are_bounded",
    ),
    Limit(
        "text of a tool's exception",
        characters(results.MAX_ERROR_CHARS),
        "the rest is cut",
        "unit/tools/test_dispatch.py::test_an_exception_with_a_text_without_end_is_cut",
    ),
    Limit(
        "sentence of a tool's progress",
        characters(progress.MAX_TEXT),
        "the rest is not read",
        "unit/tools/test_progress_floods.py::test_of_a_sentence_without_end_the_beginning_is_taken",
    ),
    Limit(
        "events of a task",
        size(event_log.MAX_LOG),
        "further ones are not recorded, its end is",
        "unit/harness/test_task_store.py::test_a_task_whose_events_are_full_has_its_end",
    ),
    Limit(
        "restarts of a task in a row",
        f"{task_restarts.MAX_RESTARTS}",
        "it is given up",
        "session/harness/test_restarted_tasks.py::test_a_task_that_kills_its_program_is_given_up",
    ),
    Limit(
        "age of a lost task that is started anew",
        f"{task_restarts.MAX_AGE_S // 3600} hours",
        "it is not started",
        "session/harness/test_restarted_tasks.py::test_an_old_one_is_not_started",
    ),
    Limit(
        "argument that is said in a question",
        characters(voice_consent.MAX_ARGUMENT),
        "only the operator can answer",
        "session/harness/test_consent_by_key_only.py::test_an_argument_that_is_too_long_to_be_heard_is_left_to_the_keys",
    ),
    Limit(
        "signs without a width in a row",
        f"{text.MAX_MARKS}",
        "further ones are left out on a display",
        "unit/test_text.py::test_signs_without_a_width_do_not_pile_up",
    ),
    Limit(
        "chat context that a program gives",
        f"{chat.MAX_MESSAGES} messages, {chat.MAX_CHARS:,} characters",
        "it is refused before it is read to its end",
        "session/agents/test_careless_programs.py::test_a_chat_context_beyond_any_models_is_refused_before_it_is_read_to_its_end",
    ),
    Limit(
        "title of a task, and a sentence about it",
        f"{task_store.MAX_TITLE} and {characters(task_store.MAX_TEXT)}",
        "the rest is cut, with a mark",
        "unit/harness/test_task_store.py::test_a_title_and_a_sentence_without_end_are_cut_with_a_mark",
    ),
    Limit(
        "result of a task",
        size(record_files.MAX_RECORD),
        "it is refused, and the task runs on",
        "unit/harness/test_task_store.py::test_a_result_that_is_too_large_leaves_the_task_running",
    ),
    Limit(
        "integer in the state",
        f"{len(str(values.MAX_INT)) - 1} digits",
        "the write raises",
        "session/agents/test_plan_faults.py::test_a_number_that_no_event_can_hold_is_refused",
    ),
    Limit(
        "levels of a schema",
        f"{json_schema.MAX_DEPTH}",
        "the tool is refused with the place",
        "unit/tools/test_schema.py::test_explicit_schemas_without_an_equivalent_are_refused",
    ),
    Limit(
        "question that a tool asks aloud",
        f"{characters(voice_consent.MAX_QUESTION)} besides its arguments",
        "the tool is refused",
        "unit/tools/test_voice_consent.py::test_what_cannot_be_asked_aloud_is_refused_when_it_is_declared",
    ),
    Limit(
        "name of a tool whose consent is remembered",
        characters(consent_store.MAX_NAME),
        "nothing is remembered, with a sentence",
        "unit/harness/test_hostile_records.py::test_a_tool_with_a_name_without_end_gets_no_grant",
    ),
    Limit(
        "path of a folder of its workspace",
        characters(workspace.MAX_PATH),
        "the plan is refused",
        "session/harness/test_profile_tools.py::test_a_folder_with_a_path_without_end_is_refused",
    ),
    Limit(
        "calls that go on as tasks",
        f"{dispatch.MAX_TASKS}",
        "the model waits for the result of a further one",
        "unit/tools/test_dispatch_context.py::test_so_many_calls_go_on_as_tasks_and_the_model_waits_for_a_further_one",
    ),
    Limit(
        "ended tasks, and acknowledged notifications",
        f"{store.MAX_TASKS:,} and {store.MAX_NOTIFICATIONS:,}, for {store.MAX_DAYS} days",
        "the oldest are removed",
        "unit/harness/test_task_store.py::test_of_ended_records_so_many_are_kept_for_so_long",
    ),
    Limit(
        "summary of a memory, and the text it comes from",
        f"{memory_store.MAX_SUMMARY} and {characters(memory_store.MAX_SOURCE)}",
        "the rest is cut, with a mark",
        "unit/harness/test_memory_store.py::test_long_summaries_and_sources_are_cut",
    ),
    Limit(
        "rules that set each other off",
        f"{rules_dispatch.MAX_DEPTH} in a row",
        "they are not asked further, with a notice",
        "session/decisions/test_decisions_without_end.py::test_rules_that_set_each_other_off_are_not_asked_further",
    ),
    Limit(
        "changes that wait for rules",
        f"{event_observer.MAX_CHANGES:,}",
        "the oldest are not told",
        "session/decisions/test_decisions_without_end.py::test_of_changes_without_end_that_wait_for_rules_the_newest_are_told",
    ),
    Limit(
        "events that wait for a program that reads slowly",
        f"{listeners.MAX_WAITING:,}",
        "the oldest is dropped and counted",
        "session/agents/test_session_events.py::test_a_program_that_reads_slowly_loses_the_oldest_events_and_finds_their_number",
    ),
    Limit(
        "failures of a part",
        f"{restarts.MAX_RESTARTS} in {restarts.WITHIN_S:g} s",
        "it counts as degraded, and is reported less often",
        "session/link/test_degraded_parts_in_a_session.py::test_a_part_that_failed_five_times_in_a_minute_is_shown",
    ),
    Limit(
        "printed lines before the session begins",
        f"{hub.MAX_EARLY:,}",
        "the oldest are dropped",
        "unit/engine/test_hub.py::test_of_what_comes_before_the_sessions_first_event_the_newest_is_kept",
    ),
    Limit(
        "printed lines of a private key",
        f"{key_block.MAX_LINES}",
        "further lines are shown",
        "unit/engine/test_stdio.py::test_a_private_key_without_end_hides_no_further_lines",
    ),
)
