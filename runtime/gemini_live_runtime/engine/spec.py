"""Describe the session that an engine is to run, without any credential."""

from __future__ import annotations

import os
from dataclasses import asdict, field, fields
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.harness.profile import Profile, profile_of_json
from gemini_live_runtime.records import keyword_record

if TYPE_CHECKING:
    # Only for annotations: a console writes a spec before it imports the events.
    from gemini_live_runtime.events import Mode, Record

Turns = Literal["auto", "server", "client", "manual"]
AudioKind = Literal["devices", "files", "program", "none"]


BACKENDS = ("gemini", "vertex", "local")
"""Names of backends; any other backend is a URL."""


def new_session_id(wall: float) -> str:
    """Return a session id that sorts by time, such as `20261120-105912-3f9a`.

    It is safe as a folder's name.
    """
    from datetime import UTC, datetime

    stamp = datetime.fromtimestamp(wall, UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{os.urandom(2).hex()}"


@keyword_record
class EngineSpec:
    """Specification of one session: agent, backend, sound, recording, limits."""

    session_id: str
    agent: str = "concierge"
    """Name of a bundled agent, `MODULE:ATTR` or `FILE.py:ATTR`."""
    backend: str = "local"
    """Name `gemini`, `vertex` or `local`, or a ws:// or wss:// URL."""
    model: str = ""
    """Model in place of the agent's; "" for the agent's."""
    mode: Mode = "voice"
    record: Record = "audio"
    audio: AudioKind = "devices"
    input: str = ""
    """Index or name substring of a device, or WAV file of `audio="files"`; "" is the default device, or silence."""
    output: str = ""
    echo_cancelling: bool = True
    """False to take the microphone of a device as it is."""
    headphones: bool = False
    """True for a speaker that the microphone does not hear: it is then never attenuated against echo."""
    turns: Turns = "auto"
    """Detector of the user's turns: "server", "client", "manual", or "auto" for the agent's own choice."""
    noise_suppression: bool = False
    """True to take steady noise out of a device's microphone."""
    max_cost: float | None = None
    """Limit in US dollars; None is no limit."""
    max_minutes: float | None = None
    reconnect_for_s: float = 60.0
    """Seconds for which a lost connection is made again while no console is attached; with one it always is."""
    resume: bool = False
    """True to go on with the recorded session of this id, whose engine died or was ended."""
    headless: bool = False
    """True for a session without a console: a program or a script runs it."""
    dormant_after_s: float = 0.0
    """Seconds of quiet after which the connection is closed until something is to be said; 0 is never."""
    linger_s: float = 300.0
    """Seconds that an engine runs on without a console."""
    data_dir: str = ""
    """Folder of recordings; "" is the platform's data folder."""
    harness_root: str = ""
    """Folder of tasks, notifications and memory; "" for a temporary one that ends with the session."""
    profile: Profile = field(default_factory=Profile)
    """Profile's name, policies of consent and tools; its options are in the other fields."""
    consent: dict[str, Any] = field(default_factory=dict)
    """Policies of tools, "allow", "ask" or "deny" by name, which go ahead of the profile's and the tools' own."""
    record_cap_bytes: int = 2_000_000_000
    trusted_hosts: tuple[str, ...] = ()
    """Hosts from config that credentials may be sent to, besides Google's."""
    api_version: str = ""
    vertex_project: str = ""
    vertex_location: str = ""
    api_key_source: str = ""
    """Place of the key by config: `env`, `keyring` or `file`; "" searches all."""
    api_key_file: str = ""
    """File (0600) that holds the key."""
    api_key_entry: str = ""
    """Name of the key's entry in the keyring; "" is the usual one."""
    voice: str = ""
    prices: dict[str, Any] = field(default_factory=dict)
    """Table `[prices]` of the config, which overrides the built-in one."""
    server_script: str = ""
    """Dialogue file of the embedded server (backend `local` only)."""
    reload: bool = False
    """True to reload the agent when its file changes."""
    fast: bool = False
    """True to run the embedded server in this process, on the engine's own clock."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object from which `from_json` restores an equal spec."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> EngineSpec:
        """Restore a spec.

        Raises `EngineError` for an unknown or missing field, and `ConfigError` for a profile that cannot be used."""
        known = {f.name for f in fields(cls)}
        for name in value:
            if name not in known:
                raise EngineError(f"An engine spec has the unknown field {name!r}", field=name)
        if "session_id" not in value:
            raise EngineError("An engine spec lacks session_id", field="session_id")
        value = {**value, "trusted_hosts": tuple(value.get("trusted_hosts", ()))}
        return cls(**{**value, "profile": profile_of_json(value.get("profile", {}))})
