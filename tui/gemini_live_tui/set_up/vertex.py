"""Set up Vertex AI: project, location and login."""

from __future__ import annotations

import asyncio
import os

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.harness.paths import DEFAULT_PROFILE
from gemini_live_runtime.records import record
from gemini_live_runtime.wire.credentials import credential_environment, find_vertex_token
from gemini_live_runtime.wire.endpoints import DEFAULT_VERTEX_LOCATION, check_vertex_names
from gemini_live_tui.config import Config
from gemini_live_tui.set_up.saving import save

LOGIN_S = 30.0
"""Seconds to wait for a login: finding it may need the network."""


@record
class Login:
    """Result of looking for a Google Cloud login: a sentence, and the login's project."""

    found: bool
    sentence: str
    project: str = ""


def known(config: Config) -> tuple[str, str]:
    """Return project and location from the config, else from Google's variables."""
    project = config.vertex_project or os.environ.get("GOOGLE_CLOUD_PROJECT", "")
    location = config.vertex_location or os.environ.get("GOOGLE_CLOUD_LOCATION", "") or DEFAULT_VERTEX_LOCATION
    return project, location


def check_names(project: str, location: str) -> None:
    """Raise `ConfigError` for an invalid name of a project or a location."""
    check_vertex_names(project, location)


async def find_login() -> Login:
    """Look for application default credentials, as a session does."""
    try:
        async with asyncio.timeout(LOGIN_S):
            found = await asyncio.to_thread(find_vertex_token, credential_environment())
    except TimeoutError:
        return Login(False, f"Google Cloud did not answer within {LOGIN_S:.0f} s. Check the network.")
    except GeminiLiveError as error:
        return Login(False, str(error))
    if found.credential is None:
        return Login(False, "No Google Cloud login was found. Log in with `gcloud auth application-default login`.")
    return Login(True, f"Logged in, by {found.credential.source}.", found.project)


def keep(project: str, location: str, profile: str = DEFAULT_PROFILE) -> str:
    """Write backend, project and location to the config, or to the profile.

    Returns a sentence about variables that override them, or "". Raises `ConfigError`.
    """
    return save({"backend": "vertex", "vertex.project": project, "vertex.location": location}, profile)
