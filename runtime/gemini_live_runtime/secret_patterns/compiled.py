"""Compile patterns when they are first used.

Most are not, and all of them would take 20 ms of every start.
"""

from __future__ import annotations

import re
from functools import cache

compiled = cache(re.compile)
