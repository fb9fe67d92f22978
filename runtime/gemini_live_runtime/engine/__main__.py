"""`python -m gemini_live_runtime.engine SPEC_FILE`: one session, started by a console."""

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
    # Imported once the door is open: consoles get in while the session's parts load.
    from gemini_live_runtime.engine.assemble import make_session

    return make_session(spec, hub, clock)


async def _begin(spec: EngineSpec) -> None:
    # The embedded server and this process load their parts at the same time. It must not inherit a credential.
    if spec.backend == "local" and not spec.fast:
        from gemini_live_runtime.engine.local_server import begin
        from gemini_live_runtime.wire.credentials import scrub_environment

        scrub_environment()
        await begin(spec.server_script)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python -m gemini_live_runtime.engine SPEC_FILE", file=sys.stderr)
        sys.exit(2)
    # The session's parts are loading, and none of it is garbage: looking for some takes a fifth of the time. `process`
    # begins to look once the session has started.
    gc.disable()
    sys.exit(main(Path(sys.argv[1]), _make_session, early=_begin))
