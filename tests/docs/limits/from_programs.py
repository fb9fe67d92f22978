"""List limits of what comes from other programs of the user."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, characters

from gemini_live_runtime.harness import notification_prompt, notification_store, pump
from gemini_live_tui.cli import notify

LIMITS = (
    Limit(
        "title and body of a notification",
        f"{notification_store.MAX_TITLE} and {characters(notification_store.MAX_BODY)}",
        "the rest is cut, with a mark",
        "unit/harness/test_notification_store.py::test_a_long_title_and_body_are_cut_with_a_mark",
    ),
    Limit(
        "body of a notification, for the model",
        characters(notification_prompt.MAX_BODY),
        "the rest is left out, and a mark says how much",
        "unit/harness/test_notification_prompt.py::test_a_long_body_is_cut_with_a_mark",
    ),
    Limit(
        "notifications of one source in turn",
        f"the {pump.MAX_OF_LANE} oldest",
        "further ones wait in their files",
        "unit/harness/test_notification_pump.py::test_a_flood_of_one_source_leaves_room_for_others",
    ),
    Limit(
        "notifications that wait",
        f"{notification_store.MAX_OF_SOURCE:,} of a source, {notification_store.MAX_OPEN:,} in all",
        "the oldest expire",
        "unit/harness/test_notification_store.py::test_the_oldest_of_too_many_of_one_source_expire",
    ),
    Limit(
        "notifications of a digest",
        f"{pump.MAX_DIGEST}",
        "further ones are in the next",
        "unit/harness/test_notification_pump.py::test_a_digest_has_a_limit_and_the_rest_follows",
    ),
    Limit(
        "announcements of a notification that is not heard",
        f"{pump.MAX_ATTEMPTS}",
        "it is given up, with the reason",
        "unit/harness/test_notification_pump.py::test_one_that_is_never_heard_is_given_up_with_its_reason",
    ),
    Limit(
        "text of a notification on standard input",
        characters(notify.MAX_INPUT),
        "the rest is not read",
        "unit/cli/test_notify_command.py::test_of_an_endless_standard_input_the_beginning_is_read",
    ),
    Limit(
        "notifications in turn",
        f"the {pump.MAX_WAITING:,} oldest",
        "further ones wait in their files",
        "unit/harness/test_notification_pump.py::test_of_many_sources_so_many_notifications_wait_in_turn_and_the_rest_in_their_files",
    ),
)
