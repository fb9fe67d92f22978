"""Parse and complete commands in the prompt: `/name` and its arguments.

An action's `slash` declares its command. Pure functions.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gemini_live_runtime.records import record
from gemini_live_tui.actions import ACTIONS
from gemini_live_tui.actions.action import Action

SLASH = "/"


class InvalidCommand(Exception):  # noqa: N818 - reported to the operator, not an error of the program
    """Text is not a valid command; `str` is a sentence for the operator."""


@record
class Form:
    """Shape of a command.

    `arguments` are kinds such as `PHASE`; the last one takes the rest of the message. The first `needed` ones are
    required. With `equals` the first ends at an equals sign, not at a space. `others` are further names of the command.
    """

    name: str
    arguments: tuple[str, ...]
    needed: int
    equals: bool
    others: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """Usage line, e.g. `/set KEY = JSON`."""
        words = [*self.arguments[: self.needed], *(f"[{word}]" for word in self.arguments[self.needed :])]
        return f"{SLASH}{self.name} {(' = ' if self.equals else ' ').join(words)}".rstrip()


def form_of(action: Action) -> Form:
    """Return the shape of an action's command."""
    names, *words = action.slash.split()
    name, *others = names.split("|")
    kinds = [word for word in words if word != "="]
    needed = sum(not word.startswith("[") for word in kinds)
    return Form(name, tuple(word.strip("[]") for word in kinds), needed, "=" in words, tuple(others))


COMMANDS: Mapping[str, Action] = {
    name: action for action in ACTIONS if action.slash for name in (form_of(action).name, *form_of(action).others)
}
"""Actions by the names of their commands."""


def is_command(text: str) -> bool:
    """Return True when a message is a command; two slashes begin an ordinary message."""
    return text.startswith(SLASH) and not text.startswith(SLASH * 2)


def as_message(text: str) -> str:
    """Return the message to send for `text`, without the first of two slashes."""
    return text[1:] if text.startswith(SLASH * 2) else text


def read(text: str) -> tuple[Action, tuple[str, ...]]:
    """Return the action and arguments of a command; raise `InvalidCommand`."""
    name, _, rest = text[1:].partition(" ") if " " in text.split("\n")[0] else text[1:].partition("\n")
    action = COMMANDS.get(name.strip())
    if action is None:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        remedy = f"Did you mean {SLASH}{close[0]}? " if close else ""
        raise InvalidCommand(
            f"Unknown command {SLASH}{name[:40]}. {remedy}To send it as text, use {SLASH}say or {SLASH * 2}."
        )
    form = form_of(action)
    arguments = _split(form, rest.strip())
    if len(arguments) < form.needed:
        raise InvalidCommand(f"{SLASH}{form.name} needs an argument: {form.usage}")
    if rest.strip() and not form.arguments:
        raise InvalidCommand(f"{SLASH}{form.name} takes no argument.")
    return action, arguments


def _split(form: Form, rest: str) -> tuple[str, ...]:
    """Split the text after a command's name into its arguments, without empty ones."""
    if form.equals and "=" not in rest:
        return (rest,) if rest else ()
    parts: list[str] = []
    for _ in form.arguments[:-1]:
        part, _, rest = rest.partition("=" if form.equals else " ")
        parts.append(part.strip())
        rest = rest.strip()
    return tuple(part for part in (*parts, rest) if part) if form.arguments else ()


@record
class Suggestion:
    """Completion of a command.

    `text` is the whole message after taking it; "" for a hint that cannot be taken. `whole`: `text` is a complete
    command.
    """

    label: str
    about: str
    text: str
    whole: bool = False


Choices = Callable[[str, Sequence[str]], Sequence[str]]
"""Function of an argument's kind and the arguments before it that returns possible values.

E.g. the names of all phases for `PHASE`; an empty sequence for free text.
"""


def suggest(text: str, choices: Choices) -> list[Suggestion]:
    """Return completions of the message `text`, the likeliest first.

    Returns an empty list when `text` is not the beginning of a command.
    """
    if not is_command(text) or "\n" in text:
        return []
    name, space, rest = text[1:].partition(" ")
    if not space:
        return [_begun(found) for found in _matching(name, sorted(COMMANDS))]
    action = COMMANDS.get(name)
    if action is None or not action_arguments(action):
        return []
    form = form_of(action)
    head, written, typed, at = _current(form, rest.lstrip())
    if at >= len(form.arguments):
        return []
    kind = form.arguments[at]
    last = at == len(form.arguments) - 1
    joint = "" if last else " = " if form.equals else " "
    stem = f"{SLASH}{name} {head}"
    found = [
        Suggestion(choice, kind.lower(), f"{stem}{choice}{joint}", at + 1 >= form.needed)
        for choice in _matching(typed, choices(kind, written))
    ]
    return found or [Suggestion(form.usage, action.description, "")]


def action_arguments(action: Action) -> tuple[str, ...]:
    """Return the kinds of the arguments of an action's command."""
    return form_of(action).arguments


def _begun(name: str) -> Suggestion:
    action = COMMANDS[name]
    form = replace(form_of(action), name=name)
    space = " " if form.arguments else ""
    return Suggestion(form.usage, action.description, f"{SLASH}{name}{space}", form.needed == 0)


def _current(form: Form, rest: str) -> tuple[str, list[str], str, int]:
    """Find the argument that is being written.

    Returns the text before it, the arguments in that text, its own text so far, and its index.
    """
    head, at = "", 0
    written: list[str] = []
    sign = "=" if form.equals else " "
    while at < len(form.arguments) - 1 and sign in rest:
        part, _, rest = rest.partition(sign)
        head += f"{part.strip()} = " if form.equals else f"{part} "
        written.append(part.strip())
        rest = rest.lstrip()
        at += 1
    return head, written, rest, at


def _matching(typed: str, names: Sequence[str]) -> list[str]:
    """Return names that begin with the typed text, then those that contain it."""
    wanted = typed.casefold()
    begin = [name for name in names if name.casefold().startswith(wanted)]
    return begin + [name for name in names if wanted in name.casefold() and name not in begin]
