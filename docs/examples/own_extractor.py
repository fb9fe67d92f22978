"""Write an extractor: an object with these members, or just a function."""

from gemini_live_runtime import (
    ExtractionTrigger,
    FieldPromotion,
    FunctionExtractor,
    Live,
    TextModel,
    TranscriptWindow,
    TurnExtractor,
    interval,
    run_virtual,
)


class Shouting:
    """An extractor that finds texts in capitals, at the end of each turn."""

    name, window, deadline_s = "shouting", 1, 1.0
    promotions = (FieldPromotion.overwrite("shouting").to("session:shouting"),)
    trigger = ExtractionTrigger("turn")

    def should_extract(self, window: TranscriptWindow) -> bool:
        return len(window.last_user) > 3

    async def extract(self, window: TranscriptWindow, model: TextModel | None) -> dict[str, bool]:
        return {"shouting": window.last_user.isupper()}


def words(window: TranscriptWindow) -> dict[str, int]:
    return {"words": sum(len(turn.user.split()) for turn in window.turns)}


shouting: TurnExtractor = Shouting()
agent = (
    Live.builder("desk")
    .instruction("Answer the telephone.")
    .extract(shouting, FunctionExtractor(function=words, trigger=interval(2), window=10))
)


async def main() -> None:
    """Run both; without promotions each field of a result becomes `app:<field>`."""
    async with agent.connect(backend="local", fast=True) as session:
        for text in ("hello there", "CAN YOU HEAR ME", "no"):
            await session.send_text(text)
            await session.until_quiet()
            print(session.state.get("session:shouting"), session.state.get("app:words"))


run_virtual(main())

# Prints:
# False None
# True 6
# True 6
