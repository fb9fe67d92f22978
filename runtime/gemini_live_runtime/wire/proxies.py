"""Tell why a proxy did not lead to a server."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

from websockets.exceptions import InvalidProxyStatus

from gemini_live_runtime.errors import UnreachableError
from gemini_live_runtime.redactor import redactor

_CHECK = "Check HTTPS_PROXY and NO_PROXY"


def proxy_for(url: str) -> str | None:
    """Return the host and port of the environment's proxy for a WebSocket URL.

    None when there is no proxy for it. The order is that of the library, which connects through it.
    """
    import urllib.request

    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    schemes = ("wss", "socks", "https") if parts.scheme == "wss" else ("ws", "socks", "https", "http")
    proxies = urllib.request.getproxies()
    found = next((proxies[scheme] for scheme in schemes if scheme in proxies), None)
    return None if found is None else urlsplit(found).netloc.rpartition("@")[2] or found


def proxy_failed(where: str, proxy: str, error: Exception) -> UnreachableError:
    """Return the error of a proxy through which `where` was not reached."""
    problem, remedy = f"failed: {error}", _CHECK
    if isinstance(error, InvalidProxyStatus):
        status = error.response.status_code
        problem = f"does not connect to {where} (HTTP {status})"
        if status == 407:
            problem, remedy = f"requires a login (HTTP {status})", "Put the user name and password into HTTPS_PROXY"
        elif status >= 500:
            remedy = f"Try again in a moment; if it recurs, check the address of {where}"
    elif isinstance(error, ImportError):
        problem = "speaks SOCKS, for which the package python-socks is missing"
        remedy = "Install python-socks[asyncio], or give an HTTP proxy in HTTPS_PROXY"
    elif isinstance(error, TimeoutError):
        problem = "did not answer in time"
    elif isinstance(error, ssl.SSLError):
        problem, remedy = (
            f"does not speak TLS: {error.reason or error}",
            "Check whether HTTPS_PROXY begins with http://",
        )
    elif isinstance(error, socket.gaierror):
        problem = "cannot be found"
    elif isinstance(error, ConnectionRefusedError):
        problem = "cannot be reached: nothing listens there"
    elif isinstance(error, OSError):
        problem = f"cannot be reached: {error.strerror or error}"
    message = f"The proxy {proxy} for {where} {problem}"
    return UnreachableError(redactor.text(message), remedy=remedy, field="url")
