"""Give tools the session, the speech and the call in which they run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.io.place import place_of_code
from gemini_live_runtime.session.io.speech_handle import in_speech
from gemini_live_runtime.tools.context import ToolContext

if TYPE_CHECKING:
    from gemini_live_runtime.session.io.agent_session import AgentSession
    from gemini_live_runtime.session.io.speech_handle import SpeechHandle
    from gemini_live_runtime.state.store import State
    from gemini_live_runtime.tools.results import ToolCall


class RunContext(ToolContext):
    """Session of a tool call, with all that an `AgentSession` can do.

    What waits belongs to the session's event loop: await it in async tools.
    """

    __slots__ = ("_playing", "_until", "function_call", "session", "speech_handle")

    def __init__(
        self,
        call: ToolCall,
        notify: Callable[[str], None],
        *,
        session: AgentSession,
        until: Callable[[Callable[[], bool]], Awaitable[None]],
        playing: Callable[[], bool],
        **options: Any,
    ) -> None:
        """`until(condition)` returns once a condition holds.

        `playing` returns True while the model is heard.
        """
        super().__init__(call.call_id, notify, **options)
        self.function_call = call
        """Call with its id, name and arguments."""
        self.session = session
        self.speech_handle: SpeechHandle | None = session.current_speech
        """Speech that made the call; None where the model called without having been asked."""
        self._until = until
        self._playing = playing
        # The call has a task, and so a context, of its own.
        in_speech.set("" if self.speech_handle is None else self.speech_handle.id)
        place_of_code.set(session.place_of_call(call.call_id))

    @property
    def userdata(self) -> State:
        """State of the session."""
        return self.session.userdata

    async def wait_for_playout(self) -> None:
        """Wait until what the model said before this call was heard."""
        await self._until(lambda: not self._playing())

    def disallow_interruptions(self) -> None:
        """Protect the speech in which this call runs.

        Raises `AgentError` when it was interrupted already, and without one.
        """
        if self.speech_handle is None:
            raise AgentError(
                f"The call {self.call_id} belongs to no speech that could be protected", field="speech_handle"
            )
        self.speech_handle.allow_interruptions = False
