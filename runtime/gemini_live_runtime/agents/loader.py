"""Load agents by reference: a bundled name, `MODULE:ATTR` or `FILE.py:ATTR`."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import stat
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from gemini_live_runtime.agents.catalogue import CATALOGUE, bundled_name
from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.choices import nearest
from gemini_live_runtime.errors import AgentError, GeminiLiveError, author_place
from gemini_live_runtime.session.definition.builder import AgentBuilder
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.io.agent import Agent

BUNDLED: dict[str, str] = {agent.name: agent.description for agent in CATALOGUE}
"""Descriptions of bundled agents by name. Module `NAME` defines the agent as function `NAME`."""

MAX_SOURCE_BYTES = 16 * 1024 * 1024
"""Longest file of an agent, in bytes."""


def bundled(name: str) -> SessionPlan:
    """Return a new plan of the bundled agent `name`; raise `KeyError` if unknown."""
    if name not in BUNDLED:
        raise KeyError(name)
    made: Agent | AgentBuilder = getattr(importlib.import_module(f"gemini_live_runtime.agents.{name}"), name)()
    return made.plan()


def load_agent(reference: str) -> SessionPlan:
    """Import the agent that `reference` names and return its plan.

    The reference names an `Agent`, a `Live`, or a function without parameters that returns one. Raises `AgentError`
    when the name is not found or the imported code fails.
    """
    check_reference(reference)
    if name := bundled_name(reference):
        return bundled(name)
    place, _, attribute = reference.rpartition(":")
    module = _from_file(Path(place)) if place.endswith(".py") else _from_module(place)
    return _agent_of(module, place, attribute)


def check_reference(reference: str) -> None:
    """Raise `AgentError` for a malformed reference or a missing file.

    Imports nothing.
    """
    if bundled_name(reference):
        return
    place, separator, attribute = reference.rpartition(":")
    if not separator or not place or not attribute:
        known = ", ".join(sorted(BUNDLED))
        close = nearest(reference, BUNDLED)
        hint = f"Did you mean {close}? " if close else ""
        if reference.rstrip(":").endswith(".py"):
            hint = f"Name the agent in the file: {reference.rstrip(':')}:agent. "
        raise AgentError(
            f"There is no agent {reference[:80]!r}",
            remedy=f"{hint}Bundled: {known}. Your own: MODULE:ATTR or FILE.py:ATTR",
            field="agent",
            value=reference,
        )
    if place.endswith(".py"):
        _check_file(Path(place))


def check_syntax(reference: str) -> None:
    """Raise `AgentError` for an agent's file that is no Python; run nothing of it.

    Other faults show when it is imported.
    """
    place = reference.rpartition(":")[0]
    if not place.endswith(".py"):
        return
    try:
        ast.parse(Path(place).read_bytes(), place)
    except SyntaxError as error:
        raise AgentError(_failure(place, error), remedy=_MEND) from error
    except (OSError, ValueError, MemoryError, RecursionError):
        return


def _check_file(path: Path) -> None:
    """Raise `AgentError` unless `path` is a regular file of a bounded size."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        raise AgentError(f"There is no file {path}", remedy="Check the path", field="agent", value=str(path)) from None
    if not stat.S_ISREG(status.st_mode):
        raise AgentError(f"{path} is no regular file", remedy="Check the path", field="agent", value=str(path))
    if status.st_size > MAX_SOURCE_BYTES:
        raise AgentError(
            f"{path} is above {MAX_SOURCE_BYTES // 2**20} MiB",
            remedy="Keep data in other files than the agent's code",
            field="agent",
            value=str(path),
        )


def _agent_of(module: ModuleType, place: str, attribute: str) -> SessionPlan:
    value: Any = getattr(module, attribute, None)
    if value is None:
        named = sorted(name for name, item in vars(module).items() if isinstance(item, Agent | AgentBuilder))
        remedy = f"It has: {', '.join(named)}" if named else "Define it: agent = Agent(name=..., instruction=...)"
        raise AgentError(f"{place} has no {attribute!r}", remedy=remedy, field="agent", value=attribute)
    if not isinstance(value, Agent | AgentBuilder) and callable(value):
        try:
            value = value()
        except GeminiLiveError as error:
            _say_where(error)
            raise
        except KeyboardInterrupt:
            raise
        except USER_ERRORS as error:
            raise AgentError(_failure(place, error), remedy="Mend the function and try again") from error
    if not isinstance(value, Agent | AgentBuilder):
        raise AgentError(
            f"{place}:{attribute} is a {type(value).__name__}, not an Agent",
            remedy="Use an Agent, a Live, or a function without parameters that returns one",
            field="agent",
            value=attribute,
        )
    return value.plan()


class _SourceLoader(SourceFileLoader):
    """Loader that neither reads nor writes compiled files.

    Beside a file in a shared folder they may be another user's.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the source."""
        return self.source_to_code(self.get_data(self.path), self.path)


def _from_file(path: Path) -> ModuleType:
    name = f"gemini_live_agent_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    if spec is None or spec.loader is None:
        raise AgentError(f"{path} cannot be imported", field="agent", value=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _import_from(path.resolve().parent, first=True)
    # Last: a file in the working folder must not stand in for an installed module.
    _import_from(Path.cwd(), first=False)
    try:
        spec.loader.exec_module(module)
    except GeminiLiveError as error:
        _say_where(error)
        raise
    except KeyboardInterrupt:
        raise
    except USER_ERRORS as error:
        remedy = _MEND
        if isinstance(error, ModuleNotFoundError) and _is_shared(path.resolve().parent):
            remedy = _SHARED
        raise AgentError(_failure(str(path), error), remedy=remedy) from error
    return module


def _from_module(name: str) -> ModuleType:
    _import_from(Path.cwd(), first=True)
    try:
        return importlib.import_module(name)
    except GeminiLiveError as error:
        _say_where(error)
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise AgentError(
                f"There is no module {name}",
                remedy=_SHARED if _is_shared(Path.cwd()) else "Check the name, or give FILE.py:ATTR",
                field="agent",
                value=name,
            ) from None
        raise AgentError(_failure(name, error), remedy="Install what it needs") from error
    except KeyboardInterrupt:
        raise
    except USER_ERRORS as error:
        raise AgentError(_failure(name, error), remedy=_MEND) from error


def _import_from(folder: Path, *, first: bool) -> None:
    """Add a folder to the places of modules, unless it is shared.

    In a shared folder any user can put a file that stands in for a module, which would then run as this user.
    """
    known = folder == Path.cwd() and "" in sys.path
    if not known and str(folder) not in sys.path and not _is_shared(folder):
        sys.path.insert(0 if first else len(sys.path), str(folder))


def _is_shared(folder: Path) -> bool:
    """Return True for a folder for temporary files.

    Every user may add files there, but not replace those of others.
    """
    mode = folder.stat().st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


_MEND = "Mend it and try again"
_SHARED = "Modules are not imported from a folder where every user may put files: move the agent to one of your own"


def _failure(place: str, error: BaseException) -> str:
    """Return a sentence that names the error and the author's line, if known."""
    where = author_place(error)
    return f"Importing {place} failed{f' ({where})' if where else ''}: {error_text(error)}"


def _say_where(error: GeminiLiveError) -> None:
    """Prefix the error's message with the author's line, unless it names one."""
    where = author_place(error)
    if where and f"{where.partition(':')[0]}:" not in error.message:
        error.message = f"{where}: {error.message}"
