"""List the files of this project, in a git checkout or a source distribution."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def committed_files() -> list[Path]:
    """Return the committed paths below the root.

    Outside a git checkout these are all files that no line of .gitignore names.
    """
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True).stdout
        names = (Path(name.decode()) for name in listed.split(b"\0") if name)
        return sorted(name for name in names if (ROOT / name).exists())
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(path for path in found if not any(_is_ignored(path, pattern) for pattern in ignored))


def _is_ignored(path: Path, pattern: str) -> bool:
    folder = pattern.removesuffix("/")
    return any(Path(part).match(folder) for part in path.parts)
