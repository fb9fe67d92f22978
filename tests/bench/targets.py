"""Print figures beside their targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def judged(title: str, figures: Iterable[tuple[str, float]], targets: Mapping[str, float]) -> int:
    """Print each figure as it comes, with its target; return 1 when one is missed."""
    missed = False
    for name, value in figures:
        target = targets.get(name)
        verdict = "" if target is None else f"target <= {target:g}  {'ok' if value <= target else 'MISSED'}"
        missed |= target is not None and value > target
        print(f"{title} {name:<28} {value:9.2f}  {verdict}", flush=True)
    return int(missed)
