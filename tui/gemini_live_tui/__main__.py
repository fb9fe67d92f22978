"""`python -m gemini_live_tui`."""

import sys

from gemini_live_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
