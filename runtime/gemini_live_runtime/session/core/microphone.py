"""Open and close the microphone, and follow the user's voice."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import EndActivity, Microphone, Send
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.wire import compose

LISTENING_LOCALLY, MICROPHONE_OFF = "listening locally", "the microphone is off"
"""Reasons shown while dormant: the user's voice wakes the session, or does not."""

FINISHING_TASKS = "it ends once its tasks have"
"""Reason shown while a session that was left waits for its tasks."""


def apply_microphone(state: CoreState, now: float) -> None:
    """Open or close the microphone as mode, switch, device and connection have it."""
    on = state.taking_audio
    if on and state.manual_activity and not state.facts.microphone:
        state.speech.begin(now)
    state.facts.microphone = on
    if state.link.is_dormant:
        heard = LISTENING_LOCALLY if on else MICROPHONE_OFF
        state.facts.why = FINISHING_TASKS if state.is_finishing else heard
    state.out.append(Microphone(on))
    if not on:
        if state.facts.status == "ready" and (state.facts.voice or (state.manual_activity and state.streaming_audio)):
            # Closing the microphone ends what was being said, as a pause would.
            state.facts.answer_possible_since = now
            state.speech.end(now, state.turns.number)
            state.watchdog.on_sign(now)
        elif state.link.is_open and state.facts.answer_possible_since is None:
            # Nothing was said that may have to be sent again.
            state.link.outbox.audio.on_heard()
        state.facts.voice = False
        end_audio_stream(state)
        if state.facts.status == "ready":
            absent = "" if state.input_open else "no microphone"
            absent = "the session ends soon" if state.is_draining else absent
            state.facts.why = absent if state.mode == "text" or state.is_draining else "microphone muted"


def end_audio_stream(state: CoreState) -> None:
    """Tell the server that no more audio comes for now."""
    if state.streaming_audio:
        state.streaming_audio = False
        if state.facts.status == "ready":
            if state.manual_activity:
                state.out.append(EndActivity())
            elif not state.client_activity:
                state.out.append(Send(compose.audio_stream_end()))


def change_voice(
    state: CoreState, now: float, speaking: bool, *, late_s: float = 0.0, peak_db: float | None = None
) -> None:
    """Note that the user's voice began or ended, `late_s` before now.

    `peak_db` is its highest level in dBFS, when known.
    """
    facts = state.facts
    if speaking and not facts.voice:
        state.speech.begin(now)
        if state.speeches.is_protected and (protected := state.ledger.audible()) is not None:
            state.ignore_interruption("protected", protected.number)
        if state.turns.is_open and state.turns.has_content:
            # What is broken off from here on is broken off by the voice.
            state.overtaken.clear()
    elif not speaking:
        if state.barge_in is not None and state.barge_in.ended is not None:
            # Words of what was said after the turn's end may still come.
            state.barge_in.ended = now
        state.speech.end(now - late_s, state.turns.number, peak_db)
    if facts.voice and not speaking:
        state.watchdog.on_sign(now)
        if state.taking_audio and not facts.speaking:
            facts.answer_possible_since = now
    if speaking:
        facts.answer_possible_since = None
    facts.voice = speaking


def mark_server_voice(state: CoreState, now: float, speaking: bool) -> None:
    """Note the server's mark that the user's voice began or ended."""
    state.server_voice = speaking
    state.emit(ev.VoiceMarked(speaking=speaking, source="server"))
    change_voice(state, now, speaking)


def emit_not_understood(state: CoreState, answer: Literal["answered", "nothing"]) -> None:
    """Report that the voice which may be answered was, without any words of it."""
    seconds = state.speech.seconds
    # What was asked for, by a prompt say, is no answer to a voice.
    if state.facts.answer_possible_since is None or state.facts.owed or seconds is None:
        return
    peak_db = state.speech.peak_db
    decided_by: Literal["server", "client", "switch"] = (
        "switch" if state.manual_activity else "client" if state.client_activity else "server"
    )
    state.emit(
        ev.SpeechNotUnderstood(
            seconds=round(seconds, 2),
            peak_db=None if peak_db is None else round(peak_db, 1),
            decided_by=decided_by,
            answer=answer,
        )
    )
    state.speech.clear()
