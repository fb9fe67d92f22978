"""Remember grants of consent, and the policies of tools, of one profile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import VERSION, Milliseconds, RecordFiles
from gemini_live_runtime.paths import is_own
from gemini_live_runtime.plain_types import JSON_CONFIG
from gemini_live_runtime.records import keyword_record

MAX_NAME = 128
"""Characters of the longest name of a tool."""

MAX_GRANTS = 1000
"""Grants that are kept, the newest."""


@keyword_record
class ConsentGrant:
    """Grant for a tool, bound to one version of it. Times are Unix milliseconds."""

    __pydantic_config__ = JSON_CONFIG

    tool: str
    fingerprint: str
    """Hash of the tool's name, description, schema and code."""
    granted_at_ms: Milliseconds
    agent: str = ""


@keyword_record
class ConsentRecord:
    """Grants, oldest first, and policies by the names of tools.

    A policy goes ahead of the tool's own.
    """

    __pydantic_config__ = JSON_CONFIG

    grants: tuple[ConsentGrant, ...] = ()
    policies: dict[str, Literal["allow", "ask", "deny"]] | None = None
    version: int = VERSION

    def has_grant(self, tool: str, fingerprint: str) -> bool:
        """Return True when a grant for this version of the tool is remembered."""
        return any((grant.tool, grant.fingerprint) == (tool, fingerprint) for grant in self.grants)


class ConsentStore:
    """Consent of one root, in one file; a damaged one is left as it is."""

    def __init__(self, paths: HarnessPaths, files: RecordFiles, wall_ms: Callable[[], int]) -> None:
        self._paths = paths
        self._files = files
        self._wall_ms = wall_ms

    def read(self) -> ConsentRecord:
        """Return all of it; raise `HarnessError` for a file that cannot be used.

        A file of another user, who put it into the folder while others could write there, is none of them.
        """
        path = self._paths.consent
        with contextlib.suppress(OSError):
            if not is_own(path):
                raise HarnessError(
                    f"{path} belongs to another user", remedy="Delete it", field="consent", value=str(path)
                )
        return self._files.read(ConsentRecord, self._paths.consent) or ConsentRecord()

    def grant(self, tool: str, fingerprint: str, *, agent: str = "") -> ConsentGrant:
        """Remember a grant; an earlier one of the same tool is replaced."""
        new = ConsentGrant(
            tool=_checked(tool), fingerprint=fingerprint, granted_at_ms=self._wall_ms(), agent=agent[:MAX_NAME]
        )
        self._change(lambda old: replace(old, grants=(*_without(old, tool), new)[-MAX_GRANTS:]))
        return new

    def revoke(self, tool: str = "") -> tuple[str, ...]:
        """Forget the grant of a tool, or all for "".

        Returns the names of the tools that had one.
        """
        revoked: list[str] = []

        def change(old: ConsentRecord) -> ConsentRecord:
            kept = _without(old, tool) if tool else ()
            revoked.extend(grant.tool for grant in old.grants if grant not in kept)
            return replace(old, grants=kept)

        self._change(change)
        return tuple(revoked)

    def set_policy(self, tool: str, policy: Literal["allow", "ask", "deny"] | None) -> None:
        """Set the policy of a tool; None leaves it to the tool's declaration."""
        name = _checked(tool)

        def change(old: ConsentRecord) -> ConsentRecord:
            policies = dict(old.policies or {})
            policies.pop(name, None)
            return replace(old, policies=policies if policy is None else {**policies, name: policy})

        self._change(change)

    def _change(self, change: Callable[[ConsentRecord], ConsentRecord]) -> None:
        with self._files.locked(self._paths.consent_lock):
            old = self.read()
            if (new := change(old)) != old:
                self._files.write(self._paths.consent, new)


def _without(record: ConsentRecord, tool: str) -> tuple[ConsentGrant, ...]:
    return tuple(grant for grant in record.grants if grant.tool != tool)


def _checked(tool: str) -> str:
    """Return a tool's name; raise `HarnessError` for what cannot be one."""
    if not 0 < len(tool) <= MAX_NAME or not tool.isprintable():
        raise HarnessError(
            f"{tool[:80]!r} is not the name of a tool",
            remedy=f"Give 1 to {MAX_NAME} printable characters",
            field="tool",
            value=tool[:80],
        )
    return tool
