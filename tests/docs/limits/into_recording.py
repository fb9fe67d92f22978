"""List limits of what comes into a recording."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, size

from gemini_live_runtime.journal.files import large_values
from gemini_live_runtime.journal.fold import agent_view, consent_fold, packing, view
from gemini_live_runtime.journal.privacy import json_in_text
from gemini_live_runtime.journal.recording import writer

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
        characters(packing.MAX_JSON),
        "a note replaces it",
        "unit/journal/test_agent_fold.py::test_a_value_that_is_too_long_leaves_a_note_and_stays_small",
    ),
    Limit(
        "call that waits for consent, in a view",
        characters(consent_fold.MAX_CALL),
        "its end is left out, and the view says so",
        "unit/journal/test_consent_in_the_view.py::test_a_call_that_is_too_long_to_be_shown_says_so",
    ),
    Limit(
        "items of a list in a value that is cut",
        f"{large_values.MAX_ITEMS:,}",
        "only their number is kept",
        "unit/journal/test_large_values.py::test_of_a_huge_list_with_too_many_items_a_note_is_left",
    ),
    Limit(
        "keys of the state in a view",
        f"{agent_view.MAX_KEYS:,}",
        "further ones are counted",
        "unit/journal/test_agent_fold.py::test_of_keys_without_end_so_many_are_kept_and_the_rest_is_counted",
    ),
    Limit(
        "calls in a view",
        f"the {agent_view.MAX_TOOLS} newest",
        "the oldest is forgotten",
        "unit/journal/test_agent_fold.py::test_of_calls_without_end_the_newest_are_kept",
    ),
    Limit(
        "types of events that are counted by name",
        f"{view.MAX_EVENT_TYPES}",
        "further ones are counted together",
        "unit/test_fold.py::test_event_types_counted_by_name_are_bounded",
    ),
    Limit(
        "JSON within texts of JSON, for a redacted export",
        f"{json_in_text.MAX_LEVELS} levels",
        "names in deeper ones are not found by their field",
        "unit/journal/test_redacted_json.py::test_json_in_json_in_json_is_searched_to_its_limit",
    ),
)
