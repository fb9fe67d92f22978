"""Find the dialogue that the embedded server has for an agent.

The server runs in a process of its own and reads the dialogues there. An engine reads one only for an agent that leaves
its phrases, the name of its model or the answers of its extractors to it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.conversation.text_model import TextModel, TextRequest
from gemini_live_runtime.session.definition.plan import SessionPlan

if TYPE_CHECKING:
    from gemini_live_runtime.local.default_parts import DefaultParts
    from gemini_live_runtime.local.dialogue.slot_extractor import SlotExtractor
    from gemini_live_runtime.local.scripts.script_types import Script


class LocalDialogue:
    """Dialogues of the embedded server for the agents of one session.

    `server_script` is a file with another one; "" for none. `bundled` is the name of the bundled agent that the session
    begins with; "" for an agent that is not.
    """

    def __init__(self, server_script: str, bundled: str) -> None:
        self._server_script = server_script
        self._bundled = bundled

    def model_of(self, plan: SessionPlan) -> str:
        """Return the model that speaks for an agent."""
        own = self._own
        if own is not None:
            return f"local-{own.name}"
        if plan.definition.local_model:
            return plan.definition.local_model
        if plan.name == self._bundled:
            return f"local-{plan.name}"
        from gemini_live_runtime.local.default_parts import DEFAULT_SCRIPT
        from gemini_live_runtime.local.scripts.script import bundled_names

        if plan.name not in bundled_names():
            return f"local-{DEFAULT_SCRIPT}"
        # An agent that merely has the name of a bundled one must not speak as that one.
        script = self._parts.script(f"local-{plan.name}")
        called = {call.tool for intent in script.intents for call in intent.calls}
        return f"local-{plan.name if called <= {tool.name for tool in plan.declared} else DEFAULT_SCRIPT}"

    def phrases_of(self, plan: SessionPlan, model: str) -> tuple[str, ...]:
        """Return phrases that `model` understands, for an agent without any.

        They are the examples of its dialogue, or, when that is not its own, the names of its tools as words, if it has
        any.
        """
        script = self._script(model)
        own_names = (plan.name, plan.definition.local_model.removeprefix("local-"))
        if script is self._own or script.name in own_names:
            return script.examples
        from gemini_live_runtime.local.language.words import name_words

        return tuple(" ".join(name_words(tool.name)) for tool in plan.declared) or script.examples

    def text_model(self, plan: SessionPlan, model: str) -> TextModel:
        """Return the text model of extractors, loaded if one of the agent's needs it."""
        text_model = _DialogueTextModel(partial(self._script, model))
        if any(getattr(extractor, "needs_model", False) for extractor in plan.definition.extractors):
            text_model.load()
        return text_model

    @cached_property
    def _parts(self) -> DefaultParts:
        from gemini_live_runtime.local.default_parts import DefaultParts

        return DefaultParts(Path(self._server_script) if self._server_script else None)

    @property
    def _own(self) -> Script | None:
        return self._parts.own if self._server_script else None

    def _script(self, model: str) -> Script:
        """Return the dialogue that the embedded server has for `model`."""
        try:
            return self._parts.script(model)
        except KeyError:
            # The server will refuse this model when connecting: any dialogue does until then.
            return self._parts.script("")


def labels_of(plan: SessionPlan) -> dict[str, str]:
    """Return the names that the embedded server's neutral dialogue says."""
    return {"agent": plan.name, "phases": ",".join(phase.name for phase in plan.definition.phases)}


class _DialogueTextModel:
    """Text model that extracts by the patterns of a dialogue.

    Loaded with the first request: most extractors are functions, and ask none.
    """

    def __init__(self, script: Callable[[], Script]) -> None:
        self._script = script
        self._model: SlotExtractor | None = None

    def load(self) -> SlotExtractor:
        """Read the dialogue, unless it is read."""
        if self._model is None:
            from gemini_live_runtime.local.dialogue.slot_extractor import SlotExtractor

            self._model = SlotExtractor(self._script())
        return self._model

    async def generate(self, request: TextRequest, /) -> str:
        """Return the reply; raises `GeminiLiveError`."""
        return await self.load().generate(request)
