"""Handle a field's editing keys in the order of typing.

Textual lets an event bubble up before it looks for a binding, while letters are written at once: of keys that arrive
together, as they do over a slow line, the letters would come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

if TYPE_CHECKING:
    from textual.widget import Widget

    _Base = Widget
else:
    # A widget as base would hide the field's own component styles.
    _Base = object


class OrderedKeys(_Base):
    """Mixin for `Input` or `TextArea`, to be named before them."""

    async def _on_key(self, event: events.Key) -> None:
        bound = self._bindings.key_to_bindings.get(event.key)
        if bound and not event.is_printable:
            event.stop()
            event.prevent_default()
            await self.run_action(bound[0].action)
