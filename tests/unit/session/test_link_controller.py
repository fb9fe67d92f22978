"""Life of a session's link, and what the server knows on each connection."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gemini_live_runtime.errors import NotConnectedError
from gemini_live_runtime.session.link.controller import HANDLE_AGE_S, RealtimeSessionController
from gemini_live_runtime.session.link.ends import LinkEnd
from gemini_live_runtime.session.ports.scripted_provider import ScriptedAdapter
from gemini_live_runtime.wire import compose

ENDS = st.sampled_from([end for end in LinkEnd if end is not LinkEnd.REFUSED])


def opened(link: RealtimeSessionController, now: float = 0.0) -> RealtimeSessionController:
    link.begin_opening()
    link.on_opened(now)
    link.open_gate()
    return link


def test_a_refused_first_connection_is_made_again_only_when_asked_for() -> None:
    link = RealtimeSessionController()
    link.on_attached(True)
    link.begin_opening()
    assert link.on_ended(LinkEnd.NETWORK, 0.0).delay_s is None
    assert link.state == "failed"
    assert link.ask_to_connect()
    assert link.state == "restarting"


def test_a_dormant_link_is_made_again_when_it_is_woken_and_forgets_a_handle_that_is_too_old() -> None:
    for slept_s, handle in ((HANDLE_AGE_S, "h1"), (HANDLE_AGE_S + 1, "")):
        link = opened(RealtimeSessionController())
        link.on_handle("h1")
        assert link.on_ended(LinkEnd.DORMANT, 5.0).delay_s is None
        assert link.state == "dormant"
        assert not link.ask_to_connect()
        assert link.wake(5.0 + slept_s)
        assert link.begin_opening() == handle
        assert not link.wake(5.0)


def test_a_link_that_is_there_cannot_be_asked_for() -> None:
    assert not opened(RealtimeSessionController()).ask_to_connect()


def test_a_console_that_comes_back_brings_a_lost_network_back_and_not_a_refused_key() -> None:
    for end, comes_back in ((LinkEnd.NETWORK, True), (LinkEnd.REFUSED, False)):
        link = opened(RealtimeSessionController())
        link.on_ended(end, 0.0)
        link.begin_opening()
        link.on_ended(end, 100.0)
        assert link.state == "failed"
        assert link.on_attached(True) is comes_back


async def test_sound_waits_at_the_gate_of_every_connection_the_first_included() -> None:
    link, adapter = RealtimeSessionController(), ScriptedAdapter()
    await adapter.connect()
    for _ in range(2):
        link.begin_opening()
        link.on_opened(0.0, adapter)
        assert not link.takes_audio
        link.open_gate()
        assert link.takes_audio
        link.on_ended(LinkEnd.PASSING, 0.0)


def test_a_message_before_the_link_is_open_or_after_its_end_is_refused_by_its_state() -> None:
    link, adapter = RealtimeSessionController(), ScriptedAdapter()
    sends = (lambda: link.post(compose.activity_end()), link.interrupt, lambda: link.send_audio(bytes(2)))
    for state, next_state in (
        ("closed", link.begin_opening),
        ("opening", lambda: (link.on_opened(0.0, adapter), link.on_ended(LinkEnd.NETWORK, 0.0))),
        ("restarting", lambda: (link.close(), link.let_go())),
        ("closed", lambda: None),
    ):
        for send in sends:
            with pytest.raises(NotConnectedError, match=f"the link is {state}"):
                send()
        next_state()
    assert not adapter.operations


async def test_a_link_whose_session_has_ended_takes_what_is_still_to_be_said_until_it_is_let_go() -> None:
    link, adapter = RealtimeSessionController(), ScriptedAdapter()
    await adapter.connect()
    link.begin_opening()
    link.on_opened(0.0, adapter)
    link.close()
    await link.post(compose.activity_end())
    assert adapter.operations == ["connect", "post"]


def test_an_agent_that_moves_now_and_then_waits_for_no_connection() -> None:
    link, now = opened(RealtimeSessionController()), 0.0
    for _ in range(50):
        now += 600.0
        assert link.on_ended(LinkEnd.MOVED, now).delay_s == 0
        link.begin_opening()
        link.on_opened(now)
        link.open_gate()


class Knowing(RuleBasedStateMachine):
    """Comparison of the link with a server that keeps snapshots."""

    def __init__(self) -> None:
        super().__init__()
        self.link = RealtimeSessionController()
        self.link.is_attached = True
        self.server: set[int] = set()
        self.snapshots: dict[str, set[int]] = {}
        self.marks: list[int] = []
        opened(self.link)

    def is_open(self) -> bool:
        return self.link.is_open

    @precondition(is_open)
    @rule()
    def something_happens(self) -> None:
        mark = self.link.mark()
        self.marks.append(mark)
        self.server.add(mark)

    @precondition(is_open)
    @rule()
    def the_server_gives_a_handle(self) -> None:
        handle = f"h{len(self.snapshots)}"
        self.snapshots[handle] = deepcopy(self.server)
        self.link.on_handle(handle)

    @precondition(is_open)
    @rule(end=ENDS, keeps=st.booleans())
    def the_connection_ends(self, end: LinkEnd, keeps: bool) -> None:
        self.link.on_ended(end, 0.0, keeps_handle=keeps)

    @precondition(lambda self: self.link.state in ("restarting", "failed", "dormant"))
    @rule()
    def it_is_made_again(self) -> None:
        _ = self.link.wake(0.0) or self.link.ask_to_connect()
        handle = self.link.begin_opening()
        self.server = deepcopy(self.snapshots[handle]) if handle else set()
        self.link.on_opened(0.0)
        self.link.open_gate()

    @invariant()
    def what_is_known_is_known(self) -> None:
        if self.link.is_open:
            assert {mark for mark in self.marks if self.link.knows(mark)} == self.server


Knowing.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_the_link_knows_what_the_server_knows = Knowing.TestCase
