"""Build the distributions once and install them, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.packaging.environments import Distributions, Environment, environment_in, make_environment
from tests.packaging.tree import ROOT


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder `name`, made by the first of the workers that need it.

    The others wait for it. On Windows each worker makes its own.
    """
    if sys.platform == "win32" or "PYTEST_XDIST_WORKER" not in os.environ:
        folder = factory.mktemp(name)
        make(folder)
        return folder
    import fcntl

    shared = factory.getbasetemp().parent
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The result of `python -m build`, made with the installed build backend."""
    out = made_once(tmp_path_factory, "dist", _build)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Distributions(sdist, wheel)


@pytest.fixture(scope="session")
def from_wheel(tmp_path_factory: pytest.TempPathFactory, distributions: Distributions) -> Environment:
    """An environment in which the wheel is installed."""
    return environment_in(made_once(tmp_path_factory, "wheel", partial(_install, wheel=distributions.wheel)))


@pytest.fixture(scope="session")
def from_wheel_alone(tmp_path_factory: pytest.TempPathFactory, distributions: Distributions) -> Environment:
    """An environment in which the wheel is installed without any extra."""
    extras = ("moonshine_voice", "pocketsphinx", "espeakng_loader")
    make = partial(_install, wheel=distributions.wheel, without=extras)
    return environment_in(made_once(tmp_path_factory, "alone", make))


@pytest.fixture(scope="session")
def from_checkout(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment without this project, but with the checkout on its path."""
    path = os.pathsep.join(str(ROOT / name) for name in ("tui", "runtime"))
    return make_environment(tmp_path_factory.mktemp("checkout"), PYTHONPATH=path)


def _build(out: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stdout + built.stderr


def _install(folder: Path, wheel: Path, without: tuple[str, ...] = ()) -> None:
    environment = make_environment(folder, without=without)
    pip = [sys.executable, "-m", "pip", "--python", str(environment.python), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    finished = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
