"""Build the distributions once and install them, without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packaging.environments import Distributions, Environment, make_environment
from tests.packaging.tree import ROOT


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The result of `python -m build`, made with the installed build backend."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Distributions(sdist, wheel)


@pytest.fixture(scope="session")
def from_wheel(tmp_path_factory: pytest.TempPathFactory, distributions: Distributions) -> Environment:
    """An environment in which the wheel is installed."""
    return _installed(make_environment(tmp_path_factory.mktemp("wheel")), distributions.wheel)


@pytest.fixture(scope="session")
def from_wheel_alone(tmp_path_factory: pytest.TempPathFactory, distributions: Distributions) -> Environment:
    """An environment in which the wheel is installed without any extra."""
    extras = ("pocketsphinx", "espeakng_loader")
    return _installed(make_environment(tmp_path_factory.mktemp("alone"), without=extras), distributions.wheel)


@pytest.fixture(scope="session")
def from_checkout(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment without this project, but with the checkout on its path."""
    path = os.pathsep.join(str(ROOT / name) for name in ("tui", "runtime"))
    return make_environment(tmp_path_factory.mktemp("checkout"), PYTHONPATH=path)


def _installed(environment: Environment, wheel: Path) -> Environment:
    pip = [sys.executable, "-m", "pip", "--python", str(environment.python), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    finished = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    return environment
