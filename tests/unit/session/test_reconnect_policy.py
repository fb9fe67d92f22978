"""Decisions about reconnecting: if, when, and with which handle."""

from __future__ import annotations

import random

import pytest

from gemini_live_runtime.errors import (
    CredentialError,
    GeminiLiveError,
    ProtocolError,
    SetupRejectedError,
    UnreachableError,
    UpgradeRefusedError,
)
from gemini_live_runtime.session.io.reconnect_policy import (
    FREE_REPLACEMENTS,
    LONGEST_DELAY_S,
    MAX_ATTEMPTS,
    RESUMES,
    STABLE_S,
    ReconnectPolicy,
    keeps_handle,
    refuses_handle,
    retryable,
)
from gemini_live_runtime.wire.closes import closed_error


def rejected(code: int, reason: str = "") -> GeminiLiveError:
    try:
        raise SetupRejectedError("refused") from closed_error(code, reason)
    except SetupRejectedError as error:
        return error


@pytest.mark.parametrize(
    ("error", "again", "with_handle"),
    [
        (closed_error(1006), True, True),
        (closed_error(1011, "Internal error encountered."), True, True),
        (closed_error(1011, "You exceeded your current quota"), False, True),
        (closed_error(1011, "The session cannot be resumed"), True, False),
        (closed_error(1007, "The input token count exceeds the maximum"), True, False),
        (closed_error(1007, "Request contains an invalid argument."), False, False),
        (closed_error(1008, "The operation was aborted."), False, True),
        (closed_error(1008, "models/x is not found for API version v1beta"), False, False),
        (closed_error(1000), False, True),
        (rejected(1011), True, True),
        (rejected(1008, "session not found"), True, False),
        (SetupRejectedError("The server did not answer the setup within 20 s"), True, True),
        (SetupRejectedError("an error", status=401), False, True),
        (SetupRejectedError("an error", status=400), False, True),
        (SetupRejectedError("an error", status=503), True, True),
        (UnreachableError("no route"), True, True),
        (UpgradeRefusedError("forbidden", status=403), False, True),
        (UpgradeRefusedError("unavailable", status=503), True, True),
        (CredentialError("no key"), False, True),
        (ProtocolError("garbage"), True, True),
    ],
)
def test_what_ended_it_decides_whether_to_try_again_and_with_which_session(
    error: GeminiLiveError, again: bool, with_handle: bool
) -> None:
    assert retryable(error) is again
    assert keeps_handle(error) is with_handle


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


def test_the_first_attempt_is_made_at_once_and_the_others_below_a_doubling_bound() -> None:
    tries = ReconnectPolicy(random.Random(1))
    lost = closed_error(1006)
    delays = [tries.delay(lost) for _ in range(MAX_ATTEMPTS + 1)]
    assert delays[0] == 0
    assert delays[-1] is None
    for number, delay in enumerate(delays[1:-1], start=1):
        assert delay is not None
        assert 0 <= delay <= min(LONGEST_DELAY_S, 0.5 * 2**number)


def test_a_handle_is_brought_only_so_often() -> None:
    tries = ReconnectPolicy()
    brought = []
    while tries.delay(closed_error(1006)) is not None:
        brought.append(tries.resumes)
    assert brought == [True] * RESUMES + [False] * (MAX_ATTEMPTS - RESUMES)


def test_a_connection_that_lasted_begins_the_count_anew_and_a_short_one_does_not() -> None:
    tries = ReconnectPolicy()
    for _ in range(3):
        tries.delay(closed_error(1006))
    tries.connected(STABLE_S - 1)
    assert tries.attempts == 3
    tries.connected(STABLE_S)
    assert tries.attempts == 0


def test_an_orderly_end_is_followed_only_when_it_was_announced() -> None:
    assert ReconnectPolicy().delay(closed_error(1000)) is None
    assert ReconnectPolicy().delay(closed_error(1000), announced=True) == 0
    assert ReconnectPolicy().delay(closed_error(1008, "API key leaked"), announced=True) is None


def test_a_refused_handle_leads_to_a_fresh_session() -> None:
    assert ReconnectPolicy().delay(rejected(1008), unresumable=True) == 0


def test_moves_of_our_own_use_up_no_attempts_and_are_never_given_up_but_slow_down() -> None:
    tries = ReconnectPolicy()
    delays = [tries.replacement_delay() for _ in range(2000)]
    assert delays[:FREE_REPLACEMENTS] == [0.0] * FREE_REPLACEMENTS
    assert delays[FREE_REPLACEMENTS:] == sorted(delays[FREE_REPLACEMENTS:])
    assert delays[FREE_REPLACEMENTS] > 0
    assert delays[-1] == LONGEST_DELAY_S
    assert tries.attempts == 0
    assert tries.resumes
    tries.connected(STABLE_S)
    assert tries.replacement_delay() == 0
