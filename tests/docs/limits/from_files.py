"""List limits of what comes from files."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, size

from gemini_live_runtime.agents import loader
from gemini_live_runtime.audio import echo_path, wav
from gemini_live_runtime.harness import profile
from gemini_live_runtime.journal import lines, reader, session_summary
from gemini_live_runtime.local import script
from gemini_live_tui import config_files, saved_layout, theming

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
)
