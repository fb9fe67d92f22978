"""Run an engine with a scripted session: `scripted_engine.py [tcp] SPEC_FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from scripted_session import make_session

from gemini_live_runtime.engine.process import main

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[-1]), make_session, server_kind="tcp" if "tcp" in sys.argv[1:-1] else None))
