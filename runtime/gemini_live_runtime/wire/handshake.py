"""Complete the setup of a connection, and read the server's answer to it."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    FrameTooLargeError,
    ProtocolError,
    SetupRejectedError,
    UsageError,
)
from gemini_live_runtime.wire.closes import CloseKind, classify, code_and_reason, server_text, setup_refused
from gemini_live_runtime.wire.endpoints import Endpoint
from gemini_live_runtime.wire.fields import WrongTypeError
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage, Setup
from gemini_live_runtime.wire.support import refusals


def completed(setup: Setup, endpoint: Endpoint) -> Setup:
    """Return `setup` with the model's resource name.

    Raises `UsageError` without a model, and for settings that the backend does not support.
    """
    if not setup.model:
        raise UsageError("The setup names no model", remedy="Set the model", field="model")
    setup = replace(setup, model=endpoint.model_path(setup.model))
    refused = refusals(ClientMessage(setup=setup), endpoint.backend)
    if refused:
        raise UsageError("; ".join(refused), remedy="Leave it out", field="setup")
    return setup


def accepted(answer: ServerMessage | AudioFrame) -> ServerMessage:
    """Return the answer that accepts a setup; raise `SetupRejectedError` for another."""
    if not isinstance(answer, AudioFrame):
        if answer.setup_complete is not None:
            return answer
        if "error" in answer.raw:
            raise setup_refused(answer.raw["error"])
        if "setupComplete" in answer.raw:
            wrong = WrongTypeError("an object", answer.raw["setupComplete"])
            raise unreadable(ProtocolError(f"setupComplete: {wrong}"))
    raise SetupRejectedError(
        f"The server answered {_describe(answer)} instead of setupComplete",
        remedy="Check that the address is a Live API server and the API version",
        field="setup",
    )


def no_answer(timeout: float) -> SetupRejectedError:
    """Return the error for a server that did not answer within `timeout` seconds."""
    return SetupRejectedError(
        f"The server did not answer the setup within {timeout:g} s",
        remedy="Try again; if it recurs, check the address",
        field="setup",
    )


def unsendable(error: ProtocolError) -> UsageError:
    """Return the error for a setup that cannot be encoded, or is too large."""
    remedy = (
        "Shorten the instruction, or declare fewer tools" if isinstance(error, FrameTooLargeError) else error.remedy
    )
    return UsageError(f"The setup cannot be sent: {error.message}", remedy=remedy, field="setup")


def unreadable(error: ProtocolError) -> SetupRejectedError:
    """Return the error for an answer that cannot be decoded."""
    return SetupRejectedError(
        f"The server's answer to the setup cannot be read: {error.message}",
        remedy="Check that the address is a Live API server",
        field="setup",
    )


def closed_instead(error: ConnectionClosedError) -> SetupRejectedError:
    """Return the error for a server that closed instead of answering."""
    meaning = classify(error.close_code, error.reason, by_us=error.by_us)
    cause = code_and_reason(error.close_code, error.reason)
    if error.by_us or meaning.kind is CloseKind.NETWORK:
        message = f"{meaning.sentence} before the setup was accepted ({cause})"
    elif meaning.kind is CloseKind.UNKNOWN:
        message = f"The server closed instead of accepting the setup ({cause})"
    else:
        message = f"The server closed instead of accepting the setup ({cause}): {_lower_first(meaning.sentence)}"
    # Nothing was asked yet: an answer that is too large is no Live API server's.
    too_large = error.by_us and meaning.kind is CloseKind.TOO_LARGE
    remedy = "Check that the address is a Live API server" if too_large else meaning.remedy
    return SetupRejectedError(message, remedy=remedy, field="close_code", value=error.close_code)


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _describe(answer: ServerMessage | AudioFrame) -> str:
    if isinstance(answer, AudioFrame):
        return "audio"
    return server_text(", ".join(list(answer.raw)[:5]), 100) or "an empty message"
