"""Load and reload a user's agent: its file and the modules beside it."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from gemini_live_runtime.agents.loader import load_agent
from gemini_live_runtime.harness.profile import ProfileTools
from gemini_live_runtime.session.definition.plan import SessionPlan

_NOT_THEIRS = ("gemini_live_runtime", "gemini_live_tui", "__main__")
Stamp = tuple[int, int]
"""A file's modification time in nanoseconds, and its size in bytes."""

_INSTALLED = ("site-packages", "dist-packages")


class AgentSource:
    """Agent at `FILE.py:ATTR` or `MODULE:ATTR`; `auto_reload`: reload on file changes.

    `turns` is the detector of the user's turns, for `SessionPlan.with_turns`, `tools` are those of the profile.
    `load` removes the agent's modules from `sys.modules` and imports them again; objects of the old modules stay
    valid. When the import fails, the old modules are put back.
    """

    def __init__(
        self,
        reference: str,
        *,
        auto_reload: bool = False,
        turns: str = "auto",
        tools: ProfileTools | None = None,
    ) -> None:
        self.reference = reference
        self._tools = ProfileTools() if tools is None else tools
        self.auto_reload = auto_reload
        self._turns = turns
        self._folder: Path | None = None
        self._others: frozenset[str] | None = None
        """Names of the modules that were imported before the agent."""
        self._modules: dict[str, ModuleType] = {}
        """The agent's own modules."""
        self._before: dict[str, ModuleType] = {}
        """The modules that the last `load` replaced."""
        self._stamps: dict[str, Stamp | None] = {}
        """The files that `load` read, stamped before reading."""

    @property
    def path(self) -> str:
        """The agent's file or module."""
        return self.reference.rpartition(":")[0]

    def load(self) -> SessionPlan:
        """Import the agent again and return its plan.

        Runs the code it imports. Raises `AgentError` naming the error and its line.
        """
        if self._others is None:
            self._others = frozenset(sys.modules)
        # Includes modules that its functions imported since the last load.
        before = self._own()
        for name, module in before.items():
            sys.modules.pop(name, None)
            _remove_bytecode(module)
        importlib.invalidate_caches()
        known = {*self._stamps, *((self.path,) if self.path.endswith(".py") else ())}
        # Stamped before reading: a file written during the import counts as changed.
        stamps = {path: _stamp(path) for path in known}
        # Bytecode is matched to its source by seconds and size, which would hide a quick second edit.
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            plan = load_agent(self.reference).with_turns(self._turns).with_profile(self._tools)
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

    def roll_back(self) -> None:
        """Restore the modules that the last `load` replaced."""
        _exchange(self._modules, self._before)
        self._modules = self._before

    def changed(self) -> bool:
        """Return True when one of its files has changed since `load`.

        A missing file does not count: editors replace files by removing them first.
        """
        return any(now is not None and now != then for path, then in self._stamps.items() for now in (_stamp(path),))

    def _own(self) -> dict[str, ModuleType]:
        """Return the loaded modules in the agent's own folder."""
        main = self.path if self.path.endswith(".py") else getattr(sys.modules.get(self.path), "__file__", None)
        if main:
            self._folder = Path(main).resolve().parent
        folder, others = self._folder, self._others or ()
        if folder is None:
            return {}
        found = [(name, module) for name, module in list(sys.modules.items()) if name not in others]
        return {name: module for name, module in found if _is_in(name, module, folder)}


def _remove_bytecode(module: ModuleType) -> None:
    """Remove the cached bytecode that importing `module` wrote, if any."""
    cached = getattr(module, "__cached__", None)
    if cached:
        with contextlib.suppress(OSError):
            os.unlink(cached)


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
