"""List limits of what comes from clients of the embedded server."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, seconds, size

from gemini_live_runtime.local import server
from gemini_live_runtime.local.dialogue import dialogue_state, instruction_notes, lost_words, open_calls, tools_by_name
from gemini_live_runtime.local.protocol import (
    activity,
    content,
    context,
    function_calls,
    handles,
    live_config,
    realtime_input,
    turns,
    utterance,
)
from gemini_live_runtime.local.recognition import levels
from gemini_live_runtime.local.scripts import grammar, tool_output
from gemini_live_runtime.local.speech import espeak as speech
from gemini_live_runtime.local.understanding import matching
from gemini_live_runtime.wire import transport

LIMITS = (
    Limit(
        "connections",
        f"{server.MAX_CONNECTIONS}",
        "a further one is closed (1011)",
        "unit/local/test_live_session_setup.py::test_more_connections_than_the_limit_are_turned_away_until_one_ends",
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
        seconds(activity.MAX_PADDING_MS / 1000),
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
        "unit/local/test_live_session_memory.py::test_a_context_that_is_full_closes_the_session_without_compression",
    ),
    Limit(
        "utterance",
        seconds(activity.MAX_UTTERANCE_S),
        "it ends as if by a pause",
        "unit/local/test_activity.py::test_an_utterance_ends_at_the_longest_length_and_another_begins",
    ),
    Limit(
        "text to speak",
        characters(speech.MAX_TEXT),
        "the rest is not spoken",
        "unit/local/test_speech.py::test_the_second_half_of_an_endless_text_is_not_spoken",
    ),
    Limit(
        "speech ahead of its playback",
        seconds(utterance.MAX_LEAD_S),
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
        f"{dialogue_state.MAX_SAID}",
        "the oldest are forgotten",
        "unit/local/test_dialogue.py::test_memory_is_bounded",
    ),
    Limit(
        "texts and utterances without an answer that a note tells",
        f"{lost_words.MAX_LOST}",
        "the oldest get none",
        "unit/local/test_rest_of_an_answer.py::test_of_lost_texts_without_end_the_newest_are_answered",
    ),
    Limit(
        "replies of which nothing was said, as the next text came first",
        f"{dialogue_state.MAX_UNSAID}",
        "the oldest are not said",
        "unit/local/test_rest_of_an_answer.py::test_of_unsaid_replies_without_end_the_newest_are_kept",
    ),
    Limit(
        "notes since the instruction",
        f"{instruction_notes.MAX_NOTES}",
        "the oldest are forgotten",
        "unit/local/test_dialogue_phases.py::test_old_notes_are_forgotten",
    ),
    Limit(
        "labels",
        f"{characters(live_config.MAX_LABEL_CHARS)} each",
        "the rest is not kept",
        "unit/local/test_live_session_setup.py::test_of_a_label_without_end_the_beginning_is_kept",
    ),
    Limit(
        "values of an argument that are listened for",
        f"{grammar.MAX_TOOL_CHOICES}",
        "further ones are understood when they are typed",
        "unit/local/test_grammar.py::test_of_the_values_of_a_tool_the_first_are_listened_for",
    ),
    Limit(
        "levels of an argument that the model makes up",
        f"{tools_by_name.MAX_DEPTH}",
        "what is deeper is empty",
        "unit/local/test_tools_by_name.py::test_of_arguments_nested_without_end_the_outer_ones_get_a_value",
    ),
    Limit(
        "text within marked activity",
        characters(realtime_input.MAX_MARKED_TEXT),
        "the session is closed (1007)",
        "unit/local/test_live_session_setup.py::test_a_session_is_closed_with_1007_and_a_reason_for",
    ),
    Limit(
        "utterance that is recognised",
        seconds(levels.MAX_UTTERANCE_S),
        "it counts as not understood",
        "unit/local/test_recogniser.py::test_what_cannot_be_a_phrase_is_refused_without_decoding",
    ),
    Limit(
        "requests behind an answer",
        f"{turns.MAX_WAITING}",
        "the oldest is dropped and logged",
        "unit/local/test_live_session_turns.py::test_of_requests_without_end_behind_an_answer_the_newest_are_answered",
    ),
    Limit(
        "calls without a result",
        f"{function_calls.MAX_OPEN_CALLS}",
        "further ones are not sent, and fail",
        "unit/local/test_live_session_calls.py::test_calls_above_the_limit_are_not_sent_and_get_an_error_as_their_result",
    ),
    Limit(
        "calls that a dialogue remembers",
        f"{open_calls.MAX_OPEN_CALLS}",
        "the oldest are forgotten",
        "unit/local/test_dialogue.py::test_memory_is_bounded",
    ),
    Limit(
        "rounds of calls within a turn",
        f"{turns.MAX_ROUNDS}",
        "the turn ends",
        "unit/local/test_live_session_calls.py::test_a_dialogue_that_calls_without_end_is_stopped",
    ),
    Limit(
        "result that is read as a value",
        characters(tool_output.MAX_READ),
        "it stays text",
        "unit/local/test_tool_output.py::test_other_text_stays_text",
    ),
    Limit(
        "value of a result that is known later",
        characters(dialogue_state.MAX_KNOWN_CHARS),
        "it is not remembered",
        "unit/local/test_dialogue_phases.py::test_a_long_value_that_a_tool_answered_is_not_known_later",
    ),
    Limit(
        "note since the instruction",
        characters(instruction_notes.MAX_NOTE_CHARS),
        "the rest does not count",
        "unit/local/test_dialogue_phases.py::test_of_a_note_without_end_the_beginning_counts",
    ),
    Limit(
        "resumption handles of a server",
        f"{handles.MAX_HANDLES:,}, {handles.HANDLES_A_SESSION} of a session",
        "the oldest are forgotten",
        "unit/local/test_live_session_memory.py::test_of_the_handles_of_all_sessions_the_oldest_are_forgotten",
    ),
)
