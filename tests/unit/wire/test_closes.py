"""Every end has a meaning, the server's own words and a remedy."""

from __future__ import annotations

import pytest

from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import sanitise
from gemini_live_runtime.wire.closes import (
    MAX_REASON,
    CloseKind,
    classify,
    closed_error,
    error_text,
    setup_refused,
    upgrade_refused,
)

SEEN = [
    (1000, "", CloseKind.NORMAL),
    (1005, "", CloseKind.NORMAL),
    (3000, "", CloseKind.AUTH),
    (3003, "no", CloseKind.AUTH),
    (3008, "", CloseKind.DEADLINE),
    (1006, "", CloseKind.NETWORK),
    (1007, "Request contains an invalid argument.", CloseKind.ARGUMENT),
    (1007, "API key expired. Please renew the API key.", CloseKind.AUTH),
    (1007, "API key not valid. Please pass a valid API key.", CloseKind.AUTH),
    (1007, "Invalid JSON payload received. Unknown name \"x\" at 'setup': Cannot find field.", CloseKind.ARGUMENT),
    (1008, "Requested entity was not found.", CloseKind.MODEL),
    (
        1008,
        "models/x is not found for API version v1beta, or is not supported for bidiGenerateContent",
        CloseKind.MODEL,
    ),
    (1008, "Operation is not implemented, or supported, or enabled.", CloseKind.MODEL),
    (1008, "The operation was aborted.", CloseKind.ABORTED),
    (1008, "The operation was cancelled.", CloseKind.ABORTED),
    (1008, "Your API key was reported as leaked. Please use another API key.", CloseKind.AUTH),
    (1008, "auth token has expired", CloseKind.AUTH),
    (1008, "Permission denied on resource project p", CloseKind.AUTH),
    (1008, "Session handle not found", CloseKind.HANDLE),
    (1007, "The resumption token is invalid", CloseKind.HANDLE),
    (1007, "The input token count exceeds the maximum number of tokens allowed", CloseKind.CONTEXT),
    (1011, "Internal error encountered.", CloseKind.INTERNAL),
    (1011, "The service is currently unavailable.", CloseKind.UNAVAILABLE),
    (1011, "The model is overloaded. Please try again later.", CloseKind.UNAVAILABLE),
    (1011, "Deadline expired before operation could complete.", CloseKind.DEADLINE),
    (1011, "You exceeded your current quota, please check your plan and billing details.", CloseKind.QUOTA),
    (1011, "RESOURCE_EXHAUSTED", CloseKind.QUOTA),
    (1007, "User location is not supported for the API use.", CloseKind.LOCATION),
    (1011, "", CloseKind.INTERNAL),
    (1009, "frame exceeds limit", CloseKind.TOO_LARGE),
    (1002, "invalid opcode", CloseKind.PROTOCOL),
    (1003, "", CloseKind.ARGUMENT),
    (1012, "", CloseKind.UNAVAILABLE),
    (4321, "", CloseKind.UNKNOWN),
]


@pytest.mark.parametrize(("code", "reason", "kind"), SEEN)
def test_the_reason_decides_and_the_code_is_the_fallback(code: int, reason: str, kind: CloseKind) -> None:
    assert classify(code, reason).kind is kind


def test_every_meaning_is_reached_and_says_what_to_do() -> None:
    meanings = [classify(code, reason) for code, reason, _ in SEEN]
    assert {meaning.kind for meaning in meanings} == set(CloseKind)
    assert all(meaning.sentence and meaning.remedy for meaning in meanings)


@pytest.mark.parametrize(
    ("kind", "retryable", "keep_handle"),
    [
        (CloseKind.NETWORK, True, True),
        (CloseKind.DEADLINE, True, True),
        (CloseKind.HANDLE, True, False),
        (CloseKind.CONTEXT, True, False),
        (CloseKind.AUTH, False, True),
        (CloseKind.QUOTA, False, True),
        (CloseKind.MODEL, False, False),
        (CloseKind.ARGUMENT, False, False),
    ],
)
def test_retryable_closes(kind: CloseKind, retryable: bool, keep_handle: bool) -> None:
    code, reason = next((code, reason) for code, reason, expected in SEEN if expected is kind)
    meaning = classify(code, reason)
    assert (meaning.retryable, meaning.keep_handle) == (retryable, keep_handle)


