"""List limits of what comes from consoles at the engine's socket."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, seconds, size

from gemini_live_runtime.engine import console_outbox, console_server, host, link

LIMITS = (
    Limit(
        "consoles",
        f"{console_server.MAX_CONSOLES}",
        "a further one is refused with a sentence",
        "unit/engine/test_links_over_sockets.py::test_more_consoles_at_once_than_there_is_room_for_are_refused_one_by_one",
    ),
    Limit(
        "connections without a hello",
        f"{console_server.MAX_HELLOS}",
        "a further one is refused with a sentence",
        "unit/engine/test_links_over_sockets.py::test_callers_that_say_nothing_leave_no_room_until_they_are_gone",
    ),
    Limit(
        "time to the hello",
        seconds(console_server.HELLO_S),
        "the connection is closed with a sentence",
        "unit/engine/test_links_over_sockets.py::test_a_caller_that_says_nothing_is_sent_away",
    ),
    Limit(
        "line",
        size(link.MAX_COMMAND_BYTES),
        "that console is detached with a sentence",
        "unit/engine/test_links_over_sockets.py::test_a_line_that_is_too_long_ends_that_link_only",
    ),
    Limit(
        "lines that are no commands",
        f"{console_server.MAX_MALFORMED}",
        "that console is detached with a sentence",
        "unit/engine/test_links_over_sockets.py::test_a_console_that_only_sends_nonsense_is_let_go",
    ),
    Limit(
        "commands that wait",
        f"{host.MAX_COMMANDS:,}",
        "further ones are refused",
        "unit/engine/test_host.py::test_commands_above_the_bound_and_after_the_end_are_refused_by_id",
    ),
    Limit(
        "messages that a slow console has not read",
        f"{console_outbox.MAX_OUTBOX_LINES:,}, or {size(console_outbox.MAX_OUTBOX_BYTES)}",
        "that console is detached and attaches again",
        "unit/engine/test_link_contract.py::test_a_console_that_falls_too_far_behind_is_let_go_and_may_attach_again",
    ),
)
