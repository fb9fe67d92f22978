"""Secrets and control sequences that must not leak, and a search for them."""

from __future__ import annotations

import os
from pathlib import Path

KEY = "AIzaSyCANARYcanary0123456789-CANARYcanary"
OTHER_KEY = "AIzaSyOTHERother0123456789-CANARYother00"
TOKEN = "bearer-canary-0123456789abcdefghij"
HANDLE = "handle-canary-Zz0123456789"
SECRETS = (KEY, OTHER_KEY, TOKEN, HANDLE)

PROVIDERS_KEYS = (
    "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl",
    "ghp_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78",
    "github_pat_Ab12Cd34Ef56Gh78Ij90Kl",
    "glpat-Ab12Cd34Ef56Gh78Ij90",
    "AKIA5H698N3DZ3X178HA",
    "xoxb-123456789012-Ab12Cd34Ef56",
    "xoxc-123456789012-Ab12Cd34Ef56",
    "xoxd-Ab12Cd34Ef56Gh78",
    "whsec_Ab12Cd34Ef56Gh78",
    "GOCSPX-Ab12Cd34Ef56Gh78Ij90Kl",
    "1//0gAb12Cd34Ef56Gh78Ij90Kl",
    "sk_live_Ab12Cd34Ef56Gh78",
    "hf_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56",
    "npm_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78",
    "SG.Ab12Cd34Ef56Gh78Ij90Kl.Zy98Xw76Vu54Ts32Rq10Po98Nm76",
    "eyJhbGciOiJkaXIifQ.Zy98Xw76Vu54Ts32.Rq10Po98Nm76.Ab12Cd34Ef56Gh78.Kl56Mn78Op90",
    f"AAAAabc-DE_:APA91b{'Ab12-Cd34_' * 4}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.Ab12Cd34Ef56Gh78",
)
"""Invented keys in the shapes of those of other providers."""

HOSTILE = "\x1b]0;OWNED\x07\x1b[2J\x1b[31mred\x9b1mC1\x9d8;;http://x\x9c\u202eidib\u2066\u200b\ufeff\r\b\x00[bold]markup[/bold]"
"""Sequences a terminal would obey, text that reorders or hides other text, and markup."""


def bytes_below(folder: Path) -> dict[Path, bytes]:
    """Names and contents of everything below `folder`."""
    found: dict[Path, bytes] = {}
    for place, _, files in os.walk(folder):
        for name in files:
            path = Path(place) / name
            if path.is_file():
                found[path] = path.read_bytes()
    return found


def leaks(folder: Path, *texts: str) -> list[str]:
    """Return the places where a secret shows.

    Searched are `texts`, and the names and contents of files below `folder`.
    """
    found = []
    for secret in SECRETS:
        found += [f"{secret[:8]} in text {text[:60]!r}" for text in texts if secret in text]
        for path, content in bytes_below(folder).items():
            if secret.encode() in content or secret in str(path):
                found.append(f"{secret[:8]} in {path}")
    return found
