"""Run one session as a process: `python -m gemini_live_runtime.engine SPEC_FILE`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.process import main
from gemini_live_runtime.engine.spec import EngineSpec

if TYPE_CHECKING:
    from gemini_live_runtime.session.ports.sink import RunnableSession


def _make_session(spec: EngineSpec, hub: Hub, clock: Clock) -> RunnableSession:
    # Imported once the console server listens: consoles attach while the session's parts load.
    from gemini_live_runtime.engine.assemble import make_session

    return make_session(spec, hub, clock)


async def _prestart(spec: EngineSpec) -> None:
    # The embedded server's process loads its parts while this one loads its own. It must not inherit a credential.
    if spec.backend == "local" and not spec.fast:
        from gemini_live_runtime.engine.local_server import prestart
        from gemini_live_runtime.wire.credentials import scrub_environment

        scrub_environment()
        await prestart(spec.server_script)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python -m gemini_live_runtime.engine SPEC_FILE", file=sys.stderr)
        sys.exit(2)
    # Importing creates much that stays and little garbage: looking for it as often as usual takes a fifth of the time,
    # and never costs a megabyte. `process` sets the usual thresholds once the session has started.
    gc.set_threshold(5_000, 1000)
    sys.exit(main(Path(sys.argv[1]), _make_session, on_listening=_prestart))
