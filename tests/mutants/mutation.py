"""Find a function by its qualified name and import its module with a mutation."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutants.edits import Edit, Function

PACKAGE = "gemini_live_runtime.session"
SOURCES = Path(__file__).parents[2] / "runtime" / "gemini_live_runtime" / "session"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A part that is taken out of one function of the session.

    `module` is a dotted name below the session package, `function` a qualified name in it. `tests` are the files of
    `tests/session` that have to notice, without `test_` and `.py`, separated by spaces.
    """

    part: str
    module: str
    function: str
    edit: Edit
    tests: str

    @property
    def path(self) -> Path:
        """File of the module."""
        return SOURCES.joinpath(*self.module.split(".")).with_suffix(".py")

    @property
    def module_name(self) -> str:
        """Name by which the module is imported."""
        return f"{PACKAGE}.{self.module}"

    def apply(self, source: str | bytes) -> ast.Module:
        """Return the module's changed tree. Raises LookupError for a missing name."""
        tree = ast.parse(source)
        self.edit(_function(tree, self.function))
        return ast.fix_missing_locations(tree)

    def problem(self) -> str:
        """Return the reason why it cannot be applied, or ""."""
        try:
            self.apply(self.path.read_bytes())
        except (LookupError, OSError) as error:
            return f"{self.part}: {self.module}, {self.function}: {error}"
        return ""

    def install(self) -> None:
        """Change the module when it is imported. Raises RuntimeError when it was already."""
        if self.module_name in sys.modules:
            raise RuntimeError(f"{self.module_name} is imported already")
        sys.meta_path.insert(0, _Finder(self))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._mutation.module_name:
            return None
        loader = _Loader(fullname, str(self._mutation.path))
        loader.mutation = self._mutation
        return importlib.util.spec_from_file_location(fullname, self._mutation.path, loader=loader)


class _Loader(SourceFileLoader):
    mutation: Mutation

    def get_code(self, fullname: str) -> CodeType:
        # Neither reads nor writes bytecode: that of the true module must stay as it is.
        return compile(self.mutation.apply(self.get_data(self.path)), self.path, "exec")


def _function(tree: ast.Module, qualified_name: str) -> Function:
    scope: ast.AST = tree
    for name in qualified_name.split("."):
        found = [
            node
            for node in ast.iter_child_nodes(scope)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
        ]
        if not found:
            raise LookupError(f"there is no {name}")
        scope = found[-1]
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        raise LookupError(f"{qualified_name} is no function")
    return scope
