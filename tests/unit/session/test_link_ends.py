"""Classes of what ends a connection."""

from __future__ import annotations

import pytest

from gemini_live_runtime.errors import (
    CredentialError,
    GeminiLiveError,
    ProtocolError,
    SetupRejectedError,
    UnreachableError,
    UpgradeRefusedError,
)
from gemini_live_runtime.session.link.ends import end_of, keeps_handle, refuses_handle
from gemini_live_runtime.wire.closes import closed_after, closed_error


def rejected(code: int, reason: str = "") -> GeminiLiveError:
    try:
        raise SetupRejectedError("refused") from closed_error(code, reason)
    except SetupRejectedError as error:
        return error


@pytest.mark.parametrize(
    ("error", "end", "with_handle"),
    [
        (closed_error(1006), "network", True),
        (closed_error(1011, "Internal error encountered."), "passing", True),
        (closed_error(1011, "Deadline expired before operation could complete."), "passing", True),
        (closed_error(1011, "You exceeded your current quota"), "refused", True),
        (closed_error(1011, "The session cannot be resumed"), "handle", False),
        (closed_error(1007, "The input token count exceeds the maximum"), "context", False),
        (closed_error(1007, "Request contains an invalid argument."), "message", False),
        (closed_error(1008, "The operation was aborted."), "message", True),
        (closed_error(1008, "models/x is not found for API version v1beta"), "message", False),
        (closed_error(1008, "API key expired. Please renew the API key."), "refused", True),
        (closed_error(1009), "message", True),
        (closed_error(1009, by_us=True), "message", True),
        (closed_error(1000), "orderly", True),
        (closed_after({"code": 429, "message": "slow down"}, 1006), "refused", True),
        (closed_after({"code": 403}, 1000), "refused", True),
        (closed_after({"code": 503, "message": "later"}, 1006), "passing", True),
        (closed_after({"status": "INTERNAL"}, 1006), "passing", True),
        (closed_after({"message": "Session handle expired"}, 1011), "handle", False),
        (closed_after({"code": 7}, 1006), "network", True),
        (rejected(1011), "passing", True),
        (rejected(1008, "session not found"), "handle", False),
        (SetupRejectedError("The server did not answer the setup within 20 s"), "passing", True),
        (SetupRejectedError("an error", status=401), "refused", True),
        (SetupRejectedError("an error", status=400), "refused", True),
        (SetupRejectedError("an error", status=503), "passing", True),
        (UnreachableError("no route"), "network", True),
        (UpgradeRefusedError("forbidden", status=403), "refused", True),
        (UpgradeRefusedError("too many", status=429), "refused", True),
        (UpgradeRefusedError("unavailable", status=503), "passing", True),
        (CredentialError("no key"), "refused", True),
        (ProtocolError("garbage"), "message", True),
    ],
)
def test_what_ended_a_talk_decides_its_class_and_whether_the_handle_is_of_use(
    error: GeminiLiveError, end: str, with_handle: bool
) -> None:
    assert end_of(error, was_ready=True) == end
    assert keeps_handle(error) is with_handle


@pytest.mark.parametrize("reason", ["The operation was aborted.", "models/x is not found for API version v1beta"])
def test_what_may_be_about_one_message_in_a_talk_is_a_refusal_before_it(reason: str) -> None:
    assert end_of(closed_error(1008, reason), was_ready=True) == "message"
    assert end_of(rejected(1008, reason), was_ready=False) == "refused"


@pytest.mark.parametrize(
    ("error", "refuses"),
    [
        (rejected(1008, "session not found"), True),
        (rejected(1011), False),
        (rejected(1008, "API key expired. Please renew the API key."), False),
        (rejected(1011, "You exceeded your current quota"), False),
        (rejected(1008, "The operation was aborted."), True),
        (SetupRejectedError("an error", status=400), True),
        (SetupRejectedError("an error", status=429), False),
        (SetupRejectedError("an error", status=503), False),
        (UnreachableError("no route"), False),
    ],
)
def test_only_a_refusal_of_the_setup_itself_speaks_against_the_handle(error: GeminiLiveError, refuses: bool) -> None:
    assert refuses_handle(error) is refuses
