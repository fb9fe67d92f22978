"""What an engine is asked to run. Holds names and paths, never a credential."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.errors import EngineError

if TYPE_CHECKING:
    # Only for annotations: a console writes a spec before it imports the events.
    from gemini_live_runtime.events import Mode, Record

AudioKind = Literal["devices", "files", "program", "none"]


def new_session_id(wall: float) -> str:
    """A session id that sorts by time and is safe as a folder name, e.g. `20261120-105912-3f9a`."""
    from datetime import UTC, datetime

    stamp = datetime.fromtimestamp(wall, UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{os.urandom(2).hex()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """One session: who talks, to what, through which sound, recorded how, within which limits."""

    session_id: str
    agent: str = "concierge"
    """A bundled agent's name, `MODULE:ATTR` or `FILE.py:ATTR`."""
    backend: str = "local"
    """`gemini`, `vertex`, `local` or a ws:// or wss:// URL."""
    model: str = ""
    """Overrides the agent's model."""
    mode: Mode = "voice"
    record: Record = "audio"
    audio: AudioKind = "devices"
    input: str = ""
    """Device index or name substring, or the WAV file of `audio="files"`; "" is the default device, or silence."""
    output: str = ""
    max_cost: float | None = None
    """US dollars; None is no limit."""
    max_minutes: float | None = None
    linger_s: float = 300.0
    """Seconds an engine goes on after its last console vanished."""
    data_dir: str = ""
    """Where sessions are kept; "" is the platform's data folder."""
    record_cap_bytes: int = 2_000_000_000
    trusted_hosts: tuple[str, ...] = ()
    """Hosts named in config that credentials may be sent to, besides Google's."""
    api_version: str = ""
    vertex_project: str = ""
    vertex_location: str = ""
    api_key_source: str = ""
    """Where config says the key is: `env`, `keyring` or `file`; "" is wherever it is found."""
    api_key_file: str = ""
    """A 0600 file that holds the key."""
    voice: str = ""
    prices: dict[str, Any] = field(default_factory=dict)
    """The `[prices]` of the config, laid over the built-in table."""
    server_script: str = ""
    """Dialogue file of the embedded server (backend `local` only)."""
    reload: bool = False
    """Read an own agent again when its file has changed."""
    fast: bool = False
    """The embedded server in this process, on the engine's own (virtual) clock."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` restores an equal spec."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> EngineSpec:
        """Restore a spec; an unknown or missing field raises `EngineError` naming it."""
        known = {f.name for f in fields(cls)}
        for name in value:
            if name not in known:
                raise EngineError(f"An engine spec has the unknown field {name!r}", field=name)
        if "session_id" not in value:
            raise EngineError("An engine spec lacks session_id", field="session_id")
        value = {**value, "trusted_hosts": tuple(value.get("trusted_hosts", ()))}
        return cls(**value)
