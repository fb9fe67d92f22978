"""Hold back a call while the same one runs that may still become a task."""

from __future__ import annotations

import json
from collections.abc import Callable

from gemini_live_runtime.harness.call_claims import CallClaim
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.harness.repeated_calls import call_key, claim_here
from gemini_live_runtime.tools.dispatch import ToolDispatcher
from gemini_live_runtime.tools.results import ToolCall

CLAIM_WAIT_S = 2.0
"""Seconds beyond a call's budget in which another program records what becomes of the same call."""


def same_call(call: ToolCall) -> str:
    """Return a text that is equal for calls of one tool with the same arguments."""
    return f"{call.name} {json.dumps(call.args, sort_keys=True, default=repr)}"


class UndecidedCalls:
    """Calls of a session that may become tasks, and their claims on it."""

    def __init__(self, agent: AgentContext, dispatcher: ToolDispatcher, harness: HarnessWorker) -> None:
        self.on_decided: Callable[[], None] = lambda: None
        """Called when a call has become a task, or has ended as an ordinary one."""
        self._agent, self._dispatcher, self._harness = agent, dispatcher, harness
        self._calls: dict[str, str] = {}
        """Ids of calls that may become tasks, by tool and arguments."""
        self._claims: dict[str, CallClaim] = {}
        """Claims of undecided calls, by their ids."""
        self._claiming: dict[str, float] = {}
        """Time since which a call waits for what another program decides, by its id."""

    def __contains__(self, call: ToolCall) -> bool:
        """Return True while the same call runs that may still become a task for both."""
        return same_call(call) in self._calls

    def add(self, call: ToolCall) -> None:
        """Note that a call runs, and may become a task."""
        self._calls.setdefault(same_call(call), call.call_id)

    def key_of(self, call: ToolCall) -> str | None:
        """Return the key by which other programs recognise a call, if it can have one."""
        return call_key(self._agent.plan.name, call.name, call.args)

    async def claim(self, call: ToolCall) -> str | None:
        """Claim a call that may become a task, until it has ended or is one.

        Returns the id of the task of another program that does the same, "" when the call may run, and None when the
        other program's call may still become a task, so that this is to be asked again. Raises as
        `repeated_calls.claim_here`, whose time is the call's budget; `TimeoutError` also when the other program has not
        decided after its budget and `CLAIM_WAIT_S`.
        """
        budget_ms, key = self._dispatcher.mode_of(call.name).budget_ms, self.key_of(call)
        if budget_ms is None or key is None:
            return ""
        now = self._agent.clock.now()
        since = self._claiming.setdefault(call.call_id, now)
        try:
            claimed = await claim_here(self._harness, key, budget_ms / 1000)
            if claimed.claim is not None:
                self._claims[call.call_id] = claimed.claim
            elif not claimed.task:
                if now - since < budget_ms / 1000 + CLAIM_WAIT_S:
                    return None
                raise TimeoutError
        except BaseException:
            self._claiming.pop(call.call_id, None)
            raise
        self._claiming.pop(call.call_id, None)
        return claimed.task

    def decide(self, call_id: str) -> None:
        """Note that a call is a task, or has ended as an ordinary one."""
        self._claiming.pop(call_id, None)
        if (claim := self._claims.pop(call_id, None)) is not None:
            self._harness.release(claim)
        for text in [text for text, held in self._calls.items() if held == call_id]:
            del self._calls[text]
            self.on_decided()

    def decide_all(self) -> None:
        """Release every claim: the session ends."""
        for call_id in list(self._claims):
            self.decide(call_id)
