"""List limits of what comes from an engine, at the console."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, size

from gemini_live_runtime.engine import link, poke
from gemini_live_runtime.journal.fold import view
from gemini_live_tui.session_data import link as console_link

LIMITS = (
    Limit(
        "line",
        size(link.MAX_LINE_BYTES),
        "it is skipped",
        "unit/engine/test_links_over_sockets.py::test_a_console_takes_no_longer_line_of_its_engine",
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
        "unit/tui/test_console_reattach.py::test_a_console_that_missed_more_than_it_may_read_goes_to_the_present",
    ),
    Limit(
        "paragraphs of the transcript",
        f"{view.MAX_BLOCKS:,}",
        "the oldest are dropped and counted",
        "unit/test_fold.py::test_blocks_above_the_limit_are_dropped_and_counted",
    ),
    Limit(
        "answer to a question after its state",
        size(poke.MAX_ANSWER),
        "no more is read, and the engine counts as silent",
        "unit/engine/test_poke.py::test_of_an_answer_without_end_no_more_is_read_than_the_limit",
    ),
)
