"""The architecture page shows the code as it is."""

from __future__ import annotations

import re

from tests.docs.architecture_page import PAGE, PICTURES, written
from tests.packaging.tree import ROOT

PACKAGES = ("runtime/gemini_live_runtime", "tui/gemini_live_tui", "")


def test_its_pictures_are_those_of_the_imports() -> None:
    page = PAGE.read_text("utf-8")
    assert re.findall(r"<!-- imports: (\w+) -->", page) == list(PICTURES)
    assert written(page) == page, "run make docs"


def test_every_file_and_folder_that_it_names_exists() -> None:
    named = set(re.findall(r"`([\w./-]+(?:\.py|\.toml|/))`", PAGE.read_text("utf-8")))
    missing = sorted(name for name in named if not any((ROOT / base / name).exists() for base in PACKAGES))
    assert named
    assert missing == []


def test_every_definition_that_it_names_is_in_the_file_named_with_it() -> None:
    named = re.findall(r"`([\w./-]+\.py):([\w.]+)`", PAGE.read_text("utf-8"))
    assert named
    missing = []
    for file, name in named:
        path = next((path for base in PACKAGES if (path := ROOT / base / file).exists()), None)
        if path is None or not re.search(rf"\b(?:def|class) {name.split('.')[-1]}\b", path.read_text("utf-8")):
            missing.append(f"{file}:{name}")
    assert missing == []
