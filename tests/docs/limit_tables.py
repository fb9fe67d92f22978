"""Write docs/limits.md from the constants: every limit of what comes in.

`python -m tests.docs.tables` calls this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gemini_live_runtime import commands, redactor, text
from gemini_live_runtime.agents import loader
from gemini_live_runtime.audio import echo_path, kept_speech, playback_buffer, shared_rings, wav
from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.conversation import (
    answer_schema,
    chat,
    gemini_text,
    llm_extractor,
    memory_text,
    transcript,
    transcript_turn,
)
from gemini_live_runtime.engine import console_server, host, hub, link, stdio
from gemini_live_runtime.harness import (
    event_log,
    memory_store,
    memory_words,
    notification_prompt,
    notification_store,
    profile,
    pump,
    record_files,
    task_store,
)
from gemini_live_runtime.journal import (
    agent_view,
    consent_fold,
    large_values,
    lines,
    reader,
    session_summary,
    view,
    writer,
)
from gemini_live_runtime.local import (
    activity,
    content,
    context,
    dialogue,
    instruction_notes,
    live_config,
    matching,
    script,
    server,
    speech,
    utterance,
)
from gemini_live_runtime.session.agent import (
    answers_in_a_row,
    background_agents,
    callback_runner,
    consent_queue,
    handoff,
    session_keys,
    session_notifications,
    settle_engine,
    user_code,
)
from gemini_live_runtime.session.control import debugger_commands, preview_runner
from gemini_live_runtime.session.core import connection_events, generation, speech_queue, turn_rules
from gemini_live_runtime.session.debugger import breakpoints
from gemini_live_runtime.session.definition import known_agents
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.outbound import context_queue, deferred_context
from gemini_live_runtime.session.persistence import stores
from gemini_live_runtime.session.rules import dispatch as rules_dispatch
from gemini_live_runtime.session.rules import executor
from gemini_live_runtime.state import edits, expressions, temporal, values
from gemini_live_runtime.tools import dispatch, folders, programs, progress, results, voice_consent
from gemini_live_runtime.wire import closes, connection, fields, json_frame, key_check, transport, websocket
from gemini_live_tui import config_files, saved_layout, theming
from gemini_live_tui.editors import value_parser
from gemini_live_tui.session_data import link as console_link

PAGE = Path(__file__).resolve().parents[2] / "docs" / "limits.md"


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of one input; `test` shows what happens at it."""

    input: str
    most: str
    beyond: str
    test: str


