"""Let a session remember: read memory at its start, and serve the model's tools.

What an agent's scopes hold is in the state, under `session:memory:<scope>`, so that instructions can tell it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.memory_text import MAX_TOLD, Told, memory_key, told
from gemini_live_runtime.errors import GeminiLiveError, HarnessError
from gemini_live_runtime.harness.listing import Listing
from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.memory_store import MAX_SOURCE
from gemini_live_runtime.harness.memory_words import is_in_users_words
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.state.mutations import Origin, writing_as

if TYPE_CHECKING:
    from gemini_live_runtime.session.definition.plan import SessionPlan

_SIGNAL = Origin("signal", "memory")

LOOKUP_TOOLS = ("memory_get", "memory_list", "memory_search")

MAX_SHOWN = 200
"""Characters of a value in an event."""


class SessionMemory:
    """Memory as one session uses it. The disk's work runs in the thread of `harness`."""

    def __init__(self, agent: AgentContext, harness: HarnessWorker) -> None:
        self.session_id = ""
        self._agent = agent
        self._harness = harness
        self._read: set[str] = set()
        """Scopes that are in the state, or whose files cannot be read."""
        self._has_begun = False
        self._has_looked_up = False
        """True when the model has looked memories up before its engine died."""
        self._doubtful: dict[str, None] = {}
        """Memories that the model knows and that may hold a stranger's words, as scope/key, oldest first."""

    @property
    def doubtful(self) -> str:
        """Memory that may hold a stranger's words, as scope/key; "" without one.

        The model knows it. A model of another session wrote it, in words that are not the user's.
        """
        return next(iter(self._doubtful), "")

    def _note(self, records: Iterable[MemoryRecord]) -> None:
        """Note memories that the model learns.

        It does not forget one that is deleted, nor one that it replaces itself: that memory may have asked for it.
        """
        for one in records:
            name = f"{one.scope}/{one.key}"
            is_own = one.provenance is not None and one.provenance.session_id == self.session_id != ""
            if one.is_trusted:
                self._doubtful.pop(name, None)
            elif not (is_own or is_in_users_words(one)):
                self._doubtful[name] = None

    def on_recorded(self, recorded: Iterable[ev.Event]) -> None:
        """Note whether the model of the engine before has looked memories up.

        Which ones is not recorded, so all of its scopes count then.
        """
        self._has_looked_up = any(
            isinstance(event.payload, ev.ToolCalled) and event.payload.name in LOOKUP_TOOLS for event in recorded
        )

    async def load(self) -> None:
        """Read the memories of the agent's scopes into the state.

        The operator learns of files that cannot be read; the session goes on without them.
        """
        self._has_begun = True
        scopes = self._agent.plan.definition.memory_scopes
        if scopes and not self._harness.root:
            self._agent.emit(
                ev.Notice(
                    level="info",
                    code="memory",
                    text="What the agent remembers ends with this session",
                    remedy="Record the session, or let a program give connect(harness_root=...)",
                )
            )
        await self._load(scopes, _SIGNAL)
        for scope in scopes if self._has_looked_up else ():
            with contextlib.suppress(GeminiLiveError):  # reported above
                self._note((await self._harness.call(partial(_all_of, scope))).records)

    async def load_for(self, plan: SessionPlan) -> None:
        """Read the scopes of an agent that is to take over, as far as they are new."""
        await self._load([one for one in plan.definition.memory_scopes if one not in self._read], _SIGNAL)

    def on_described(self, event: ev.Event) -> None:
        """Read the scopes of an agent that was changed, as far as they are new."""
        if self._has_begun and not self._read.issuperset(self._agent.plan.definition.memory_scopes):
            self.look()

    def look(self) -> None:
        """Read the memories again, which another program may have changed."""
        scopes = self._agent.plan.definition.memory_scopes
        if scopes:
            # The program's writes are told to the model at once.
            self._agent.queue.put("memory changed", lambda: self._load(scopes, Origin("program", "memory")))

    async def _load(self, scopes: Sequence[str], origin: Origin) -> None:
        self._read.update(scopes)
        for scope in scopes:
            try:
                await self._tell(scope, origin)
            except GeminiLiveError as error:
                text = f"The agent begins without the memory of {scope}: {error.message}"
                self._agent.emit(
                    ev.Notice(level="warning", code="memory", text=redactor.text(text), remedy=error.remedy)
                )

    async def _tell(self, scope: str, origin: Origin) -> None:
        """Bring the newest memories of a scope into the state, sorted by key."""
        found = await self._harness.call(lambda harness: harness.memory.find(scope, limit=MAX_TOLD))
        self._note(found.records)
        memories = sorted((_told(one) for one in found.records), key=lambda one: one["key"])
        with writing_as(origin):
            self._agent.state.set(memory_key(scope), memories)

    # -- tools -------------------------------------------------------------------------------------------------------

    async def put(self, scope: str, key: str, value: Any) -> dict[str, Any]:
        """Remember a value, with the user's words of this turn as its origin.

        The answer names the value that it replaces.
        """
        said, _ = self._agent.current_words()
        write = MemoryWrite(
            scope=self._checked(scope),
            key=key,
            value=redactor.text(value) if isinstance(value, str) else value,
            provenance=MemoryProvenance(
                author=MemoryAuthor.MODEL,
                session_id=self.session_id or None,
                agent=self._agent.plan.name,
                turn=self._agent.host.turn,
                text=redactor.text(said.strip()[-MAX_SOURCE:]) or None,
            ),
        )
        known = {one["key"]: one["value"] for one in self._agent.state.get(memory_key(scope), [])}
        memory = await self._harness.call(lambda harness: harness.memory.put(write))
        kept = _told(memory)["value"]
        await self._changed(scope, key, "put", kept)
        replaced = known.get(key, kept)
        return {"remembered": key} if replaced == kept else {"remembered": key, "replaced": replaced}

    async def get(self, scope: str, key: str) -> dict[str, Any]:
        """Return a memory with its origin."""
        checked = self._checked(scope)
        memory = await self._harness.call(lambda harness: harness.memory.get(checked, key))
        self._note([memory])
        return {"key": memory.key, "value": memory.value, "by": _author(memory)}

    async def list(self, scope: str) -> dict[str, Any]:
        """Return the newest memories of a scope."""
        checked = self._checked(scope)
        return self._listed(await self._harness.call(lambda harness: harness.memory.find(checked, limit=MAX_TOLD)))

    async def delete(self, scope: str, key: str) -> dict[str, Any]:
        """Forget a memory."""
        checked = self._checked(scope)
        existed = await self._harness.call(lambda harness: harness.memory.delete(checked, key))
        if existed:
            await self._changed(scope, key, "deleted", "")
        return {"forgotten": key} if existed else {"error": f"There is no memory {key}."}

    async def search(self, scope: str, text: str) -> dict[str, Any]:
        """Return memories of a scope with words of `text`."""
        checked = self._checked(scope)
        return self._listed(await self._harness.call(lambda harness: harness.memory.search(text, scope=checked)))

    def _listed(self, found: Listing[MemoryRecord]) -> dict[str, Any]:
        self._note(found.records)
        return {"memories": [_told(one) for one in found.records]}

    async def _changed(self, scope: str, key: str, action: ev.MemoryAction, value: str) -> None:
        self._agent.emit(
            ev.MemoryChanged(scope=scope, key=key, action=action, by="model", value=redactor.text(value[:MAX_SHOWN]))
        )
        await self._tell(scope, _SIGNAL)

    def _checked(self, scope: str) -> str:
        """Return a scope that the agent may use; raise `HarnessError` for another one."""
        scopes = self._agent.plan.definition.memory_scopes
        if scope not in scopes:
            raise HarnessError(
                f"The agent has no memory of the scope {scope[:80]!r}",
                remedy=f"Use one of {', '.join(scopes)}" if scopes else "Add .memory(...) to the agent",
                field="scope",
                value=scope[:80],
            )
        return scope


def _all_of(scope: str, harness: Harness) -> Listing[MemoryRecord]:
    return harness.memory.find(scope)


def _told(memory: MemoryRecord) -> Told:
    return told(memory.key, memory.value, _author(memory))


def _author(memory: MemoryRecord) -> str:
    return memory.provenance.author.value if memory.provenance is not None else "unknown"
