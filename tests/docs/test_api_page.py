"""`docs/api.md` is what its generator makes, and describes every public name."""

from __future__ import annotations

import re

import pytest
from tests.docs import api_page

import gemini_live_runtime as runtime


def test_the_page_is_what_make_docs_writes() -> None:
    assert api_page.PAGE.read_text("utf-8") == api_page.render()


def test_every_public_name_has_one_section() -> None:
    sections = re.findall(r"^### `(\w+)`$", api_page.render(), re.MULTILINE)
    assert sorted(sections) == sorted(runtime.__all__)


def test_nothing_on_the_page_differs_from_run_to_run() -> None:
    assert re.findall(r" at 0x[0-9a-f]+|<factory>", api_page.render()) == []


def test_a_stable_name_that_is_not_public_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_page, "STABLE", api_page.STABLE | {"Steersman"})
    with pytest.raises(ValueError, match="Steersman"):
        api_page.render()
