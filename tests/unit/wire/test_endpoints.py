"""Endpoints of the backends, and the hosts that may get a credential."""

from __future__ import annotations

import pytest

from gemini_live_runtime.errors import ConfigError, CredentialError
from gemini_live_runtime.wire.credentials import Credential
from gemini_live_runtime.wire.endpoints import (
    Endpoint,
    gemini_endpoint,
    local_endpoint,
    may_send_credential,
    redacted_url,
    url_endpoint,
    vertex_endpoint,
)

KEY = Credential("api-key", "AIzaCanaryCanaryCanaryCanary", "a test")
EPHEMERAL = Credential("ephemeral", "auth_tokens/canary-canary", "a test")
BEARER = Credential("bearer", "ya29.canary-canary", "a test")
METHOD = "GenerativeService.BidiGenerateContent"


class TestGemini:
    @pytest.mark.parametrize("version", ["v1", "v1beta", "v1alpha"])
    def test_a_key_is_sent_in_a_header_and_never_in_the_url(self, version: str) -> None:
        endpoint = gemini_endpoint(KEY, version=version)
        assert endpoint.url == (
            f"wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.{version}.{METHOD}"
        )
        assert endpoint.headers == (("x-goog-api-key", KEY.secret),)
        assert KEY.secret not in endpoint.url

    def test_an_ephemeral_token_uses_the_constrained_method(self) -> None:
        endpoint = gemini_endpoint(EPHEMERAL)
        assert endpoint.url.endswith("v1beta.GenerativeService.BidiGenerateContentConstrained")
        assert endpoint.headers == (("Authorization", f"Token {EPHEMERAL.secret}"),)

    def test_a_bearer_token_is_refused(self) -> None:
        with pytest.raises(CredentialError, match="not a bearer token"):
            gemini_endpoint(BEARER)

    def test_an_unknown_version_is_refused_with_those_that_exist(self) -> None:
        with pytest.raises(ConfigError, match="v1, v1alpha, v1beta") as caught:
            gemini_endpoint(KEY, version="v2")
        assert caught.value.field == "api_version"

    @pytest.mark.parametrize("model", ["gemini-3.8-live", "models/gemini-3.8-live"])
    def test_models_get_their_prefix_once(self, model: str) -> None:
        assert gemini_endpoint(KEY).model_path(model) == "models/gemini-3.8-live"


class TestVertex:
    def test_a_region_has_its_own_host_and_the_token_is_sent_in_a_header(self) -> None:
        endpoint = vertex_endpoint(BEARER, project="my-project", location="europe-west4")
        assert endpoint.url == (
            "wss://europe-west4-aiplatform.googleapis.com"
            "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
        )
        assert endpoint.headers == (
            ("Authorization", f"Bearer {BEARER.secret}"),
            ("x-goog-user-project", "my-project"),
        )

    def test_the_global_location_has_no_prefix(self) -> None:
        endpoint = vertex_endpoint(BEARER, project="p", location="global", version="v1")
        assert endpoint.url.startswith("wss://aiplatform.googleapis.com/ws/google.cloud.aiplatform.v1.")

    @pytest.mark.parametrize("model", ["m", "models/m", "publishers/google/models/m"])
    def test_models_become_resources_of_the_project(self, model: str) -> None:
        endpoint = vertex_endpoint(BEARER, project="p", location="l")
        assert endpoint.model_path(model) == "projects/p/locations/l/publishers/google/models/m"

    def test_a_full_resource_name_stays(self) -> None:
        name = "projects/x/locations/y/endpoints/7"
        assert vertex_endpoint(BEARER, project="p").model_path(name) == name

    @pytest.mark.parametrize(
        ("project", "location", "field"),
        [("", "l", "vertex_project"), ("a/b", "l", "vertex_project"), ("p", "evil.example/", "vertex_location")],
    )
    def test_a_senseless_project_or_location_is_refused(self, project: str, location: str, field: str) -> None:
        with pytest.raises(ConfigError) as caught:
            vertex_endpoint(BEARER, project=project, location=location)
        assert caught.value.field == field

    def test_a_key_is_refused(self) -> None:
        with pytest.raises(CredentialError, match="not an API key"):
            vertex_endpoint(KEY, project="p")


