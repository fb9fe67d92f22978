"""Decide which tool calls may run, and ask the operator where needed.

A call that waits for consent does not wait on the task queue: the conversation goes on meanwhile. Only a command of the
operator's, the program's `on_consent`, a remembered grant or, where `VoiceConsent` has asked aloud, the user's voice
says yes. What the user types, what the model says, and results, notifications and memory come nowhere near.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import field, replace
from typing import Any

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import is_awaitable
from gemini_live_runtime.choices import nearest
from gemini_live_runtime.errors import AgentError, GeminiLiveError, HarnessError
from gemini_live_runtime.harness.consent_store import ConsentRecord
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.tools.consent_queue import PATIENCE_S, ConsentQuestion, ConsentQueue
from gemini_live_runtime.session.agent.tools.spoken_question import SpokenAnswer
from gemini_live_runtime.session.agent.tools.voice_consent import VoiceConsent
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.tools.consent import ConsentPolicy, check_policies, first_policy
from gemini_live_runtime.tools.declaration import Tool
from gemini_live_runtime.tools.fingerprint import fingerprint
from gemini_live_runtime.tools.results import ToolCall

DECLARED = "The agent asks before each call of this tool."
BY_PROFILE = "The profile asks before each call of this tool."
BY_SESSION = "This session asks before each call of this tool."
BY_NOTIFICATION = "A notification made the model call this tool, not the user."
BY_MEMORY = "The model remembers {name} in words that are not yours, and this tool has effects outside the program."
ALWAYS = "This tool asks before each call, whatever the policies say."
UNREADABLE = "The policies of the profile cannot be read, and this tool has effects outside the program."

DENIED = "The tool {name} is not allowed here, so it was not run. Tell the user, and do not call it again."
TOO_MANY = "The user is asked about many calls already, so {name} was not run. Wait for their answers."
REFUSALS: dict[ev.ConsentBy, str] = {
    "operator": "The user refused the call of {name}, so it was not run. Do not call it again unless the user asks.",
    "voice": "The user refused the call of {name}, so it was not run. Do not call it again unless the user asks.",
    "program": "The program refused the call of {name}, so it was not run. Do not call it again unless the user asks.",
    "unattended": "The call of {name} needs the consent of a person, and nobody can give it here, so it was not run.",
    "time": "Nobody agreed to the call of {name} in time, so it was not run. Call it again if the user asks for it.",
    "cancelled": "The call of {name} was cancelled before anybody agreed to it.",
    "end": "The session ended before anybody agreed to the call of {name}, so it was not run.",
}
"""Sentences for the model about a call that was not run, by the one who decided."""


@record
class ConsentRequest:
    """Question as `on_consent` gets it: a call with its arguments, and a reason."""

    id: str
    tool: str
    args: dict[str, Any]
    reason: str


OnConsent = Callable[[ConsentRequest], bool | Awaitable[bool]]
"""Answers for a program; only True is a yes."""


@record
class ConsentOptions:
    """Options of a session: policies by tool, and who answers."""

    policies: Mapping[str, ConsentPolicy] = field(default_factory=dict)
    """Policies that go ahead of the profile's and the tools' own."""
    profile: Mapping[str, ConsentPolicy] = field(default_factory=dict)
    """Policies of the profile's file, behind those that are remembered for the profile."""
    on_consent: OnConsent | None = None
    is_attended: bool = True
    """False without `on_consent` and without a console: the answer is no at once."""


