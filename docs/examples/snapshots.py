"""Take a snapshot of a session, and write it to a file whole or not at all."""

import asyncio
import tempfile
from pathlib import Path

from gemini_live_runtime import FsPersistence, SessionPersistence, SessionSnapshot, State

state = State()
state.set("user:name", "Ada")
state.set("session:phase", "talk")
state.set("temp:draft", "half a sentence")

# Only what outlives a session is kept: `app:`, `user:`, `bg:` and bare keys.
snapshot = SessionSnapshot.take(state, session_id="customer-7", wall=1_800_000_000, agent="desk", turn_count=3)
print(snapshot.saved_at, dict(snapshot.state))

with tempfile.TemporaryDirectory() as folder:
    store: SessionPersistence = FsPersistence(Path(folder) / "sessions")
    asyncio.run(store.save(snapshot))
    restored = asyncio.run(store.load("customer-7"))
    assert restored is not None
    again = State()
    print(restored == snapshot, restored.restore_state(again), again.get("user:name"), again.written_by("user:name"))

    # An id that cannot be a file name never becomes one: it is encoded.
    print(FsPersistence(folder).path("../customer-7").name)

# Prints:
# 2027-01-15T08:00:00.000Z {'user:name': 'Ada'}
# True [] Ada restored customer-7
# _%2E%2E%2Fcustomer-7.json
