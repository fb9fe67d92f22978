"""What keeps a pane's failure inside the pane."""

from __future__ import annotations

from textual.events import Event
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from gemini_live_tui.messages import BodyFailed


class Contained(Widget):
    """A widget whose errors, while it paints or answers an event, go to the pane around it, not to the application."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint rows; empty ones when that fails."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            self.post_message(BodyFailed(error))
            return [Strip.blank(crop.width, self.rich_style)] * crop.height

    async def on_event(self, event: Event) -> None:
        """Answer an event."""
        try:
            await super().on_event(event)
        except Exception as error:
            self.post_message(BodyFailed(error))