class TestOwnServers:
    def test_a_bare_url_gets_the_path_of_the_developer_api(self) -> None:
        assert url_endpoint("ws://127.0.0.1:8123").url == (
            f"ws://127.0.0.1:8123/ws/google.ai.generativelanguage.v1beta.{METHOD}"
        )
        assert url_endpoint("wss://h/prefix/").url == (
            f"wss://h/prefix/ws/google.ai.generativelanguage.v1beta.{METHOD}"
        )

    @pytest.mark.parametrize("path", ["/x.BidiGenerateContent", "/ws/y/BidiGenerateContentConstrained"])
    def test_a_url_that_names_the_method_stays(self, path: str) -> None:
        assert url_endpoint(f"wss://h:1234{path}").url == f"wss://h:1234{path}"

    def test_the_embedded_server_gets_no_credential(self) -> None:
        endpoint = local_endpoint("ws://127.0.0.1:1")
        assert (endpoint.backend, endpoint.headers) == ("local", ())

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "http://h",
            "h:80",
            "ws://",
            "wss:///x",
            "ws://h:99999",
            "ws://h:0",
            "ws://[::1",
            "ws://a b",
            "ws://h\r\nX: y",
        ],
    )
    def test_a_url_that_is_no_websocket_url_is_refused_in_a_sentence(self, url: str) -> None:
        with pytest.raises(ConfigError, match="is not a WebSocket URL"):
            url_endpoint(url)

    @pytest.mark.parametrize("url", ["wss://u:p@h", "wss://h/?key=AIzaxxxxxxxxxxxxxx", "wss://h/?a=1&access_token=x"])
    def test_a_credential_in_the_url_is_refused_and_not_repeated(self, url: str) -> None:
        with pytest.raises(CredentialError, match="contains a credential") as caught:
            url_endpoint(url)
        assert "AIza" not in str(caught.value) + str(caught.value.value)


class TestCredentialsGoHomeOnly:
    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "generativelanguage.googleapis.com.evil.example",
            "evil-generativelanguage.googleapis.com",
            "storage.googleapis.com",
            "googleapis.com",
            "aiplatform.googleapis.com.",
            "127.0.0.1",
            "localhost",
        ],
    )
    def test_a_host_that_is_neither_googles_nor_named_gets_none(self, host: str) -> None:
        for make in (
            lambda: url_endpoint(f"wss://{host}", KEY),
            lambda: gemini_endpoint(KEY, base_url=f"wss://{host}"),
            lambda: vertex_endpoint(BEARER, project="p", base_url=f"wss://{host}"),
        ):
            with pytest.raises(CredentialError, match="trusted_hosts"):
                make()
        assert not may_send_credential(f"wss://{host}")
        assert url_endpoint(f"wss://{host}").headers == ()

    @pytest.mark.parametrize("trusted", ["proxy.example", "PROXY.example", "proxy.example:8443"])
    def test_a_host_named_in_config_gets_it(self, trusted: str) -> None:
        endpoint = gemini_endpoint(KEY, base_url="wss://proxy.example:8443", trusted_hosts=[trusted])
        assert endpoint.headers == (("x-goog-api-key", KEY.secret),)

    def test_a_port_named_in_config_is_meant(self) -> None:
        with pytest.raises(CredentialError, match="trusted_hosts"):
            url_endpoint("wss://proxy.example:1", KEY, trusted_hosts=["proxy.example:2"])

    def test_plain_ws_gets_none_even_to_a_trusted_host(self) -> None:
        with pytest.raises(CredentialError, match="plain ws://"):
            url_endpoint("ws://proxy.example", KEY, trusted_hosts=["proxy.example"])
        with pytest.raises(CredentialError, match="plain ws://"):
            gemini_endpoint(KEY, base_url="ws://generativelanguage.googleapis.com")

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
    def test_plain_ws_to_this_machine_is_fine_when_named(self, host: str) -> None:
        for named in (host, host.strip("[]"), f"{host}:9"):
            endpoint = url_endpoint(f"ws://{host}:9", KEY, trusted_hosts=[named])
            assert endpoint.headers == (("x-goog-api-key", KEY.secret),)

    @pytest.mark.parametrize(
        "host",
        [
            "generativelanguage.googleapis.com",
            "us-central1-aiplatform.googleapis.com",
            "aiplatform.googleapis.com",
            "aiplatform.eu.rep.googleapis.com",
        ],
    )
    def test_googles_own_hosts_need_no_naming(self, host: str) -> None:
        assert may_send_credential(f"wss://{host}/x")
        assert not may_send_credential(f"ws://{host}/x")

    def test_the_repr_of_an_endpoint_has_no_secret(self) -> None:
        endpoint = gemini_endpoint(KEY)
        assert KEY.secret not in repr(endpoint) + str(endpoint) + repr(KEY) + endpoint.host


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("wss://user:pw@h:1/x", "wss://[redacted]@h:1/x"),
        ("wss://h/x?key=abcdefgh&b=1", "wss://h/x?key=[redacted]&b=1"),
        ("ws://[::1]:5/x", "ws://[::1]:5/x"),
        ("wss://h/x?access_token=auth_tokens/abc", "wss://h/x?access_token=[redacted]"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert redacted_url(url) == shown


def test_the_host_of_an_endpoint_has_its_port() -> None:
    assert Endpoint("url", "ws://127.0.0.1:81/x").host == "127.0.0.1:81"
    assert Endpoint("url", "wss://h/x").host == "h"