def size(count: int) -> str:
    """Return a number of bytes in words: `64 KiB`, `16 MiB`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count:,} bytes"


def _seconds(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 120 else f"{seconds:g} s"


def _characters(count: int) -> str:
    return f"{count:,} characters"


LIMITS: dict[str, tuple[Limit, ...]] = {
    "From other programs of the user": (
        Limit(
            "title and body of a notification",
            f"{notification_store.MAX_TITLE} and {_characters(notification_store.MAX_BODY)}",
            "the rest is cut, with a mark",
            "unit/harness/test_notification_store.py::test_a_long_title_and_body_are_cut_with_a_mark",
        ),
        Limit(
            "body of a notification, for the model",
            _characters(notification_prompt.MAX_BODY),
            "the rest is left out, and a mark says how much",
            "unit/harness/test_notification_prompt.py::test_a_long_body_is_cut_with_a_mark",
        ),
        Limit(
            "notifications of one source in turn",
            f"the {pump.MAX_OF_LANE} oldest",
            "further ones wait in their files",
            "unit/harness/test_notification_pump.py::test_a_flood_of_one_source_leaves_room_for_others",
        ),
        Limit(
            "notifications that wait",
            f"{notification_store.MAX_OF_SOURCE:,} of a source, {notification_store.MAX_OPEN:,} in all",
            "the oldest expire",
            "unit/harness/test_notification_store.py::test_the_oldest_of_too_many_of_one_source_expire",
        ),
        Limit(
            "announcements of a notification that is not heard",
            f"{pump.MAX_ATTEMPTS}",
            "it is given up, with the reason",
            "unit/harness/test_notification_pump.py::test_one_that_is_never_heard_is_given_up_with_its_reason",
        ),
    ),
    "From a model's server": (
        Limit(
            "DNS, TCP, TLS and upgrade",
            _seconds(websocket.OPEN_TIMEOUT),
            "the attempt ends with a sentence",
            "unit/wire/test_websocket.py::test_a_server_that_never_answers_the_upgrade_times_out",
        ),
        Limit(
            "answer to the setup",
            _seconds(connection.SETUP_TIMEOUT),
            "the connection is closed with a sentence",
            "unit/wire/test_connection.py::test_a_silent_server_is_given_up_after_the_timeout",
        ),
        Limit(
            "message",
            size(transport.MAX_MESSAGE_BYTES),
            "this side closes the connection (1009) and says so",
            "unit/wire/test_websocket.py::test_a_frame_above_the_limit_ends_with_1009",
        ),
        Limit(
            "fragments of a message",
            f"{transport.MAX_FRAGMENTS:,}",
            "this side closes the connection (1009) and says so",
            "unit/wire/test_websocket.py::test_a_message_in_too_many_fragments_ends_with_1009_and_says_so",
        ),
        Limit(
            "nesting of a message",
            f"{json_frame.MAX_DEPTH} levels",
            "the message counts as unreadable",
            "unit/wire/test_codec.py::test_a_frame_that_is_no_json_object_is_refused_by_name",
        ),
        Limit(
            "values of a message",
            f"{json_frame.MAX_VALUES:,}",
            "the message counts as unreadable",
            "unit/wire/test_codec.py::test_more_values_or_text_than_can_be_handled_at_once_is_unreadable",
        ),
        Limit(
            "texts of a message, without speech",
            f"{json_frame.MAX_TEXT_BYTES:,} bytes",
            "the message counts as unreadable",
            "unit/wire/test_codec.py::test_more_values_or_text_than_can_be_handled_at_once_is_unreadable",
        ),
        Limit(
            "those of the texts that have more than ASCII",
            f"{json_frame.MAX_WIDE_BYTES:,} bytes",
            "the message counts as unreadable",
            "unit/wire/test_codec.py::test_more_values_or_text_than_can_be_handled_at_once_is_unreadable",
        ),
        Limit(
            "unreadable messages in a row",
            f"{connection.MAX_UNREADABLE}",
            "the connection is closed with a sentence",
            "unit/session/test_live_session.py::test_a_server_that_sends_nothing_but_garbage_is_given_up",
        ),
        Limit(
            "faulty fields of a message",
            f"{fields.MAX_PROBLEMS}",
            "further ones are counted",
            "unit/wire/test_codec.py::test_at_most_twenty_problems_are_listed_and_the_rest_counted",
        ),
        Limit(
            "resumption handle",
            _characters(redactor.MAX_TEMPORARY_CHARS),
            "it is not kept, and the one before stays",
            "session/test_reconnecting_in_a_session.py::test_a_handle_without_end_is_not_kept",
        ),
        Limit(
            "reason of a close",
            _characters(closes.MAX_REASON),
            "the rest is cut",
            "unit/wire/test_closes.py::test_a_servers_reason_is_redacted_and_bounded",
        ),
        Limit(
            "speech that waits to be played",
            _seconds(playback_buffer.LIMIT_SECONDS),
            "the oldest is dropped and counted",
            "unit/audio/test_playback_buffer.py"
            "::test_beyond_the_limit_the_oldest_samples_are_dropped_counted_and_skipped_in_the_numbering",
        ),
        Limit(
            "speech kept for an audio process that takes over",
            f"{_seconds(kept_speech.KEPT_SAMPLES / MODEL_RATE)} of a turn",
            "the oldest is dropped: another process cannot go on with it",
            "unit/audio/test_process_audio.py"
            "::test_beyond_the_limit_the_oldest_speech_is_not_kept_for_another_process_and_is_played_all_the_same",
        ),
        Limit(
            "tool calls at once",
            f"{dispatch.MAX_CONCURRENT}",
            "further ones are answered with an error",
            "unit/tools/test_dispatch.py::test_too_many_calls_at_once_are_refused",
        ),
        Limit(
            "background calls at once",
            f"{dispatch.MAX_BACKGROUND}",
            "further ones are answered with an error",
            "unit/tools/test_dispatch_context.py::test_background_calls_have_more_time_and_a_place_of_their_own",
        ),
        Limit(
            "calls that wait for consent",
            f"{consent_queue.MAX_QUESTIONS}",
            "further ones are answered with an error",
            "session/test_tools_that_ask.py::test_a_model_that_asks_without_end_is_refused",
        ),
        Limit(
            "an answer, to tell what of it was heard",
            _characters(generation.MAX_ANSWER_CHARS),
            "the rest is not kept",
            "unit/session/test_core_words_tools_limits.py::test_of_an_answer_without_end_the_beginning_is_kept",
        ),
        Limit(
            "one side of a turn, for the agent",
            _characters(transcript_turn.MAX_TEXT),
            "the rest is counted",
            "unit/conversation/test_transcript.py"
            "::test_a_side_and_the_calls_of_a_turn_are_bounded_and_the_rest_is_counted",
        ),
        Limit(
            "calls of a turn, for the agent",
            f"{transcript.MAX_CALLS}",
            "the rest is counted",
            "unit/conversation/test_transcript.py"
            "::test_a_side_and_the_calls_of_a_turn_are_bounded_and_the_rest_is_counted",
        ),
        Limit(
            "reply to the check of a key",
            size(key_check.MAX_REPLY),
            "the key is neither good nor bad, in a sentence",
            "unit/wire/test_key_check.py::test_a_reply_without_end_is_not_read_to_it",
        ),
        Limit(
            "reply of a text model",
            size(gemini_text.MAX_REPLY),
            "the extraction fails with a sentence",
            "unit/conversation/test_gemini_text.py::test_a_reply_without_end_is_cut_off",
        ),
        Limit(
            "answer of an extraction",
            _characters(llm_extractor.MAX_ANSWER),
            "the extraction fails with a sentence",
            "unit/conversation/test_llm_extractor.py::test_a_list_and_an_endless_answer_are_errors",
        ),
        Limit(
            "part of a file that the model reads",
            size(folders.MAX_READ),
            "the rest comes with further calls",
            "security/test_workspace_files.py::test_a_large_file_is_read_part_by_part_without_loss",
        ),
        Limit(
            "entries of a folder that the model lists",
            f"{folders.MAX_LISTED}",
            "the rest is left out, and the result says so",
            "security/test_workspace_files.py::test_a_large_folder_is_cut",
        ),
        Limit(
            "timers of a profile that wait",
            f"{session_notifications.MAX_TIMERS}",
            "a further one is refused",
            "session/test_timers_in_a_session.py::test_more_timers_than_the_limit_are_refused",
        ),
        Limit(
            "texts that models have queued with `notify`",
            f"{session_notifications.MAX_QUEUED}",
            "a further one is refused until some were heard",
            "session/test_notify_tool.py::test_more_than_the_limit_are_refused_until_some_were_heard",
        ),
        Limit(
            "failures of the server in a row",
            f"{turn_rules.MAX_UNRECOVERABLE_ERRORS}",
            "the connection is given up with a notice",
            "session/test_error_budget.py::test_the_fourth_failure_in_a_row_gives_the_connection_up_with_a_notice",
        ),
        Limit(
            "refused fields of an extraction",
            f"{answer_schema.MAX_REFUSED}",
            "further ones are not reported",
            "unit/conversation/test_llm_extractor.py::test_the_number_of_refusals_is_bounded",
        ),
        Limit(
            "a side's words of a turn, in the state",
            _characters(session_keys.MAX_WORDS),
            "the newest are kept",
            "unit/session/test_session_keys.py::test_of_a_turn_without_end_the_newest_words_are_kept",
        ),
        Limit(
            "arguments of a program that the model runs",
            f"{programs.MAX_ARGUMENTS}, {programs.MAX_ARGUMENT:,} characters each, {programs.MAX_TOGETHER:,} in all",
            "the call is refused",
            "security/test_workspace_programs.py::test_arguments_that_cannot_be_are_refused",
        ),
        Limit(
            "path in a folder for the model",
            f"{folders.MAX_PATH:,} characters, {folders.MAX_PARTS} parts",
            "it is refused",
            "security/test_workspace_files.py::test_a_path_that_leads_out_is_refused_with_a_sentence",
        ),
        Limit(
            "words of a search in memory",
            f"the first {memory_words.MAX_QUERY_WORDS} of {memory_words.MAX_QUERY:,} characters",
            "the rest does not count",
            "unit/harness/test_memory_search.py::test_of_a_query_without_end_the_first_words_count",
        ),
        Limit(
            "rounds of calls in an answer",
            f"{turn_rules.MAX_TOOL_STEPS}, unless the agent says otherwise",
            "further calls are refused, and the model answers without them",
            "session/test_tool_steps.py::test_the_call_after_the_third_round_is_answered_with_an_error_and_the_model_speaks",
        ),
    ),
    "To a model's server": (
        Limit(
            "microphone audio that waits for the engine",
            f"{shared_rings.CHUNK_SLOTS} chunks of 20 ms",
            "newer chunks are dropped and counted",
            "unit/audio/test_shared_rings.py::test_chunks_that_the_engine_does_not_take_are_dropped_and_counted",
        ),
        Limit(
            "microphone audio that waits for the network",
            f"{LinkPolicy().audio_kept_s:g} s, with speech {LinkPolicy().speech_kept_s:g} s more",
            "the oldest is dropped and counted",
            "session/test_slow_networks_in_a_session.py"
            "::test_sound_that_a_slow_network_has_cost_is_told_and_no_number_falls_back",
        ),
        Limit(
            "messages that a server does not read",
            size(connection.MAX_QUEUED_CHARS),
            "the connection is closed with a sentence",
            "unit/wire/test_connection.py::test_a_server_that_asks_and_never_reads_is_given_up",
        ),
        Limit(
            "answers to pings that a peer does not read",
            size(websocket.MAX_UNREAD_BYTES),
            "this side closes the connection (1008) and says so",
            "unit/wire/test_websocket.py::test_a_server_that_pings_without_reading_the_answers_is_given_up",
        ),
        Limit(
            "a refusal's answer that is kept to be quoted",
            size(websocket.MAX_ANSWER_BYTES),
            "its status and the beginning are told",
            "unit/wire/test_websocket.py::test_of_a_refusal_without_end_the_status_and_the_beginning_are_told",
        ),
    ),
    "From a console, at the engine's socket": (
        Limit(
            "consoles",
            f"{console_server.MAX_CONSOLES}",
            "a further one is refused with a sentence",
            "unit/engine/test_link_contract.py"
            "::test_more_consoles_at_once_than_there_is_room_for_are_refused_one_by_one",
        ),
        Limit(
            "connections without a hello",
            f"{console_server.MAX_HELLOS}",
            "a further one is refused with a sentence",
            "unit/engine/test_link_contract.py::test_callers_that_say_nothing_leave_no_room_until_they_are_gone",
        ),
        Limit(
            "time to the hello",
            _seconds(console_server.HELLO_S),
            "the connection is closed with a sentence",
            "unit/engine/test_link_contract.py::test_a_caller_that_says_nothing_is_sent_away",
        ),
        Limit(
            "line",
            size(link.MAX_COMMAND_BYTES),
            "that console is detached with a sentence",
            "unit/engine/test_link_contract.py::test_a_line_that_is_too_long_ends_that_link_only",
        ),
        Limit(
            "lines that are no commands",
            f"{console_server.MAX_MALFORMED}",
            "that console is detached with a sentence",
            "unit/engine/test_link_contract.py::test_a_console_that_only_sends_nonsense_is_let_go",
        ),
        Limit(
            "commands that wait",
            f"{host.MAX_COMMANDS:,}",
            "further ones are refused",
            "unit/engine/test_host.py::test_commands_above_the_bound_and_after_the_end_are_refused_by_id",
        ),
        Limit(
            "messages that a slow console has not read",
            f"{hub.MAX_OUTBOX_LINES:,}, or {size(hub.MAX_OUTBOX_BYTES)}",
            "that console is detached and attaches again",
            "unit/engine/test_link_contract.py"
            "::test_a_console_that_falls_too_far_behind_is_let_go_and_may_attach_again",
        ),
    ),
    "From an engine, at the console": (
        Limit(
            "line",
            size(link.MAX_LINE_BYTES),
            "it is skipped",
            "unit/engine/test_link_contract.py::test_a_line_above_the_limit_is_skipped_and_the_link_goes_on",
        ),
        Limit(
            "lines in a row that cannot be decoded",
            f"{console_link.MAX_BAD_LINES}",
            "the link is given up with a sentence",
            "unit/tui/test_console_link.py::test_a_link_that_only_says_nonsense_is_given_up",
        ),
        Limit(
            "commands that the engine has not read",
            f"{console_link.MAX_UNSENT}",
            "further ones are refused with a sentence",
            "unit/tui/test_console_link.py::test_only_so_many_commands_wait_for_the_engine_to_read",
        ),
        Limit(
            "missed events read from the recording",
            f"{console_link.MAX_MISSED:,}",
            "the console goes to the present at once",
            "unit/tui/test_console_link.py::test_a_console_that_missed_more_than_it_may_read_goes_to_the_present",
        ),
        Limit(
            "paragraphs of the transcript",
            f"{view.MAX_BLOCKS:,}",
            "the oldest are dropped and counted",
            "unit/test_fold.py::test_blocks_above_the_limit_are_dropped_and_counted",
        ),
    ),
    "From an operator": (
        Limit(
            "text",
            _characters(commands.MAX_TEXT),
            "it is refused with a sentence, and stays in the prompt",
            "pilot/test_console_typing.py::test_a_message_that_is_too_long_stays_and_is_explained",
        ),
        Limit(
            "texts that wait for the connection",
            f"{LinkPolicy().max_texts}",
            "further ones are refused",
            "unit/session/test_core_words_tools_limits.py::test_only_so_many_texts_wait_for_the_connection",
        ),
        Limit(
            "name of a phase, watcher, breakpoint or device",
            _characters(commands.MAX_NAME),
            "the command is refused with a sentence",
            "unit/test_vocabulary.py::test_a_name_or_a_reason_without_end_is_refused",
        ),
        Limit(
            "reason of a command",
            _characters(commands.MAX_REASON),
            "the command is refused with a sentence",
            "unit/test_vocabulary.py::test_a_name_or_a_reason_without_end_is_refused",
        ),
        Limit(
            "key of an edit",
            _characters(edits.MAX_KEY),
            "the edit is refused",
            "session/test_operator_in_a_session.py::test_an_edit_of_nothing_of_too_much_or_of_one_key_twice_is_refused",
        ),
        Limit(
            "keys of one edit",
            f"{edits.MAX_EDITS:,}",
            "the edit is refused",
            "session/test_operator_in_a_session.py::test_an_edit_of_nothing_of_too_much_or_of_one_key_twice_is_refused",
        ),
        Limit(
            "edits that can be undone",
            f"{edits.MAX_STEPS}",
            "the oldest is forgotten",
            "session/test_operator_in_a_session.py::test_only_so_many_edits_are_remembered",
        ),
        Limit(
            "value in the editor",
            _characters(value_parser.MAX_JSON),
            "it is refused with a sentence",
            "unit/tui/test_value_parser.py::test_what_is_no_json_is_told_where_and_how_to_mend_it",
        ),
        Limit(
            "expression",
            f"{_characters(expressions.MAX_LENGTH)}, {expressions.MAX_DEPTH} levels",
            "it is refused with the place",
            "unit/state/test_expressions.py::test_an_error_names_its_column",
        ),
        Limit(
            "breakpoints",
            f"{breakpoints.MAX_BREAKPOINTS}",
            "a further one is refused",
            "unit/session/test_breakpoints.py::test_too_many_and_unknown_ids_are_refused",
        ),
        Limit(
            "target of a breakpoint",
            _characters(breakpoints.MAX_TARGET),
            "it is refused",
            "unit/session/test_breakpoints.py::test_a_target_without_end_is_refused",
        ),
        Limit(
            "note of a mark",
            _characters(debugger_commands.MAX_NOTE),
            "it is refused",
            "session/test_holding_in_a_session.py::test_a_note_without_end_is_refused",
        ),
        Limit(
            "engines that die one after the other",
            f"{console_link.MAX_DEATHS}",
            "no further one is started",
            "unit/tui/test_console_link.py::test_engines_that_die_again_and_again_are_not_started_for_ever",
        ),
        Limit(
            "previews under way",
            f"{preview_runner.MAX_THREADS}",
            "a further one is refused",
            "session/test_operator_in_a_session.py::test_code_that_takes_too_long_on_a_copy_is_told_and_holds_nothing_up",
        ),
    ),
    "From an agent": (
        Limit(
            "answers in a row that its code asks for",
            f"{answers_in_a_row.MAX_IN_A_ROW}",
            "further requests are refused, prompts of phases left out with a notice",
            "session/test_answers_in_a_row.py::test_a_listener_that_asks_for_the_next_answer_is_stopped_and_told",
        ),
        Limit(
            "nesting of a value in state",
            f"{values.MAX_DEPTH} levels",
            "the write raises",
            "unit/state/test_store.py::test_a_value_that_contains_itself_is_refused",
        ),
        Limit(
            "result of a tool",
            f"{_characters(results.MAX_RESULT_CHARS)}, {results.VALUE_CHARS} for each value in it",
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
            "printed line",
            _characters(stdio.MAX_LINE_CHARS),
            "the rest is cut and counted",
            "unit/engine/test_stdio.py::test_long_lines_are_cut_and_say_so",
        ),
        Limit(
            "printed lines",
            f"{stdio.BURST_LINES:,} at once, {stdio.LINES_PER_S} a second",
            "further ones are dropped and counted",
            "unit/engine/test_stdio.py::test_lines_above_the_rate_are_dropped_and_counted",
        ),
        Limit(
            "result of a background agent",
            _characters(background_agents.MAX_TEXT),
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
            _characters(memory_store.MAX_VALUE),
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
            f"{memory_store.MAX_MEMORIES:,}, in {memory_store.MAX_SCOPES:,} scopes",
            "a further one is refused",
            "unit/harness/test_memory_store.py::test_a_root_has_a_limit_over_all_scopes",
        ),
        Limit(
            "memories that the model is told at the start",
            f"{memory_text.MAX_TOLD} of a scope, {memory_text.MAX_CHARS:,} characters in all",
            "the rest is counted",
            "session/test_memory_in_a_session.py::test_what_is_told_is_capped_and_the_rest_counted",
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
            "session/test_broken_answers.py"
            "::test_an_answer_that_breaks_off_again_and_again_is_left_until_the_user_says_something",
        ),
        Limit(
            "notes that wait to be sent",
            f"{context_queue.MAX_NOTES}",
            "the oldest is dropped, counted and reported",
            "unit/session/test_context_queue.py::test_too_many_notes_push_the_oldest_out_counted_and_told",
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
            "session/test_speeches.py::test_more_than_a_hundred_waiting_speeches_are_refused",
        ),
        Limit(
            "hand-offs without a word of the user",
            f"{handoff.MAX_IN_A_ROW}",
            "a further one is stopped",
            "session/test_handing_over.py::test_agents_that_hand_over_in_a_circle_are_stopped",
        ),
        Limit(
            "agents of a conversation that are known",
            f"{known_agents.MAX_KNOWN}",
            "further ones are not looked for",
            "session/test_careless_programs.py::test_agents_that_are_made_without_end_are_known_up_to_a_limit",
        ),
        Limit(
            "rounds in which watchers set each other off",
            f"{settle_engine.MAX_ROUNDS}",
            "they are stopped with a notice",
            "session/test_watchers_in_a_session.py::test_watchers_that_set_each_other_off_are_stopped_and_told",
        ),
        Limit(
            "firings of one watcher or pattern",
            f"{settle_engine.MAX_PER_S} a second",
            "it rests for a while, with a notice",
            "session/test_watchers_in_a_session.py::test_a_concurrent_watcher_that_sets_itself_off_rests_for_a_while",
        ),
        Limit(
            "ticks of a detector whose deadline is over",
            f"{temporal.MAX_OVERDUE} in a row",
            "it is reported, and not asked again",
            "session/test_deciding_code_in_a_session.py::test_a_detector_whose_deadline_is_always_over_is_reported_and_not_asked_without_end",
        ),
        Limit(
            "answers of a rule",
            f"{rules_dispatch.MAX_PER_TURN} a turn",
            "it is stopped for the rest of the turn",
            "session/test_deciding_code_in_a_session.py::test_a_rule_that_answers_everything_is_stopped_for_the_rest_of_the_turn",
        ),
        Limit(
            "events that a rule emits",
            f"{rules_dispatch.MAX_EVENTS_PER_TURN:,} a turn",
            "it is stopped for the rest of the turn",
            "session/test_deciding_code_in_a_session.py::test_a_rule_that_answers_its_own_errors_is_stopped_for_the_rest_of_the_turn",
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
            _characters(results.MAX_ERROR_CHARS),
            "the rest is cut",
            "unit/tools/test_dispatch.py::test_an_exception_with_a_text_without_end_is_cut",
        ),
        Limit(
            "sentence of a tool's progress",
            _characters(progress.MAX_TEXT),
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
            f"{task_store.MAX_RESTARTS}",
            "it is given up",
            "session/test_restarted_tasks.py::test_a_task_that_kills_its_program_is_given_up",
        ),
        Limit(
            "age of a lost task that is started anew",
            f"{task_store.MAX_AGE_S // 3600} hours",
            "it is not started",
            "session/test_restarted_tasks.py::test_an_old_one_is_not_started",
        ),
        Limit(
            "argument that is said in a question",
            _characters(voice_consent.MAX_ARGUMENT),
            "only the operator can answer",
            "session/test_spoken_consent.py::test_an_argument_that_is_too_long_to_be_heard_is_left_to_the_keys",
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
            "session/test_careless_programs.py::test_a_chat_context_beyond_any_models_is_refused_before_it_is_read_to_its_end",
        ),
        Limit(
            "title of a task, and a sentence about it",
            f"{task_store.MAX_TITLE} and {_characters(task_store.MAX_TEXT)}",
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
            "session/test_plan_faults.py::test_a_number_that_no_event_can_hold_is_refused",
        ),
    ),
    "Into a recording": (
        Limit(
            "event",
            _characters(large_values.MAX_LINE_CHARS),
            "its large values are cut, with length and hash, and kept beside the session file",
            "unit/journal/test_large_values.py"
            "::test_a_large_text_keeps_its_beginning_length_and_hash_and_the_session_goes_on",
        ),
        Limit(
            "value that is kept beside a session file",
            _characters(large_values.MAX_KEPT_CHARS),
            "it is cut before it is encoded, and not kept",
            "unit/journal/test_large_values.py::test_a_huge_value_is_cut_before_it_is_encoded_and_is_not_kept",
        ),
        Limit(
            "values beside a session file",
            size(writer.MAX_VALUE_BYTES),
            "further ones are not kept",
            "unit/journal/test_large_values.py::test_a_value_is_kept_once_and_all_values_up_to_a_limit",
        ),
        Limit(
            "events that wait for the disk",
            size(writer.MAX_UNWRITTEN),
            "further ones are left out and counted",
            "unit/journal/test_large_values.py"
            "::test_events_faster_than_the_disk_are_left_out_and_counted_and_recording_goes_on",
        ),
        Limit(
            "sound that waits for the disk",
            size(writer.MAX_QUEUED_AUDIO),
            "sound is no longer recorded, events are",
            "unit/journal/test_journal_writer.py::test_a_disk_too_slow_for_sound_stops_sound_and_not_the_session",
        ),
        Limit(
            "paragraph of the transcript",
            _characters(view.MAX_BLOCK_CHARS),
            "it goes on in a further one",
            "unit/test_fold.py::test_an_endless_paragraph_is_split",
        ),
        Limit(
            "transcript in a view",
            _characters(view.MAX_CHARS),
            "the oldest paragraphs are dropped and counted",
            "unit/test_fold.py::test_text_above_the_limit_is_dropped_and_counted",
        ),
        Limit(
            "value in a view",
            _characters(agent_view.MAX_JSON),
            "a note replaces it",
            "unit/journal/test_agent_fold.py::test_a_value_that_is_too_long_leaves_a_note_and_stays_small",
        ),
        Limit(
            "call that waits for consent, in a view",
            _characters(consent_fold.MAX_CALL),
            "its end is left out, and the view says so",
            "unit/journal/test_consent_in_the_view.py::test_a_call_that_is_too_long_to_be_shown_says_so",
        ),
    ),
    "From a file": (
        Limit(
            "line of a session file",
            size(reader.MAX_LINE_BYTES),
            "it is reported and skipped",
            "unit/journal/test_journal_reader.py::test_a_line_above_the_limit_is_reported_and_passed_over",
        ),
        Limit(
            "line of a session file that is skipped",
            size(lines.MAX_SKIPPED_BYTES),
            "it is reported, and nothing after it is read",
            "unit/journal/test_catalog.py::test_a_file_that_is_gigabytes_of_nothing_is_not_read_to_its_end",
        ),
        Limit(
            "problems of a session file",
            f"{reader.MAX_PROBLEMS}",
            "further ones are counted",
            "unit/journal/test_journal_reader.py::test_problems_kept_are_bounded_and_counted",
        ),
        Limit(
            "pairs of sound devices with a calibration",
            f"{echo_path.MOST_PAIRS}",
            "the oldest is forgotten",
            "unit/audio/test_calibration.py::test_only_so_many_pairs_are_kept",
        ),
        Limit(
            "channels of a WAV file",
            f"{wav.MOST_CHANNELS}",
            "it is refused with a sentence",
            "unit/audio/test_wav.py::test_an_unusable_file_is_refused_by_name_with_a_remedy",
        ),
        Limit(
            "rate of a WAV file",
            f"{wav.LOWEST_RATE:,} to {wav.HIGHEST_RATE:,} Hz",
            "it is refused with a sentence",
            "unit/audio/test_wav.py::test_an_unusable_file_is_refused_by_name_with_a_remedy",
        ),
        Limit(
            "config file or profile",
            size(config_files.MAX_BYTES),
            "it is refused with a sentence",
            "security/test_special_files.py::test_a_file_above_its_limit_is_not_read",
        ),
        Limit(
            "entries of a table of a profile",
            f"{profile.MAX_ENTRIES}",
            "it is refused with a sentence",
            "unit/harness/test_profile_tables.py::test_an_unusable_entry_names_file_key_value_and_remedy",
        ),
        Limit(
            "theme",
            size(theming.MAX_BYTES),
            "it is refused with a sentence",
            "unit/tui/test_theming.py::test_a_file_too_large_to_be_a_theme_is_not_read",
        ),
        Limit(
            "agent's file",
            size(loader.MAX_SOURCE_BYTES),
            "it is refused with a sentence",
            "unit/agents/test_loader.py::test_a_file_too_large_to_be_an_agent_is_not_read",
        ),
        Limit(
            "dialogue script",
            size(script.MAX_SCRIPT_BYTES),
            "it is refused with a sentence",
            "unit/local/test_script.py::test_a_file_too_large_to_be_a_script_is_not_parsed",
        ),
        Limit(
            "session file that is read for the list of sessions",
            size(session_summary.MAX_SCAN),
            "its beginning and its end count",
            "unit/journal/test_catalog.py::test_of_a_file_beyond_the_limit_beginning_and_end_count",
        ),
        Limit(
            "saved layout",
            size(saved_layout.MAX_BYTES),
            "it is not read",
            "security/test_special_files.py::test_a_file_above_its_limit_is_not_read",
        ),
    ),
    "From a client of the embedded server": (
        Limit(
            "connections",
            f"{server.MAX_CONNECTIONS}",
            "a further one is closed (1011)",
            "unit/local/test_live_session_setup.py"
            "::test_more_connections_than_the_limit_are_turned_away_until_one_ends",
        ),
        Limit(
            "message",
            size(transport.MAX_MESSAGE_BYTES),
            "the session is closed (1009)",
            "unit/local/test_live_session_setup.py::test_a_frame_above_the_limit_is_refused_with_1009",
        ),
        Limit(
            "declared functions",
            f"{live_config.MAX_TOOLS}",
            "the setup is refused (1007)",
            "unit/local/test_live_session_setup.py::test_a_setup_is_refused_with_1007_and_a_reason_for",
        ),
        Limit(
            "padding and silence of the detector",
            _seconds(activity.MAX_PADDING_MS / 1000),
            "the setup is refused (1007)",
            "unit/local/test_live_session_setup.py::test_a_setup_is_refused_with_1007_and_a_reason_for",
        ),
        Limit(
            "content before its `turnComplete`",
            size(content.MAX_UNASKED),
            "the session is closed (1007)",
            "unit/local/test_live_session_memory.py::test_content_that_never_asks_for_an_answer_is_bounded",
        ),
        Limit(
            "context",
            f"{context.MAX_CONTEXT_TOKENS:,} tokens",
            "the session is closed, unless compression is on",
            "unit/local/test_live_session_memory.py"
            "::test_a_context_that_is_full_closes_the_session_without_compression",
        ),
        Limit(
            "utterance",
            _seconds(activity.MAX_UTTERANCE_S),
            "it ends as if by a pause",
            "unit/local/test_activity.py::test_an_utterance_ends_at_the_longest_length_and_another_begins",
        ),
        Limit(
            "text to speak",
            _characters(speech.MAX_TEXT),
            "the rest is not spoken",
            "unit/local/test_speech.py::test_the_second_half_of_an_endless_text_is_not_spoken",
        ),
        Limit(
            "speech ahead of its playback",
            _seconds(utterance.MAX_LEAD_S),
            "the rest follows in real time",
            "unit/local/test_live_session_turns.py::test_speech_is_never_further_ahead_of_playback_than_the_stated_lead",
        ),
        Limit(
            "words of an utterance",
            f"{matching.MAX_WORDS}",
            "it is not matched",
            "unit/local/test_matching.py::test_an_endless_utterance_is_not_looked_at",
        ),
        Limit(
            "utterances that a dialogue remembers",
            f"{dialogue.MAX_SAID}",
            "the oldest are forgotten",
            "unit/local/test_dialogue.py::test_memory_is_bounded",
        ),
        Limit(
            "notes since the instruction",
            f"{instruction_notes.MAX_NOTES}",
            "the oldest are forgotten",
            "unit/local/test_dialogue_phases.py::test_old_notes_are_forgotten",
        ),
    ),
}

_INTRO = """\
# Limits

Every input has a limit, so that nothing that comes in can fill the memory or stop a session. Each row says what happens
beyond the limit, and which test shows it. This page is generated from the constants (`python -m tests.docs.tables`).
Limits of time for an agent's code are in [agents.md](agents.md).
"""


def render() -> str:
    """Return the page."""
    return "\n".join([_INTRO, *_sections()])


def _sections() -> Iterator[str]:
    for heading, limits in LIMITS.items():
        yield f"## {heading}\n"
        yield "| input | at most | beyond it | shown by |\n|---|---|---|---|"
        for limit in limits:
            file, _, name = limit.test.partition("::")
            yield f"| {limit.input} | {limit.most} | {limit.beyond} | [`{name}`](../tests/{file}) |"
        yield ""


def write() -> None:
    """Write docs/limits.md."""
    PAGE.write_text(render(), "utf-8")
