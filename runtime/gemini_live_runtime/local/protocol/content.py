"""Sort client content into instructions, notes and user turns.

- Turns of role `system` replace the instruction; they are read before the message's other turns.
- Turns of role `model`, and turns of role `user` that begin with one of `NOTE_MARKS`, are notes. So are turns without a
  role in a message without `turnComplete`: LiveKit sends new instructions in this way.
- Turns that begin with `TRANSCRIPT_MARK` count as turns of the model: google-adk gives in this way what another agent
  has said and done before it handed the conversation over.
- Turns of role `model` that begin with one of `RECALL_MARKS` are what was said before, and no notes: words of an
  earlier phase in them do not say what to do now. Results of tools at their end are: they wait for an answer.
- Other turns are user turns, answered at `turnComplete`. Without any, `turnComplete` prompts the model. What the user
  says before it, by voice or in realtime text, leaves them unanswered: they are part of what it answers.
- Blank turns and turns of nothing but punctuation are placeholders: clients send them where a user turn has to be last.
  A model turn followed by one says how to answer what waits; any other model turn has answered it.

Initial history (`initialHistoryInClientContent`) is not answered, and its model turns are not notes. User turns at its
end are answered when the client prompts for it by a placeholder or a `turnComplete`, before anything else is said. A
resumed session has its history, also where its setup names one, unless the handle is from before the end of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unicodedata import category

from gemini_live_runtime.local.dialogue.told_results import results_without_answer
from gemini_live_runtime.local.protocol.activity import RATE
from gemini_live_runtime.local.protocol.context import IMAGE_TOKENS, Entry, audio_tokens, text_tokens
from gemini_live_runtime.local.protocol.conversation import Conversation, WaitingContent
from gemini_live_runtime.local.protocol.live_config import instruction_text
from gemini_live_runtime.local.protocol.realtime_input import is_image, user_turn_of
from gemini_live_runtime.local.protocol.refusal import SYSTEM_ROLE, context_exhausted, invalid
from gemini_live_runtime.local.protocol.turn import Prompt, UserTurn
from gemini_live_runtime.wire.messages import ClientContent, Content, Modality, Role

MAX_UNASKED = 4 * 1024 * 1024
"""Most characters and bytes of content before its `turnComplete`; more is refused."""

NOTE_MARKS = ("[context]", "[instruction]")
"""Prefixes of a note of role `user`, for models that take no other role; case ignored."""

RECALL_MARKS = ("[conversation so far]", "[latest part of the conversation]")
"""Prefixes of what was said on earlier connections; case ignored."""

TRANSCRIPT_MARK = "for context:"
"""Prefix of another agent's transcript in a turn of role `user`; case ignored."""

_SAYING = "?!？！"
"""Punctuation that says something by itself."""


def is_placeholder(text: str) -> bool:
    """Return True for text that asks for an answer without saying anything.

    It has only blanks, invisible signs, and punctuation that neither asks nor calls.
    """
    return all(category(sign)[0] in "ZCP" and sign not in _SAYING for sign in text)


class ContentTurns:
    """Collector of a connection's content until `turnComplete`."""

    def __init__(self, conversation: Conversation, *, initial_history: bool) -> None:
        self._conversation = conversation
        self._seeding = initial_history
        self._history_waits = False
        self._unasked: list[UserTurn] = []
        self.overtaken = False
        """True when the user said something else before the `turnComplete` of content."""

    @property
    def waiting(self) -> WaitingContent:
        """Content that waits to be answered."""
        turns = tuple((said.text, said.pcm) for said in self._unasked)
        return WaitingContent(turns, self._history_waits, self._seeding)

    def restore(self, waiting: WaitingContent) -> None:
        """Restore what waited when a handle was made."""
        self._unasked = [UserTurn(text, pcm, counted=True) for text, pcm in waiting.turns]
        self._history_waits = waiting.of_history
        self._seeding = self._seeding and waiting.in_history

    def take(self, message: ClientContent) -> UserTurn | Prompt | None:
        """Take a message; return the turn to answer, if any. Raises `Refusal`."""
        instructions = [instruction_text(turn) for turn in message.turns if turn.role == SYSTEM_ROLE]
        if instructions:
            self._conversation.update(instruction="\n".join(instructions))
        answered = not (message.turn_complete and _tells_how_to_answer(message.turns))
        for turn in message.turns:
            if turn.role != SYSTEM_ROLE:
                self._add(turn, answered, asked=bool(message.turn_complete))
        if self._conversation.context.full:
            raise context_exhausted()
        if not message.turn_complete:
            return None
        if self._seeding:
            self._seeding = False
            self._history_waits = bool(self._unasked)
            return None
        return self.prompt()

    def prompt(self) -> UserTurn | Prompt:
        """Return the waiting user turns as one, a prompt without any."""
        text = " ".join(said.text for said in self._unasked if said.text)
        pcm = b"".join(said.pcm for said in self._unasked)
        self._clear()
        return UserTurn(text, pcm, counted=True) if text or pcm else Prompt()

    def on_user_turn(self) -> None:
        """Leave what waits unanswered: the user has said something else."""
        if not self._seeding and not self._history_waits:
            for said in self._unasked:
                self._conversation.dialogue.remember(said.text)
        self.overtaken = bool(self._unasked)
        self._clear()

    def _clear(self) -> None:
        self._unasked.clear()
        self._history_waits = False

    def _add(self, content: Content, answered: bool, asked: bool) -> None:
        said = user_turn_of(content)
        context = self._conversation.context
        by_model = content.role == Role.MODEL or said.text.lstrip().casefold().startswith(TRANSCRIPT_MARK)
        if not by_model and is_placeholder(said.text):
            said = replace(said, text="")
        role = "model" if by_model else "user"
        context.add(Entry(role, Modality.TEXT, text_tokens(said.text), said.text))
        context.add(Entry(role, Modality.AUDIO, audio_tokens(len(said.pcm) / (2 * RATE))))
        images = sum(1 for part in content.parts if part.inline_data and is_image(part.inline_data.mime_type))
        context.add(Entry(role, Modality.IMAGE, images * IMAGE_TOKENS))
        if by_model:
            if answered:
                self._clear()
            if not self._seeding:
                is_recalled = said.text.lstrip().casefold().startswith(RECALL_MARKS)
                for note in results_without_answer(said.text) if is_recalled else [said.text]:
                    self._conversation.dialogue.note(note)
        elif said.text.lstrip().casefold().startswith(NOTE_MARKS) or (
            content.role is None and not asked and not self._seeding and said.text and not said.pcm
        ):
            self._conversation.dialogue.note(said.text)
        elif said.text or said.pcm:
            if self._history_waits:
                self._clear()
            self._unasked.append(said)
            if sum(len(item.text) + len(item.pcm) for item in self._unasked) > MAX_UNASKED:
                raise invalid(f"more than {MAX_UNASKED} characters and bytes without turnComplete")


def _tells_how_to_answer(turns: Sequence[Content]) -> bool:
    """Return True for turns of the model with a placeholder after them."""
    if not turns or turns[-1].role == Role.MODEL or not is_placeholder(instruction_text(turns[-1])):
        return False
    return all(turn.role == Role.MODEL for turn in turns[:-1])
