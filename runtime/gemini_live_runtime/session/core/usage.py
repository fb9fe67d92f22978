"""Add up token counts and costs.

Every turn bills the whole context again, so the counts of all messages are summed.
"""

from __future__ import annotations

from collections.abc import Iterable

from gemini_live_runtime.events import UsageReported
from gemini_live_runtime.records import mutable_record
from gemini_live_runtime.session.core.pricing import Price, cost_of
from gemini_live_runtime.wire.messages import ModalityTokenCount, UsageMetadata


@mutable_record
class UsageTotals:
    """Totals of a session; `cost_usd` is None until a message has a known price."""

    prompt_tokens: int = 0
    response_tokens: int = 0
    cost_usd: float | None = None
    prices_as_of: str = ""
    """Month of the prices, `YYYY-MM`; "" when unknown."""

    def add(self, usage: UsageMetadata, price: Price | None) -> UsageReported:
        """Count one usage message and return the event that reports it."""
        prompt = _by_modality(usage.prompt_tokens_details, usage.prompt_token_count or 0)
        response = _by_modality(usage.response_tokens_details, usage.response_token_count or 0)
        thoughts = usage.thoughts_token_count or 0  # beside the response tokens, which do not include them
        if thoughts:
            response["THOUGHT"] = response.get("THOUGHT", 0) + thoughts
        self.prompt_tokens += sum(prompt.values())
        self.response_tokens += sum(response.values())
        if price is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_of(price, prompt, response)
        return UsageReported(
            prompt_tokens=sum(prompt.values()),
            response_tokens=sum(response.values()),
            total_tokens=usage.total_token_count or sum(prompt.values()) + sum(response.values()),
            prompt=prompt,
            response=response,
            cost_usd=self.cost_usd,
            prices_as_of="" if self.cost_usd is None else self.prices_as_of,
            cached_tokens=usage.cached_content_token_count or 0,
        )


def _by_modality(details: Iterable[ModalityTokenCount], count: int) -> dict[str, int]:
    """Return the counts by modality; tokens without details count as TEXT.

    Details that exceed the total count are used as they are.
    """
    table: dict[str, int] = {}
    for detail in details:
        name = str(detail.modality or "TEXT")
        table[name] = table.get(name, 0) + (detail.token_count or 0)
    missing = count - sum(table.values())
    if missing > 0:
        table["TEXT"] = table.get("TEXT", 0) + missing
    return table
