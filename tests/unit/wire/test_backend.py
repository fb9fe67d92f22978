"""A backend's name and the config give an endpoint with the right credential, or a sentence."""

from __future__ import annotations

import sys

import pytest

from gemini_live_runtime.errors import ConfigError, CredentialError
from gemini_live_runtime.wire.backend import BackendSettings, resolve_endpoint

KEY = "AIzaSyCanaryCanaryCanaryCanaryCanary123"
ENVIRONMENT = {"GEMINI_API_KEY": KEY}
TOKEN = {"CLOUDSDK_AUTH_ACCESS_TOKEN": "ya29.abcdefghij", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"}


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own keyring stays out of these tests."""
    monkeypatch.setitem(sys.modules, "keyring", None)


async def test_gemini_takes_the_key_and_passes_warnings_on() -> None:
    resolved = await resolve_endpoint("gemini", {**ENVIRONMENT, "GOOGLE_API_KEY": KEY[:-1] + "9"})
    assert resolved.endpoint.headers == (("x-goog-api-key", KEY[:-1] + "9"),)
    assert "differ" in resolved.warnings[0]


async def test_gemini_without_a_key_says_how_to_get_one_and_that_there_is_a_demo() -> None:
    with pytest.raises(CredentialError, match=r"GEMINI_API_KEY.*demo"):
        await resolve_endpoint("gemini", {})


async def test_vertex_takes_project_and_location_from_the_environment_unless_config_names_them() -> None:
    plain = (await resolve_endpoint("vertex", TOKEN)).endpoint
    assert plain.model_path("m") == "projects/p/locations/l/publishers/google/models/m"
    settings = BackendSettings(vertex_project="q", vertex_location="global")
    named = (await resolve_endpoint("vertex", TOKEN, settings)).endpoint
    assert named.model_path("m") == "projects/q/locations/global/publishers/google/models/m"


async def test_the_embedded_server_never_gets_a_key() -> None:
    settings = BackendSettings(trusted_hosts=["127.0.0.1"])
    resolved = await resolve_endpoint("local", ENVIRONMENT, settings, local_url="ws://127.0.0.1:5")
    assert (resolved.endpoint.backend, resolved.endpoint.headers) == ("local", ())


async def test_a_url_gets_the_key_only_when_its_host_is_named_and_the_way_is_safe() -> None:
    settings = BackendSettings(trusted_hosts=["proxy.example"])
    assert (await resolve_endpoint("wss://proxy.example", ENVIRONMENT, settings)).endpoint.headers
    assert not (await resolve_endpoint("wss://proxy.example", ENVIRONMENT)).endpoint.headers
    assert not (await resolve_endpoint("ws://proxy.example", ENVIRONMENT, settings)).endpoint.headers
    assert not (await resolve_endpoint("wss://proxy.example", {}, settings)).endpoint.headers


@pytest.mark.parametrize("backend", ["", "openai", "http://h"])
async def test_an_unknown_backend_is_refused_with_those_that_exist(backend: str) -> None:
    with pytest.raises(ConfigError, match="gemini, vertex, local"):
        await resolve_endpoint(backend, ENVIRONMENT)


async def test_the_api_version_of_config_is_used() -> None:
    resolved = await resolve_endpoint("gemini", ENVIRONMENT, BackendSettings(api_version="v1alpha"))
    assert ".v1alpha." in resolved.endpoint.url
