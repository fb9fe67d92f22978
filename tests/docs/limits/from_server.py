"""List limits of what comes from a model's server."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, seconds, size

from gemini_live_runtime import redactor
from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.playback import kept_speech, playback_buffer
from gemini_live_runtime.conversation import answer_schema, gemini_text, llm_extractor, transcript, transcript_turn
from gemini_live_runtime.harness import due_times, memory_words
from gemini_live_runtime.session.agent import session_keys
from gemini_live_runtime.session.agent.harness import session_notifications
from gemini_live_runtime.session.agent.tools import consent_queue
from gemini_live_runtime.session.core import generation, turn_rules
from gemini_live_runtime.tools import dispatch, folders, programs
from gemini_live_runtime.wire import closes, connection, fields, json_frame, key_check, transport, websocket

LIMITS = (
    Limit(
        "DNS, TCP, TLS and upgrade",
        seconds(websocket.OPEN_TIMEOUT),
        "the attempt ends with a sentence",
        "unit/wire/test_websocket_refusals.py::test_a_server_that_never_answers_the_upgrade_times_out",
    ),
    Limit(
        "answer to the setup",
        seconds(connection.SETUP_TIMEOUT),
        "the connection is closed with a sentence",
        "unit/wire/test_handshake.py::test_a_silent_server_is_given_up_after_the_timeout",
    ),
    Limit(
        "message",
        size(transport.MAX_MESSAGE_BYTES),
        "this side closes the connection (1009) and says so",
        "unit/wire/test_websocket_ends.py::test_a_frame_above_the_limit_ends_with_1009",
    ),
    Limit(
        "fragments of a message",
        f"{transport.MAX_FRAGMENTS:,}",
        "this side closes the connection (1009) and says so",
        "unit/wire/test_websocket_ends.py::test_a_message_in_too_many_fragments_ends_with_1009_and_says_so",
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
        characters(redactor.MAX_TEMPORARY_CHARS),
        "it is not kept, and the one before stays",
        "session/link/test_reconnecting_in_a_session.py::test_a_handle_without_end_is_not_kept",
    ),
    Limit(
        "reason of a close",
        characters(closes.MAX_REASON),
        "the rest is cut",
        "unit/wire/test_closes.py::test_a_servers_reason_is_redacted_and_bounded",
    ),
    Limit(
        "speech that waits to be played",
        seconds(playback_buffer.MAX_SECONDS),
        "the oldest is dropped and counted",
        "unit/audio/test_playback_buffer.py::test_of_twenty_minutes_of_speech_the_first_five_are_dropped_and_counted",
    ),
    Limit(
        "speech kept for an audio process that takes over",
        f"{seconds(kept_speech.MAX_SAMPLES / MODEL_RATE)} of a turn",
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
        "session/tools/test_tools_that_ask.py::test_a_model_that_asks_without_end_is_refused",
    ),
    Limit(
        "an answer, to tell what of it was heard",
        characters(generation.MAX_ANSWER_CHARS),
        "the rest is not kept",
        "unit/session/test_core_words_tools_limits.py::test_of_an_answer_without_end_the_beginning_is_kept",
    ),
    Limit(
        "one side of a turn, for the agent",
        characters(transcript_turn.MAX_TEXT),
        "the rest is counted",
        "unit/conversation/test_transcript.py::test_a_side_and_the_calls_of_a_turn_are_bounded_and_the_rest_is_counted",
    ),
    Limit(
        "calls of a turn, for the agent",
        f"{transcript.MAX_CALLS}",
        "the rest is counted",
        "unit/conversation/test_transcript.py::test_a_side_and_the_calls_of_a_turn_are_bounded_and_the_rest_is_counted",
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
        characters(llm_extractor.MAX_ANSWER),
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
        "session/harness/test_timers_in_a_session.py::test_more_timers_than_the_limit_are_refused",
    ),
    Limit(
        "texts that models have queued with `notify`",
        f"{session_notifications.MAX_QUEUED}",
        "a further one is refused until some were heard",
        "session/harness/test_notify_tool.py::test_more_than_the_limit_are_refused_until_some_were_heard",
    ),
    Limit(
        "failures of the server in a row",
        f"{turn_rules.MAX_UNRECOVERABLE_ERRORS}",
        "the connection is given up with a notice",
        "session/link/test_error_budget.py::test_the_fourth_failure_in_a_row_gives_the_connection_up_with_a_notice",
    ),
    Limit(
        "refused fields of an extraction",
        f"{answer_schema.MAX_REFUSED}",
        "further ones are not reported",
        "unit/conversation/test_llm_extractor.py::test_the_number_of_refusals_is_bounded",
    ),
    Limit(
        "a side's words of a turn, in the state",
        characters(session_keys.MAX_WORDS),
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
        "security/test_workspace_files.py::test_a_path_without_end_is_refused_before_it_is_looked_up",
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
        "session/tools/test_tool_steps.py::test_the_call_after_the_third_round_is_answered_with_an_error_and_the_model_speaks",
    ),
    Limit(
        "resumption handles that are redacted",
        f"the {redactor.MAX_TEMPORARY} newest",
        "the oldest is forgotten",
        "unit/test_redactor.py::test_of_handles_without_end_the_newest_are_redacted",
    ),
    Limit(
        "entries of a folder that are looked at",
        f"{folders.MAX_SCANNED:,}",
        "the rest is left out, and the result says so",
        "security/test_workspace_files.py::test_a_folder_without_end_is_not_looked_at_to_it",
    ),
    Limit(
        "time of a timer",
        f"{due_times.MAX_S / 86_400:g} days",
        "it is refused with a sentence",
        "session/harness/test_timers_in_a_session.py::test_a_time_that_cannot_be_is_refused_with_a_sentence",
    ),
)
