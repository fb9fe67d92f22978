"""List limits of what comes from an operator."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters, size

from gemini_live_runtime import commands
from gemini_live_runtime.harness import consent_store
from gemini_live_runtime.harness import paths as harness_paths
from gemini_live_runtime.journal.formats import sound
from gemini_live_runtime.journal.sessions import catalog, trash
from gemini_live_runtime.session.control import debugger_commands, preview_runner
from gemini_live_runtime.session.debugger import breakpoints
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.state import edits, expressions
from gemini_live_tui import early_keys, typed_ahead
from gemini_live_tui.cli import profiles
from gemini_live_tui.dialogs import events_filter, go_to
from gemini_live_tui.editors import value_parser
from gemini_live_tui.session_data import link as console_link

LIMITS = (
    Limit(
        "text",
        characters(commands.MAX_TEXT),
        "it is refused with a sentence, and stays in the prompt",
        "pilot/test_console_typing.py::test_a_message_that_is_too_long_stays_and_is_explained",
    ),
    Limit(
        "keys typed ahead of a screen that opens",
        f"{typed_ahead.MAX_WAITING:,}",
        "further ones are dropped",
        "pilot/test_typed_ahead.py::test_only_so_many_keys_wait_for_a_screen",
    ),
    Limit(
        "letters typed before the session has begun",
        f"{early_keys.MAX_EARLY:,}",
        "further ones are dropped",
        "pilot/test_typed_ahead.py::test_only_so_many_letters_wait_for_a_session",
    ),
    Limit(
        "texts that wait for the connection",
        f"{LinkPolicy().max_texts}",
        "further ones are refused",
        "unit/session/test_core_words_tools_limits.py::test_only_so_many_texts_wait_for_the_connection",
    ),
    Limit(
        "name of a phase, watcher, breakpoint or device",
        characters(commands.MAX_NAME),
        "the command is refused with a sentence",
        "unit/test_vocabulary.py::test_a_name_or_a_reason_without_end_is_refused",
    ),
    Limit(
        "reason of a command",
        characters(commands.MAX_REASON),
        "the command is refused with a sentence",
        "unit/test_vocabulary.py::test_a_name_or_a_reason_without_end_is_refused",
    ),
    Limit(
        "key of an edit",
        characters(edits.MAX_KEY),
        "the edit is refused",
        "session/operator/test_operator_edits_in_a_session.py::test_an_edit_of_nothing_of_too_much_or_of_one_key_twice_is_refused",
    ),
    Limit(
        "keys of one edit",
        f"{edits.MAX_EDITS:,}",
        "the edit is refused",
        "session/operator/test_operator_edits_in_a_session.py::test_an_edit_of_nothing_of_too_much_or_of_one_key_twice_is_refused",
    ),
    Limit(
        "edits that can be undone",
        f"{edits.MAX_STEPS}",
        "the oldest is forgotten",
        "session/operator/test_operator_edits_in_a_session.py::test_only_so_many_edits_are_remembered",
    ),
    Limit(
        "value in the editor",
        characters(value_parser.MAX_JSON),
        "it is refused with a sentence",
        "unit/tui/test_value_parser.py::test_what_is_no_json_is_told_where_and_how_to_mend_it",
    ),
    Limit(
        "expression",
        f"{characters(expressions.MAX_LENGTH)}, {expressions.MAX_DEPTH} levels",
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
        characters(breakpoints.MAX_TARGET),
        "it is refused",
        "unit/session/test_breakpoints.py::test_a_target_without_end_is_refused",
    ),
    Limit(
        "note of a mark",
        characters(debugger_commands.MAX_NOTE),
        "it is refused",
        "session/operator/test_holding_in_a_session.py::test_a_note_without_end_is_refused",
    ),
    Limit(
        "engines that die one after the other",
        f"{console_link.MAX_DEATHS}",
        "no further one is started",
        "unit/tui/test_console_reattach.py::test_engines_that_die_again_and_again_are_not_started_for_ever",
    ),
    Limit(
        "previews under way",
        f"{preview_runner.MAX_THREADS}",
        "a further one is refused",
        "session/operator/test_operator_previews_in_a_session.py::test_code_that_takes_too_long_on_a_copy_is_told_and_holds_nothing_up",
    ),
    Limit(
        "name of a profile",
        characters(harness_paths.MAX_PROFILE_NAME),
        "it is refused with a sentence",
        "unit/harness/test_profile_tables.py::test_a_name_that_is_no_file_name_is_no_profile",
    ),
    Limit(
        "key on standard input",
        characters(profiles.MAX_KEY),
        "it is refused with a sentence",
        "unit/cli/test_profiles_command.py::test_a_key_without_end_is_not_read_to_it",
    ),
    Limit(
        "consent that is remembered",
        f"{consent_store.MAX_GRANTS:,} grants",
        "the oldest is forgotten",
        "unit/harness/test_hostile_records.py::test_of_grants_without_end_the_newest_are_remembered",
    ),
    Limit(
        "filter of the events, and a moment to go to",
        f"{events_filter.MAX_FILTER} and {characters(go_to.MAX_MOMENT)}",
        "further ones are not taken",
        "pilot/test_screens.py::test_a_filter_and_a_moment_take_no_more_than_their_limits",
    ),
    Limit(
        "title of a session",
        characters(catalog.MAX_TITLE),
        "it is refused with a sentence",
        "unit/journal/test_catalog.py::test_a_title_too_long_is_refused_and_a_hostile_one_is_harmless",
    ),
    Limit(
        "deleted sessions",
        size(trash.MAX_TRASH_BYTES),
        "the one deleted first is removed for good",
        "unit/journal/test_trash.py::test_what_is_too_much_goes_oldest_deletion_first_but_never_the_last",
    ),
    Limit(
        "time to take a deleted session back",
        f"{trash.MAX_TRASH_DAYS} days",
        "it is removed for good",
        "unit/journal/test_trash.py::test_what_was_deleted_thirty_days_ago_goes",
    ),
    Limit(
        "sound of an export",
        f"{sound.MAX_S / 3600:g} hours",
        "it is refused with a sentence",
        "unit/journal/test_exported_sound.py::test_numbers_made_up_in_a_foreign_file_make_no_endless_sound",
    ),
)
