"""List limits of what comes into a recording."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, size

from gemini_live_runtime.journal import agent_view, consent_fold, large_values, view, writer

LIMITS = (
    Limit(
        "event",
        characters(large_values.MAX_LINE_CHARS),
        "its large values are cut, with length and hash, and kept beside the session file",
        "unit/journal/test_large_values.py"
        "::test_a_large_text_keeps_its_beginning_length_and_hash_and_the_session_goes_on",
    ),
    Limit(
        "value that is kept beside a session file",
        characters(large_values.MAX_KEPT_CHARS),
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
        characters(view.MAX_BLOCK_CHARS),
        "it goes on in a further one",
        "unit/test_fold.py::test_an_endless_paragraph_is_split",
    ),
    Limit(
        "transcript in a view",
        characters(view.MAX_CHARS),
        "the oldest paragraphs are dropped and counted",
        "unit/test_fold.py::test_text_above_the_limit_is_dropped_and_counted",
    ),
    Limit(
        "value in a view",
        characters(agent_view.MAX_JSON),
        "a note replaces it",
        "unit/journal/test_agent_fold.py::test_a_value_that_is_too_long_leaves_a_note_and_stays_small",
    ),
    Limit(
        "call that waits for consent, in a view",
        characters(consent_fold.MAX_CALL),
        "its end is left out, and the view says so",
        "unit/journal/test_consent_in_the_view.py::test_a_call_that_is_too_long_to_be_shown_says_so",
    ),
)
