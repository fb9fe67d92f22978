"""Let the conversation go on while a slow tool runs, and send its result later."""

import asyncio
from typing import Any

from gemini_live_runtime import (
    DefaultResultFormatter,
    Live,
    ResultFormatter,
    Tool,
    ToolCall,
    ToolContext,
    ToolExecutionMode,
    run_virtual,
    tool,
)


class Short(DefaultResultFormatter):
    """Answers for the model in our own words."""

    def format_running(self, call: ToolCall) -> dict[str, Any]:
        return {"say": "I am looking for it."}


short: ResultFormatter = Short()


@tool(background=True, scheduling="INTERRUPT", formatter=short, timeout_s=60)
async def search_archive(context: ToolContext) -> dict[str, int]:
    """Search the archive."""
    await asyncio.sleep(20)
    context.notify("The archive was searched.")
    return {"found": 3}


quiet: Tool = search_archive.with_mode(ToolExecutionMode.background(scheduling="SILENT"))
agent = Live.builder("archive").instruction("Help to find things.").tools(search_archive)


async def main() -> None:
    """Print the one acknowledgement and the one final answer of a call."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        await session.send_text("search archive")
        await session.until_quiet()
    async for event in events:
        if event.type in ("tool.acknowledged", "tool.finished"):
            print(event.type, event.payload.name, getattr(event.payload, "result", ""))
    print(quiet.mode.scheduling, quiet.mode.is_background)


run_virtual(main())

# Prints:
# tool.acknowledged search_archive
# tool.finished search_archive {'found': 3}
# SILENT True
