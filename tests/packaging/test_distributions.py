"""The distributions are complete and can be installed from Python 3.11 on."""

from __future__ import annotations

import email
import email.message
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from tests.packaging.environments import Distributions
from tests.packaging.tree import ROOT, committed_files

from gemini_live_runtime import __version__

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NOT_YET_FOR_3_14 = {"pocketsphinx"}
"""Packages without a wheel for Python 3.14: there the embedded model reads typed text only."""


def names_in_wheel(distributions: Distributions) -> set[str]:
    with zipfile.ZipFile(distributions.wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def metadata(distributions: Distributions) -> email.message.Message:
    with zipfile.ZipFile(distributions.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def requirements(distributions: Distributions) -> list[Requirement]:
    return [Requirement(line) for line in metadata(distributions).get_all("Requires-Dist") or []]


def needed(distributions: Distributions, python: str, extra: str = "") -> set[str]:
    environment = {"python_version": python, "python_full_version": f"{python}.0", "extra": extra}
    wanted = requirements(distributions)
    return {one.name for one in wanted if one.marker is None or one.marker.evaluate(environment)}


def shipped_paths(files: Iterable[Path]) -> set[str]:
    """Return the paths in a wheel of those files that belong there."""
    places = {"tui": "", "runtime": "", "themes": "gemini_live_tui/themes/"}
    inside = ((places[file.parts[0]], Path(*file.parts[1:])) for file in files if file.parts[0] in places)
    return {f"{place}{path.as_posix()}" for place, path in inside}


def test_the_wheel_holds_every_file_of_both_packages_and_the_themes(distributions: Distributions) -> None:
    assert not shipped_paths(committed_files()) - names_in_wheel(distributions)


def test_the_wheel_holds_nothing_but_the_two_packages(distributions: Distributions) -> None:
    assert {name.split("/")[0] for name in names_in_wheel(distributions)} == {"gemini_live_tui", "gemini_live_runtime"}


@pytest.mark.parametrize(
    "name",
    [
        "gemini_live_runtime/py.typed",
        "gemini_live_tui/py.typed",
        "gemini_live_runtime/agents/dialogues/concierge.toml",
        "gemini_live_tui/console/console.tcss",
        "gemini_live_tui/themes/ember.toml",
    ],
)
def test_the_wheel_holds_data(distributions: Distributions, name: str) -> None:
    assert name in names_in_wheel(distributions)


def test_the_licence_goes_with_the_wheel(distributions: Distributions) -> None:
    assert metadata(distributions)["License-Expression"] == "Apache-2.0"
    with zipfile.ZipFile(distributions.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
        assert archive.read(name) == (ROOT / "LICENSE").read_bytes()


def test_the_source_distribution_holds_every_committed_file(distributions: Distributions) -> None:
    with tarfile.open(distributions.sdist) as archive:
        inside = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    assert not set(committed_files()) - inside


def test_the_version_is_that_of_the_code(distributions: Distributions) -> None:
    assert metadata(distributions)["Version"] == __version__


@pytest.mark.parametrize("python", PYTHONS)
def test_no_python_from_3_11_on_is_refused(distributions: Distributions, python: str) -> None:
    assert f"{python}.0" in SpecifierSet(metadata(distributions)["Requires-Python"])


@pytest.mark.parametrize("extra", ["", "local", "vertex", "keyring"])
@pytest.mark.parametrize("python", PYTHONS)
def test_every_python_gets_the_same_dependencies(distributions: Distributions, python: str, extra: str) -> None:
    missing = needed(distributions, PYTHONS[0], extra) - needed(distributions, python, extra)
    assert missing == (NOT_YET_FOR_3_14 if (python, extra) == ("3.14", "local") else set())


def test_the_embedded_model_is_an_extra(distributions: Distributions) -> None:
    assert not {"moonshine-voice", "pocketsphinx", "espeakng-loader"} & needed(distributions, "3.12")
    assert {"moonshine-voice", "pocketsphinx", "espeakng-loader"} <= needed(distributions, "3.12", "local")
