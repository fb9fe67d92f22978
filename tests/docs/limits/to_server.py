"""List limits of what waits to be sent to a model's server."""

from __future__ import annotations

from tests.docs.limits.limit import Limit, seconds, size

from gemini_live_runtime.audio.process import shared_rings
from gemini_live_runtime.audio.processing import loop_listener
from gemini_live_runtime.session.io import user_turns
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.wire import connection, interim_responses, websocket

LIMITS = (
    Limit(
        "microphone audio that waits for the engine",
        f"{shared_rings.MAX_CHUNKS} chunks of 20 ms",
        "newer chunks are dropped and counted",
        "unit/audio/test_shared_rings.py::test_chunks_that_the_engine_does_not_take_are_dropped_and_counted",
    ),
    Limit(
        "microphone audio that waits for the network",
        f"{LinkPolicy().audio_kept_s:g} s, with speech {LinkPolicy().speech_kept_s:g} s more",
        "the oldest is dropped and counted",
        "session/link/test_slow_networks_in_a_session.py"
        "::test_sound_that_a_slow_network_has_cost_is_told_and_no_number_falls_back",
    ),
    Limit(
        "messages that a server does not read",
        size(connection.MAX_QUEUED_CHARS),
        "the connection is closed with a sentence",
        "unit/wire/test_connection.py::test_a_server_that_asks_and_never_reads_is_given_up",
    ),
    Limit(
        "answers to pings that a peer does not read",
        size(websocket.MAX_UNREAD_BYTES),
        "this side closes the connection (1008) and says so",
        "unit/wire/test_websocket_ends.py::test_a_server_that_pings_without_reading_the_answers_is_given_up",
    ),
    Limit(
        "a refusal's answer that is kept to be quoted",
        size(websocket.MAX_ANSWER_BYTES),
        "its status and the beginning are told",
        "unit/wire/test_websocket_refusals.py"
        "::test_of_a_refusal_without_end_the_status_and_the_beginning_are_told_and_no_more_is_kept",
    ),
    Limit(
        "interim responses (`100 Continue` and the like) before the answer to a handshake",
        size(interim_responses.MAX_INTERIM_BYTES),
        "the next one is taken for the answer",
        "unit/wire/test_websocket_refusals.py::test_a_server_that_gives_nothing_but_interim_responses_is_told_as_such",
    ),
    Limit(
        "microphone audio that waits for an engine that stalls",
        f"{loop_listener.MAX_CHUNKS} chunks of 20 ms",
        "the oldest is dropped and counted",
        "unit/audio/test_loop_listener.py::test_chunks_wait_for_a_stalled_loop_up_to_a_limit_then_the_oldest_are_dropped_and_counted",
    ),
    Limit(
        "sound of a turn, for the agent",
        seconds(user_turns.MAX_SOUND_S),
        "the newest is kept",
        "session/voice/test_ends_of_user_turns.py::test_of_a_turn_without_end_the_agent_gets_the_newest_sound",
    ),
)
