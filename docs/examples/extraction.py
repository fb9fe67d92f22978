"""Extract facts from the transcript, and let rules decide which become state."""

from pydantic import BaseModel

from gemini_live_runtime import FieldPromotion, Live, LlmExtractor, MergePolicy, ScriptedTextModel, key, run_virtual


class Order(BaseModel):
    """An order at a restaurant."""

    dish: str | None = None
    guests: int | None = None
    agreed: bool = False


order = LlmExtractor(
    Order,
    promotions=[
        FieldPromotion.keep_known("guests").when(lambda guests, state: guests <= 12),
        FieldPromotion("dish", merge=MergePolicy.OVERWRITE).to("app:dish").when(~key("app:closed")),
        FieldPromotion.true_only("agreed").after_presented("prices"),
    ],
    deadline_s=4.0,
)
model = ScriptedTextModel(['{"dish": "soup", "guests": 40, "agreed": true}', '{"dish": null, "guests": 4}'])
agent = Live.builder("menu").instruction("Take orders.").extract(order).text_model(model)


async def main() -> None:
    """Print each decision with its reason."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        for text in ("soup for forty, agreed", "no, for four"):
            await session.send_text(text)
            await session.until_quiet()
        print(session.state.snapshot(["app:dish", "app:guests", "app:agreed"]))
    async for event in events:
        if event.type == "promotion.decided":
            print(f"{event.payload.field}={event.payload.value} {event.payload.accepted}: {event.payload.reason}")


run_virtual(main())

# Prints:
# {'app:dish': 'soup', 'app:guests': 4}
# guests=40 False: lambda (extraction.py:19) returned false
# dish=soup True: it was not known
# agreed=True False: prices was not presented yet
# guests=4 True: it was not known
# dish=None False: it is null
