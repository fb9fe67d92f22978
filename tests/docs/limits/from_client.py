"""List limits of what comes from clients of the embedded server."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, seconds, size

from gemini_live_runtime.local import (
    activity,
    content,
    context,
    dialogue,
    instruction_notes,
    live_config,
    matching,
    server,
    speech,
    utterance,
)
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
)
