"""Define a server's options: script, address, time limits, simulated faults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.faults import Fault
from gemini_live_runtime.records import record

DEFAULT_TIME_LEFT_S = 10.0
"""Seconds between `goAway` and the close."""


@record
class ServerOptions:
    """Options of a server; raises `UsageError` for an invalid port or time.

    `script`: dialogue file for every model name that does not say `local-NAME`; None is the neutral one,
    which names the client's tools.
    `host`, `port`: where `start` listens; port 0 takes a free one.
    `go_away_after`: seconds after setup until `goAway`; `time_left` seconds later the connection closes (1011).
    `faults`: how often each fault happens, counted over all connections; with `fault_seed` they are drawn at random.
    `refuse_open_resume`: a handle whose session is still connected is refused (1011), as Google's servers do; False
    takes the session over and closes the older connection.
    `token`: bearer token without which no client is admitted; "" admits all.
    """

    script: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    go_away_after: float | None = None
    time_left: float = DEFAULT_TIME_LEFT_S
    faults: Mapping[Fault, int] = field(default_factory=dict)
    fault_seed: int | None = None
    refuse_open_resume: bool = True
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise UsageError(f"Port {self.port} does not exist", remedy="Use 0 to 65535", field="port", value=self.port)
        if self.go_away_after is not None and not 0 < self.go_away_after < math.inf:
            raise UsageError(
                f"The time {self.go_away_after} until goAway cannot be used",
                remedy="Give seconds above 0",
                field="go_away_after",
                value=self.go_away_after,
            )
