"""Name the policies of consent, and check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, cast, get_args

from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.errors import AgentError

ConsentPolicy = Literal["allow", "ask", "deny"]
"""Rule for the calls of a tool: run them, ask the operator first, or refuse them."""

POLICIES: tuple[str, ...] = get_args(ConsentPolicy)


def check_policy(policy: object, *, name: str) -> ConsentPolicy:
    """Return a policy for the tool `name`; raise `AgentError` for what is none."""
    choice = as_choice(policy, POLICIES)
    if choice not in POLICIES:
        raise AgentError(
            f"Tool {name[:80]}: consent cannot be {policy!r:.60}",
            remedy=f"Use one of {', '.join(POLICIES)}",
            field="consent",
            value=policy if isinstance(policy, str) else type(policy).__name__,
        )
    return cast("ConsentPolicy", choice)


def check_policies(policies: object) -> dict[str, ConsentPolicy]:
    """Return policies by the names of tools; raise `AgentError` for what is none."""
    if not isinstance(policies, Mapping) or not all(isinstance(name, str) for name in policies):
        raise AgentError(
            f"consent cannot be {policies!r:.60}",
            remedy='Give a dictionary of names of tools, such as {"pay": "ask"}',
            field="consent",
            value=type(policies).__name__,
        )
    return {name: check_policy(policy, name=name) for name, policy in policies.items()}


def first_policy(
    tool: str, layers: Iterable[tuple[Mapping[str, ConsentPolicy], str]]
) -> tuple[ConsentPolicy, str] | None:
    """Return the first policy of a tool among layers, each with its reason to ask.

    Only the layers' order decides: a "deny" of one is not loosened by another behind it. None when no layer names the
    tool.
    """
    for policies, reason in layers:
        if (policy := policies.get(tool)) is not None:
            return policy, reason
    return None
