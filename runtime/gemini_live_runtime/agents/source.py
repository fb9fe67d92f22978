"""Where a person's own agent comes from: its file, with the modules beside it, read again when that is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from gemini_live_runtime.agents.loader import load_agent
from gemini_live_runtime.session.definition.plan import SessionPlan

_NOT_THEIRS = ("gemini_live_runtime", "gemini_live_tui", "__main__")
Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its size."""

_INSTALLED = ("site-packages", "dist-packages")


class AgentSource:
    """One `FILE.py:ATTR` or `MODULE:ATTR`. `watched`: it is to be looked at by itself (`--reload`).

    Reading it takes its modules out of `sys.modules` and imports them afresh; objects of the old ones live on. When
    that fails everything is as it was before.
    """

    def __init__(self, reference: str, *, watched: bool = False) -> None:
        self.reference = reference
        self.watched = watched
        self._folder: Path | None = None
        self._others: frozenset[str] | None = None
        """Modules that were there before the agent."""
        self._modules: dict[str, ModuleType] = {}
        """The agent's own modules."""
        self._before: dict[str, ModuleType] = {}
        """Those that the last reading has replaced."""
        self._stamps: dict[str, Stamp | None] = {}
        """The files that were read, as they were then."""

    @property
    def path(self) -> str:
        """The file or the module that it is read from."""
        return self.reference.rpartition(":")[0]

    def load(self) -> SessionPlan:
        """Read it; runs the code it imports. Raises `AgentError` saying what failed and on which line."""
        if self._others is None:
            self._others = frozenset(sys.modules)
        # Those, too, that its functions have imported since.
        before = self._own()
        for name in before:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        known = {*self._stamps, *((self.path,) if self.path.endswith(".py") else ())}
        # What is noted before it is read is what was read, however often it is written meanwhile.
        stamps = {path: _stamp(path) for path in known}
        # A cache of compiled code does not notice an edit within the same second.
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            plan = load_agent(self.reference)
        except BaseException:
            fresh = self._own()
            self._stamps = {**_files(fresh), **stamps}
            _exchange(fresh, before)
            raise
        finally:
            sys.dont_write_bytecode = writes
        self._before, self._modules = before, self._own()
        files = _files(self._modules)
        self._stamps = {
            **files,
            **{path: stamp for path, stamp in stamps.items() if path in files or path == self.path},
        }
        return plan

    def take_back(self) -> None:
        """Put the modules back that the last reading has replaced."""
        _exchange(self._modules, self._before)
        self._modules = self._before

    def changed(self) -> bool:
        """Whether one of its files is another than when it was read. One that is gone may be about to be replaced."""
        return any(now is not None and now != then for path, then in self._stamps.items() for now in (_stamp(path),))

    def _own(self) -> dict[str, ModuleType]:
        """The agent's own modules as they are now."""
        main = self.path if self.path.endswith(".py") else getattr(sys.modules.get(self.path), "__file__", None)
        if main:
            self._folder = Path(main).resolve().parent
        folder, others = self._folder, self._others or ()
        if folder is None:
            return {}
        found = [(name, module) for name, module in list(sys.modules.items()) if name not in others]
        return {name: module for name, module in found if _is_in(name, module, folder)}


def _exchange(fresh: Iterable[str], old: dict[str, ModuleType]) -> None:
    for name in fresh:
        sys.modules.pop(name, None)
    sys.modules.update(old)


def _files(modules: dict[str, ModuleType]) -> dict[str, Stamp | None]:
    files = [str(module.__file__) for module in modules.values()]
    return {path: _stamp(path) for path in files}


def _is_in(name: str, module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    if not file or name.partition(".")[0] in _NOT_THEIRS:
        return False
    path = Path(file).resolve()
    return path.is_relative_to(folder) and not any(part in _INSTALLED for part in path.parts)


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
