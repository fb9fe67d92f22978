"""Make an engine's spec of the settings and the command line."""

from __future__ import annotations

import time

from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.harness.paths import HarnessPaths, default_root
from gemini_live_runtime.records import keyword_record
from gemini_live_tui.config import Config, Loaded


@keyword_record
class Sound:
    """Sound settings of a command line."""

    kind: str = "devices"
    input: str = ""
    output: str = ""
    text: bool = False


def spec_of(
    loaded: Loaded,
    *,
    agent: str,
    backend: str,
    sound: Sound,
    script: str = "",
    fast: bool = False,
    reload: bool = False,
    headless: bool = False,
    allowed: tuple[str, ...] = (),
    asked: tuple[str, ...] = (),
) -> EngineSpec:
    """Return the engine's spec of a loaded config and the command line's additions.

    Calls of the `allowed` tools need no consent, those of the `asked` ones do. Raises `UsageError` for a tool of both.
    """
    config: Config = loaded.config
    for name in asked:
        if name in allowed:
            raise UsageError(f"--ask and --allow both name {name[:80]}", remedy="Leave out one of them", field="ask")
    if agent != Config().agent:
        # Checked before a screen opens and an engine starts. The default agent needs no check.
        from gemini_live_runtime.agents.catalogue import bundled_name
        from gemini_live_runtime.agents.loader import check_reference, check_syntax

        check_reference(agent)
        check_syntax(agent)
        agent = bundled_name(agent) or agent
    devices = sound.kind == "devices"
    return EngineSpec(
        session_id=new_session_id(time.time()),
        agent=agent,
        backend=backend,
        model=config.model,
        voice=config.voice,
        mode="text" if sound.text else "voice",
        record=config.record,  # type: ignore[arg-type]
        audio=sound.kind,  # type: ignore[arg-type]
        input=config.audio_input if devices else sound.input,
        output=config.audio_output if devices else sound.output,
        echo_cancelling=config.echo_cancelling,
        headphones=config.headphones,
        turns=config.turns,  # type: ignore[arg-type]
        noise_suppression=config.noise_suppression,
        max_cost=config.max_cost or None,
        max_minutes=config.max_minutes or None,
        headless=headless,
        reconnect_for_s=config.reconnect_for_s,
        dormant_after_s=0.0 if headless else config.dormant_after_s,
        linger_s=config.linger_s,
        profile=loaded.profile,
        consent={
            **_unrecorded_policies(loaded),
            **dict.fromkeys(allowed, "allow"),
            **dict.fromkeys(asked, "ask"),
        },
        # Without recording nothing is kept: tasks and memory last as long as the session.
        harness_root="" if config.record == "off" else str(default_root(loaded.profile.name)),
        record_cap_bytes=int(config.cap_gb * 1e9),
        trusted_hosts=tuple(config.trusted_hosts),
        api_version=config.api_version,
        vertex_project=config.vertex_project,
        vertex_location=config.vertex_location,
        api_key_source=config.api_key_source,
        api_key_file=config.api_key_file,
        api_key_entry=config.api_key_entry,
        prices=config.prices,
        server_script=script,
        reload=reload,
        fast=fast,
    )


def _unrecorded_policies(loaded: Loaded) -> dict[str, str]:
    """Return the policies that are remembered, for a session that keeps nothing.

    It has no harness root to read them from. Raises `HarnessError` for a file that cannot be used.
    """
    paths = HarnessPaths(default_root(loaded.profile.name))
    if loaded.config.record != "off" or not paths.consent.exists():
        return {}
    from gemini_live_runtime.harness.consent_store import ConsentStore
    from gemini_live_runtime.harness.record_files import RecordFiles

    return dict(ConsentStore(paths, RecordFiles(), lambda: 0).read().policies or {})
