"""Run the embedded server: `python -m gemini_live_runtime.local`."""

import sys

from gemini_live_runtime.local.main import main

if __name__ == "__main__":
    sys.exit(main())
