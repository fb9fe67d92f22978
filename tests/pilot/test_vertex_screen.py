"""The Vertex project's screen: a login is looked for, and the project is saved."""

from __future__ import annotations

import pytest
from tests.support.set_up_doubles import before_a_session, saved_settings

from gemini_live_tui.set_up import vertex

pytestmark = pytest.mark.usefixtures("helpers")


def login(monkeypatch: pytest.MonkeyPatch, found: bool, sentence: str) -> None:
    async def find() -> vertex.Login:
        return vertex.Login(found, sentence)

    monkeypatch.setattr(vertex, "find_login", find)


async def test_a_project_with_a_login_is_saved_as_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    login(monkeypatch, True, "Logged in, by application default credentials.")
    async with before_a_session("vertex") as newcomer:
        await newcomer.press(*"my-project", "enter")
        assert "Saved: my-project in us-central1." in newcomer.words()
        await newcomer.press("enter")
        assert not newcomer.app.screen.is_modal
    kept = saved_settings()
    assert (kept.backend, kept.vertex_project, kept.vertex_location) == ("vertex", "my-project", "us-central1")


async def test_without_a_login_the_reason_is_said_and_a_second_enter_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    login(monkeypatch, False, "Vertex needs google-auth, which is not installed.")
    async with before_a_session("vertex") as newcomer:
        await newcomer.press(*"my-project", "enter")
        assert "needs google-auth" in newcomer.screen()
        assert saved_settings().backend == ""
        await newcomer.press("enter")
        assert "Saved: my-project" in newcomer.screen()
    assert saved_settings().backend == "vertex"


@pytest.mark.parametrize(("typed", "said"), [("", "needs a project"), ("a project!", "cannot use the project")])
async def test_what_cannot_be_a_project_is_said_at_once(typed: str, said: str) -> None:
    async with before_a_session("vertex") as newcomer:
        await newcomer.press(*typed, "enter")
        assert said in newcomer.screen()
    assert saved_settings().backend == ""
