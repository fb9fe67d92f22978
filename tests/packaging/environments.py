"""Make virtual environments with the dependencies, far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Distributions:
    """A source distribution, and the wheel that was built from it."""

    sdist: Path
    wheel: Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment with this project's dependencies, in a folder of its own."""

    python: Path
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `python ARGUMENTS`; standard input is empty."""
        return self._run(str(self.python), *arguments, **variables)

    def console(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the installed program `gemini-live-tui ARGUMENTS`."""
        return self._run(str(self.python.with_name("gemini-live-tui")), *arguments, **variables)

    def _run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**inherited, **self.variables, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def make_environment(folder: Path, *, without: tuple[str, ...] = (), **variables: str) -> Environment:
    """Make an environment in `folder`, whose programs also get `variables`.

    It links to the packages of the tests' own environment, except this project and the import names `without`.
    """
    venv.create(folder / "env", with_pip=False, symlinks=os.name != "nt")
    base = {"base": str(folder / "env"), "platbase": str(folder / "env")}
    hidden = ("__pycache__", "__editable__", "_gemini_live", "gemini_live", *without)
    for kind in ("purelib", "platlib"):
        site = Path(sysconfig.get_path(kind, vars=base))
        for found in Path(sysconfig.get_path(kind)).iterdir():
            link = site / found.name
            if found.suffix != ".pth" and not found.name.startswith(hidden) and not link.exists():
                link.symlink_to(found)
    (folder / "away").mkdir()
    return environment_in(folder, **variables)


def environment_in(folder: Path, **variables: str) -> Environment:
    """Return the environment that was made in `folder`."""
    python = folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return Environment(python, folder / "away", variables)
