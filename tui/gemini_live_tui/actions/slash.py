"""Commands written in the prompt: `/name` and behind it what the `slash` of an action asks for. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gemini_live_tui.actions import ACTIONS
from gemini_live_tui.actions.action import Action

SLASH = "/"


class NoCommand(Exception):  # noqa: N818 - reported to the operator, not an error of the program
    """What was written is no command; `str` is a sentence."""


@dataclass(frozen=True, slots=True)
class Form:
    """A command's shape. `arguments` are kinds such as `PHASE`; the last one takes all that is left of the message.

    `others` are further names of the same command.
    From argument `needed` on they may be left out; with `equals` the first ends at an equals sign, not at a space.
    """

    name: str
    arguments: tuple[str, ...]
    needed: int
    equals: bool
    others: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The command as it is written."""
        words = [*self.arguments[: self.needed], *(f"[{word}]" for word in self.arguments[self.needed :])]
        return f"{SLASH}{self.name} {(' = ' if self.equals else ' ').join(words)}".rstrip()


def form_of(action: Action) -> Form:
    """How an action is written in the prompt."""
    names, *words = action.slash.split()
    name, *others = names.split("|")
    kinds = [word for word in words if word != "="]
    needed = sum(not word.startswith("[") for word in kinds)
    return Form(name, tuple(word.strip("[]") for word in kinds), needed, "=" in words, tuple(others))


COMMANDS: Mapping[str, Action] = {
    name: action for action in ACTIONS if action.slash for name in (form_of(action).name, *form_of(action).others)
}
"""Actions by the names of their command."""


def is_command(text: str) -> bool:
    """Whether a message is meant as a command; two slashes begin an ordinary one."""
    return text.startswith(SLASH) and not text.startswith(SLASH * 2)


def as_message(text: str) -> str:
    """The message that `text` stands for when it is no command."""
    return text[1:] if text.startswith(SLASH * 2) else text


def read(text: str) -> tuple[Action, tuple[str, ...]]:
    """The action and arguments of a command; raises `NoCommand`."""
    name, _, rest = text[1:].partition(" ") if " " in text.split("\n")[0] else text[1:].partition("\n")
    action = COMMANDS.get(name.strip())
    if action is None:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        remedy = f"Did you mean {SLASH}{close[0]}? " if close else ""
        raise NoCommand(f"There is no command {SLASH}{name[:40]}. {remedy}{SLASH}say or {SLASH * 2} in front sends it.")
    form = form_of(action)
    arguments = _split(form, rest.strip())
    if len(arguments) < form.needed:
        raise NoCommand(f"{SLASH}{form.name} needs more behind it: {form.usage}")
    if rest.strip() and not form.arguments:
        raise NoCommand(f"{SLASH}{form.name} stands alone, nothing belongs behind it.")
    return action, arguments


def _split(form: Form, rest: str) -> tuple[str, ...]:
    """What is written for each argument, as far as something is."""
    if form.equals and "=" not in rest:
        return (rest,) if rest else ()
    parts: list[str] = []
    for _ in form.arguments[:-1]:
        part, _, rest = rest.partition("=" if form.equals else " ")
        parts.append(part.strip())
        rest = rest.strip()
    return tuple(part for part in (*parts, rest) if part) if form.arguments else ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to go on writing. `text` is the whole message then; "" only tells what belongs here.

    `whole`: the command can be carried out as `text` stands.
    """

    label: str
    about: str
    text: str
    whole: bool = False


Choices = Callable[[str, Sequence[str]], Sequence[str]]
"""What can stand for an argument of a kind, given those before it: e.g. the names of all phases for `PHASE`.

Nothing where anything may be written.
"""


def suggest(text: str, choices: Choices) -> list[Suggestion]:
    """Ways to go on with the message `text`, the likeliest first; none when it is no command in the making."""
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
    """The kinds of an action's arguments."""
    return form_of(action).arguments


def _begun(name: str) -> Suggestion:
    action = COMMANDS[name]
    form = replace(form_of(action), name=name)
    space = " " if form.arguments else ""
    return Suggestion(form.usage, action.description, f"{SLASH}{name}{space}", form.needed == 0)


def _current(form: Form, rest: str) -> tuple[str, list[str], str, int]:
    """What stands before the argument being written, the arguments in it, that argument so far, which one it is."""
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
    """Names that begin with what was typed, then those that hold it."""
    wanted = typed.casefold()
    begin = [name for name in names if name.casefold().startswith(wanted)]
    return begin + [name for name in names if wanted in name.casefold() and name not in begin]
