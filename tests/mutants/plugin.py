"""Install the mutation that the environment names, as a plug-in of pytest."""

from __future__ import annotations

import os

from tests.mutants.mutations import MUTATIONS

VARIABLE = "GEMINI_LIVE_MUTATION"
"""Name of the variable with the `part` of the mutation; without it, the session stays unchanged."""

if VARIABLE in os.environ:
    next(each for each in MUTATIONS if each.part == os.environ[VARIABLE]).install()