def test_a_close_is_a_sentence_with_the_servers_words_and_a_remedy() -> None:
    error = closed_error(1011, "Deadline expired before operation could complete.")
    assert str(error) == (
        "The session reached the server's time limit (1011: Deadline expired before operation could complete). "
        "Connect again to go on."
    )
    assert (error.close_code, error.reason) == (1011, "Deadline expired before operation could complete.")
    assert str(closed_error(1006)).startswith("The connection broke (1006, no reason given).")


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1007, 1009])
def test_a_close_of_this_side_says_so_and_blames_no_setup(code: int) -> None:
    error = closed_error(code, "invalid start byte", by_us=True)
    assert "his side closed the connection" in error.message
    assert f"({code}: invalid start byte)" in error.message
    assert error.remedy
    assert error.by_us
    assert "setup" not in str(error)


def test_a_place_without_the_service_is_told_with_its_remedy_however_the_server_says_so() -> None:
    reason = "User location is not supported for the API use."
    body = b'{"error": {"code": 400, "message": "%s"}}' % reason.encode()
    refusals = (
        closed_error(1007, reason),
        upgrade_refused("host.example", 400, body),
        setup_refused({"code": 400, "message": reason, "status": "FAILED_PRECONDITION"}),
    )
    assert all("available-regions" in str(error) for error in refusals)


@pytest.mark.parametrize("ending", ["\x9b", "\x1b[", "\x1b]0;x", "\u202e", "\x90"])
def test_an_unfinished_sequence_of_a_server_takes_nothing_of_the_sentence(ending: str) -> None:
    error = closed_error(1008, f"no\nmore{ending}")
    assert sanitise(str(error)) == str(error)
    assert "no more" in str(error)
    assert str(error).endswith(f"{error.remedy}.")
    assert sanitise(error_text({"code": 403, "message": f"no{ending}"})) == "an error (403: no)"


def test_a_servers_reason_is_redacted_and_bounded() -> None:
    redactor.add("a-secret-of-this-test")
    error = closed_error(1008, "bad key a-secret-of-this-test AIzaSyCanaryCanaryCanary " + "x" * 1_000)
    assert "a-secret-of-this-test" not in str(error) + error.reason
    assert "AIza" not in str(error) + error.reason
    assert len(error.reason) == MAX_REASON


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (301, "not followed"),
        (400, "refused the request"),
        (401, "does not accept the credential"),
        (403, "does not allow this"),
        (404, "no Live API at this address"),
        (418, "refused the connection"),
        (429, "no quota left"),
        (503, "currently unavailable"),
    ],
)
def test_a_refused_upgrade_names_host_status_and_remedy(status: int, says: str) -> None:
    error = upgrade_refused("host.example", status)
    assert says in str(error)
    assert str(error).startswith("host.example ")
    assert f"HTTP {status}" in str(error)
    assert error.status == status
    assert error.remedy


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            b'{"error":{"code":403,"message":"Generative Language API is disabled."}}',
            "Generative Language API is disabled",
        ),
        (b'[{"error":{"message":"in a list"}}]', "in a list"),
        (b'{"error":"just text"}', "just text"),
        (b"<html><title>Error 404\n (Not Found &amp; gone)</title>", "Error 404 (Not Found & gone)"),
        (b"plain   words", "plain words"),
        (b"<html></html>", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b'{"error":' + b"[" * 5_000, '{"error":[[['),
    ],
)
def test_the_body_of_a_refusal_is_quoted(body: bytes, reason: str) -> None:
    text = str(upgrade_refused("h", 404, body))
    assert reason in text
    assert ("HTTP 404:" in text) is bool(reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"error": {"code": 403, "message": "Say \\"please\\".", "deta', 'Say "please".'),
        (b'{"error": {"code": 403, "message": "no \xc3', "no …"),
        (b"<html><head><title>Forbidden by the fire", "Forbidden by the fire…"),
        (b"plain words of a prox", "plain words of a prox…"),
        (b'{"error": {"message": "The key a-registered-canary', "The key [redacted]…"),
        (b"", ""),
    ],
)
def test_the_part_of_a_body_that_came_is_quoted_without_a_part_of_the_key(body: bytes, reason: str) -> None:
    redactor.add("a-registered-canary-of-cut-bodies")
    error = upgrade_refused("h", 403, body, is_cut=True)
    assert error.message == "h does not allow this (HTTP 403" + (f": {reason})" if reason else ")")
