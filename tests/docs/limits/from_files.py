"""List limits of what comes from files."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, size

from gemini_live_runtime import vocabulary
from gemini_live_runtime.agents import loader
from gemini_live_runtime.audio import wav
from gemini_live_runtime.audio.echo import echo_path
from gemini_live_runtime.engine import registry, saved_spec
from gemini_live_runtime.harness import profile
from gemini_live_runtime.journal.files import lines
from gemini_live_runtime.journal.recording import reader
from gemini_live_runtime.journal.sessions import catalog, session_summary
from gemini_live_runtime.local.scripts import alternatives, script
from gemini_live_runtime.session.persistence import snapshot
from gemini_live_runtime.wire import credentials
from gemini_live_tui import config_files, saved_layout, theming
from gemini_live_tui.panes import state_listing
from gemini_live_tui.set_up import recent

LIMITS = (
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
        f"{echo_path.MAX_PAIRS}",
        "the oldest is forgotten",
        "unit/audio/test_calibration.py::test_only_so_many_pairs_are_kept",
    ),
    Limit(
        "channels of a WAV file",
        f"{wav.MAX_CHANNELS}",
        "it is refused with a sentence",
        "unit/audio/test_wav.py::test_an_unusable_file_is_refused_by_name_with_a_remedy",
    ),
    Limit(
        "rate of a WAV file",
        f"{wav.MIN_RATE:,} to {wav.MAX_RATE:,} Hz",
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
        "sentences that one of a dialogue script stands for",
        f"{alternatives.MAX_SENTENCES}",
        "it is refused with a sentence",
        "unit/local/test_script.py::test_a_sentence_that_stands_for_too_many_is_refused",
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
        "security/test_special_files.py::test_a_saved_layout_above_its_limit_is_not_read",
    ),
    Limit(
        "levels of a config file or profile",
        f"{config_files.MAX_LEVELS}",
        "it is refused with a sentence",
        "unit/cli/test_profiles_command.py::test_a_profile_with_thousands_of_levels_is_refused_in_a_sentence",
    ),
    Limit(
        "folder, argument and name of a tool in a profile",
        f"{profile.MAX_TEXT:,}, the name {characters(profile.MAX_TOOL_NAME)}",
        "it is refused with a sentence",
        "unit/harness/test_profile_tables.py::test_an_unusable_entry_names_file_key_value_and_remedy",
    ),
    Limit(
        "file with a key",
        size(credentials.MAX_KEY_FILE_BYTES),
        "the rest is not read",
        "security/test_special_files.py::test_of_a_key_file_no_more_than_its_limit_is_read",
    ),
    Limit(
        "pinned key in a saved layout",
        characters(state_listing.MAX_KEY),
        "it is left out",
        "unit/tui/test_pane_layout.py::test_how_keys_are_listed_is_remembered_and_what_does_not_fit_is_not",
    ),
    Limit(
        "list of recent agents",
        f"{size(recent.MAX_BYTES)}, {recent.MAX_REFERENCE:,} characters each",
        "it is not used",
        "security/test_special_files.py::test_a_list_of_recent_agents_above_its_limits_is_not_used",
    ),
    Limit(
        "index of the sessions",
        size(catalog.MAX_CACHE_BYTES),
        "it is made anew",
        "unit/journal/test_catalog.py::test_an_index_above_its_limit_is_not_read",
    ),
    Limit(
        "number of an event, a turn or a generation",
        f"2^{vocabulary.MAX_NUMBER.bit_length() - 1}",
        "the event is reported and skipped",
        "unit/test_vocabulary.py::test_a_number_that_no_session_reaches_is_refused",
    ),
    Limit(
        "time of an event",
        f"{vocabulary.MAX_TIME_S / 365 / 86_400:g} years",
        "it is reported and skipped",
        "unit/test_vocabulary.py::test_a_time_that_no_session_reaches_is_refused",
    ),
    Limit(
        "number of turns of a saved session",
        f"2^{snapshot.MAX_TURNS.bit_length() - 1}",
        "it is refused with the field",
        "unit/session/test_stores.py::test_a_field_that_cannot_be_used_is_named",
    ),
    Limit(
        "settings of an engine, and the token of its socket",
        f"{size(saved_spec.MAX_BYTES)} and {size(registry.MAX_TOKEN_BYTES)}",
        "they are not read",
        "security/test_special_files.py::test_what_an_engine_leaves_in_its_folder_is_not_read_above_its_limit",
    ),
    Limit(
        "entry of a running engine",
        size(registry.MAX_ENGINE_BYTES),
        "it names no engine",
        "security/test_special_files.py::test_a_damaged_engine_file_names_no_engine",
    ),
    Limit(
        "file of calibrations",
        f"{size(echo_path.MAX_FILE_BYTES)}, {echo_path.MAX_RESPONSE:,} samples of a response",
        "it is not used",
        "unit/audio/test_calibration.py::test_a_file_or_a_response_without_end_is_no_measurement",
    ),
)