class ConsentGate:
    """Gate of the calls that need consent, in one session."""

    def __init__(
        self,
        agent: AgentContext,
        harness: HarnessWorker,
        code: UserCode,
        options: ConsentOptions,
        *,
        tools: Callable[[], Mapping[str, Tool]],
        async_tools: bool,
        doubtful_memory: Callable[[], str],
    ) -> None:
        """`tools` returns the present tools by name.

        `async_tools`: the model can go on speaking while calls run. `doubtful_memory` returns the name of a memory
        that may hold a stranger's words, "" without one.
        """
        self.on_answer: Callable[[ConsentQuestion, ev.ConsentGiven], None] = lambda question, given: None
        """Called with a question and its answer, once that is published."""
        self._agent = agent
        self._harness = harness
        self._code = code
        self._options = options
        self._tools = tools
        self._doubtful_memory = doubtful_memory
        self._queue = ConsentQueue()
        self._asked = 0
        self._timer: asyncio.TimerHandle | None = None
        self._remembered: Mapping[str, ConsentPolicy] | None = {}
        """Policies that the profile's records remember; None when they cannot be read."""
        self._mark: tuple[int, int, int] | None = None
        """State of the file from which they were read."""
        self._told_unreadable = False
        self._voice = VoiceConsent(agent, tools, async_tools=async_tools)
        self._voice.on_listening = self._on_listening
        self._voice.on_answer = self._on_spoken
        self._voice.on_off = self._on_voice_off
        agent.bus.subscribe(self._on_held, ev.AgentHeld)
        agent.bus.subscribe(self._on_released, ev.AgentReleased)

    # -- policies ----------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Read the policies that are remembered for the profile.

        Where they cannot be read, tools with side effects ask.
        """
        for name in self._options.policies:
            self._look_for(name)
        await self.refresh()

    async def refresh(self) -> None:
        """Read the remembered policies again, where another program has changed them.

        Costs one system call otherwise.
        """
        mark = self._harness.consent_mark
        if mark == self._mark and self._remembered is not None:
            return
        record = ConsentRecord() if mark is None else await self._read()
        self._mark, self._remembered = mark, None if record is None else record.policies or {}

    def look(self) -> None:
        """Read the remembered policies again, soon, if they have changed."""
        if self._harness.consent_mark != self._mark:
            self._agent.queue.put("policies", self._apply_remembered)

    async def _apply_remembered(self) -> None:
        await self.refresh()
        self._refuse_denied()

    def set_policies(self, order: cmd.SetConsentPolicies, command_id: str) -> None:
        """Replace the policies of the profile's file; raise `AgentError` for what is none."""
        self._options = replace(self._options, profile=check_policies(order.policies))
        self._refuse_denied()

    def _refuse_denied(self) -> None:
        """Answer the questions about tools that are denied by now."""
        for question in reversed(self._queue.all):  # so that none of them is asked once more
            if self.policy(question.call.name)[0] == "deny":
                self._answer(question, yes=False, by="operator")

    def _look_for(self, name: str) -> None:
        """Tell the operator of a policy for an unknown tool: its name may be wrong."""
        if name not in self._tools():
            near = nearest(name, self._tools())
            text = f"There is no tool {sanitise_line(name, 80)!r}: its policy counts for another agent only"
            self._notice(redactor.text(text), f"Did you mean {near}?" if near else "")

    async def _read(self) -> ConsentRecord | None:
        """Return what the disk remembers; None when it cannot be used.

        That is reported once.
        """
        try:
            return await self._harness.call(lambda harness: harness.consent.read())
        except HarnessError as error:
            if not self._told_unreadable:
                self._told_unreadable = True
                text = redactor.text(f"Remembered consent does not count: {error.message}")
                self._notice(text, error.remedy)
            return None

    def policy(self, name: str, *, by_notification: bool = False) -> tuple[ConsentPolicy, str]:
        """Return the policy of a tool, with the reason to ask.

        The session's goes first, then what is remembered for the profile, then the profile's file, then the tool's own.
        Operator and program write these, never a model. `by_notification`: the call follows from a
        notification, after which tools with side effects ask unless they are denied.
        """
        policy, reason = self._usual_policy(name)
        tool = self._tools().get(name)
        if by_notification and policy != "deny" and tool is not None and tool.side_effects:
            return "ask", BY_NOTIFICATION
        if policy == "allow" and tool is not None and tool.always_asks:
            return "ask", ALWAYS
        return policy, reason

    def _usual_policy(self, name: str) -> tuple[ConsentPolicy, str]:
        tool = self._tools().get(name)
        remembered = self._remembered
        layers = (
            (self._options.policies, BY_SESSION),
            (remembered or {}, BY_PROFILE),
            (self._options.profile, BY_PROFILE),
            ({} if tool is None else {name: tool.consent}, DECLARED),
        )
        policy, reason = first_policy(name, layers) or ("allow", "")
        has_effects = tool is not None and tool.side_effects
        if remembered is None and policy == "allow" and reason != BY_SESSION and has_effects:
            return "ask", UNREADABLE
        if policy == "allow" and reason == DECLARED and has_effects and (memory := self._doubtful_memory()):
            return "ask", BY_MEMORY.format(name=memory)
        return policy, reason

    # -- questions ---------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """True while a question is open."""
        return self._queue.open is not None

    @property
    def is_full(self) -> bool:
        """True when too many questions wait for another one."""
        return self._queue.is_full

    async def request(self, call: ToolCall, reason: str, *, by_notification: bool = False) -> None:
        """Ask about a call, unless a grant for this version of its tool is remembered.

        What a notification has caused is asked in any case: the grant was given for what the user asks for.
        """
        tool = self._tools()[call.name]
        version = fingerprint(tool)
        self._asked += 1
        if tool.explain is not None:
            reason = f"{redactor.text(tool.explain(call.args))} {reason}"
        question = ConsentQuestion(self._new_id(call), call, reason, version, by_notification)
        may_remember = self._harness.has_consent and not by_notification and not tool.always_asks
        record = await self._read() if may_remember else None
        if record is not None and record.has_grant(call.name, version):
            self._settle(question, yes=True, by="remembered")
            return
        was_open = self.is_open
        self._queue.add(question, self._agent.clock.now())
        if not was_open:
            self._ask()

    def _new_id(self, call: ToolCall) -> str:
        # The call's id belongs to it: an engine that goes on with the session counts from the beginning.
        return f"q{self._asked}-{hashlib.sha256(call.call_id.encode()).hexdigest()[:8]}"

    def _ask(self) -> None:
        """Ask the question that is open now; without one, do nothing."""
        question = self._queue.open
        if question is None:
            return
        call, on_consent = question.call, self._options.on_consent
        aloud, voice_reason = self._voice.question_for(
            question, by_program=on_consent is not None, doubtful_memory=self._doubtful_memory()
        )
        self._agent.emit(
            ev.ConsentAsked(
                id=question.id,
                tool=call.name,
                call_id=call.call_id,
                args=redactor.value(dict(call.args)),
                reason=question.reason,
                expires_s=PATIENCE_S,
                voice=bool(aloud),
                voice_reason=redactor.text(voice_reason),
                question=aloud,
            )
        )
        self._schedule()
        if on_consent is not None:
            self._ask_program(question, on_consent)
        elif aloud:
            self._voice.begin(question, aloud)
        elif not self._options.is_attended:
            self._answer(question, yes=False, by="unattended")

    def _ask_program(self, question: ConsentQuestion, on_consent: OnConsent) -> None:
        call = question.call
        request = ConsentRequest(question.id, call.name, deepcopy(dict(call.args)), question.reason)

        async def ask() -> None:
            answer: object = False
            try:
                answer = on_consent(request)
                if is_awaitable(answer):
                    answer = await answer
            finally:
                # A fault is a no.
                self._answer(question, yes=answer is True, by="program")

        ask.__qualname__ = name = function_name(on_consent)
        self._code.spawn("on_consent", ask, origin=Origin("callback", name, "on_consent"))

    def _answer(
        self, question: ConsentQuestion, *, yes: bool, by: ev.ConsentBy, remembered: bool = False, said: str = ""
    ) -> bool:
        """Answer a question, and ask the next one.

        Returns False for one that was answered before.
        """
        was_open = self._queue.open is question
        if not self._queue.remove(question, self._agent.clock.now()):
            return False
        self._voice.end(question)
        self._settle(question, yes=yes, by=by, remembered=remembered, said=said)
        if was_open:
            self._schedule()
            self._ask()
        return True

    def _settle(
        self, question: ConsentQuestion, *, yes: bool, by: ev.ConsentBy, remembered: bool = False, said: str = ""
    ) -> None:
        call = question.call
        given = ev.ConsentGiven(
            id=question.id, tool=call.name, call_id=call.call_id, yes=yes, by=by, remembered=remembered, said=said
        )
        self._agent.emit(given)
        self.on_answer(question, given)

    def is_unchanged(self, question: ConsentQuestion) -> bool:
        """Return True when the tool is still the one that was asked about."""
        tool = self._tools().get(question.call.name)
        return tool is not None and fingerprint(tool) == question.fingerprint

    def withdraw(self, call_id: str) -> bool:
        """Take back the question about a call; return False without one."""
        question = self._queue.find(call_id)
        if question is None:
            return False
        self._answer(question, yes=False, by="cancelled")
        return True

    def close(self) -> None:
        """Answer all questions with no: the session ends."""
        while (question := self._queue.last) is not None:
            self._answer(question, yes=False, by="end")
        self._schedule()

    # -- voice -------------------------------------------------------------------------------------------------------

    def _on_listening(self, question: ConsentQuestion) -> None:
        self._queue.renew(question, self._agent.clock.now())
        self._schedule()

    def _on_spoken(self, question: ConsentQuestion, answer: SpokenAnswer) -> None:
        self._answer(question, yes=answer.yes, by="voice", said=redactor.text(answer.said))

    def _on_voice_off(self, question: ConsentQuestion) -> None:
        if not self._options.is_attended:
            self._answer(question, yes=False, by="unattended")

    # -- time --------------------------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        question = self._queue.open
        if question is not None and not self._queue.is_resting:
            left_s = self._queue.left_s(self._agent.clock.now())
            self._timer = asyncio.get_running_loop().call_later(left_s, self._on_time, question)

    def _on_time(self, question: ConsentQuestion) -> None:
        self._timer = None
        self._answer(question, yes=False, by="time")

    def _on_held(self, event: ev.Event) -> None:
        self._queue.hold(self._agent.clock.now())
        self._schedule()

    def _on_released(self, event: ev.Event) -> None:
        self._queue.release(self._agent.clock.now())
        self._schedule()

    # -- operator ----------------------------------------------------------------------------------------------------

    async def give(self, order: cmd.GiveConsent, command_id: str) -> None:
        """Answer the open question; raise `AgentError` for another one."""
        question = self._queue.open
        if question is None or question.id != order.id:
            raise AgentError(
                f"There is no open question {order.id[:80]}",
                remedy="Answer the question that is open now" if question is not None else "It was answered before",
                field="id",
                value=order.id[:80],
            )
        if order.remember and not order.yes:
            raise AgentError("Only a yes can be remembered", remedy="Leave out remember", field="remember", value=True)
        remembered = order.remember is True and await self._remember(question)
        if not self._answer(question, yes=order.yes is True, by="operator", remembered=remembered):
            raise AgentError("The question was answered before", field="id", value=order.id[:80])

    async def _remember(self, question: ConsentQuestion) -> bool:
        """Remember a grant on the disk; return False when that refuses, which is reported."""
        tool = self._tools().get(question.call.name)
        if tool is not None and tool.always_asks:
            self._notice("The grant counts for this call only: the tool asks each time", "")
            return False
        if not self._harness.root:
            self._notice("The grant counts for this call only: the session keeps no harness", "Give it a harness_root")
            return False
        name = self._agent.plan.name
        try:
            await self._harness.call(
                lambda harness: harness.consent.grant(question.call.name, question.fingerprint, agent=name)
            )
        except GeminiLiveError as error:
            self._notice(redactor.text(f"The grant counts for this call only: {error.message}"), error.remedy)
            return False
        return True

    async def revoke(self, order: cmd.RevokeConsent, command_id: str) -> None:
        """Revoke what is remembered.

        Raises `GeminiLiveError` when nothing is, and when the disk refuses.
        """
        revoked: tuple[str, ...] = ()
        if self._harness.has_consent:
            revoked = await self._harness.call(lambda harness: harness.consent.revoke(order.tool))
        if not revoked:
            of = f" of {order.tool[:80]}" if order.tool else ""
            raise AgentError(f"No consent{of} is remembered", field="tool", value=order.tool[:80])
        self._agent.emit(ev.ConsentRevoked(tools=revoked))

    def _notice(self, text: str, remedy: str) -> None:
        self._agent.emit(ev.Notice(level="warning", code="consent", text=text, remedy=redactor.text(remedy)))
