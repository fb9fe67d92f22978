"""`python -m gemini_live_runtime.local`: the embedded server as a process of its own."""

import sys

from gemini_live_runtime.local.main import main

if __name__ == "__main__":
    sys.exit(main())
