"""Name the folders and programs that a model may use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.paths import expand_user, is_safe_name
from gemini_live_runtime.records import record

MAX_PATH = 4096


@record
class Workspace:
    """Folders and programs by name, as pairs: the first folder is the default."""

    folders: tuple[tuple[str, Any], ...] = ()
    programs: tuple[tuple[str, Any], ...] = ()

    def with_more(self, folders: object, programs: object) -> Workspace:
        """Return a workspace with further entries, which replace those of the same name.

        What is no table is kept as an entry without a name, and a fault.
        """
        return Workspace(_merged(self.folders, folders), _merged(self.programs, programs))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the entries, and the remedies."""
        for kind, entries in (("folders", self.folders), ("programs", self.programs)):
            for name, _ in entries:
                if not isinstance(name, str) or not is_safe_name(name):
                    yield (
                        f".workspace({kind}=...) cannot have the name {name!r:.60}",
                        'Give a dictionary of names, such as {"notes": "~/notes"}'
                        if name is None
                        else "Use letters, digits, dots, dashes and underscores, at most 80",
                    )
        for name, path in self.folders:
            if not isinstance(path, str | Path) or not 0 < len(str(path)) <= MAX_PATH or "\0" in str(path):
                yield (
                    f"The folder {name!r:.60} of .workspace(...) is {path!r:.60}, no path",
                    "Give the path of a folder",
                )
            elif not _is_expandable(path):
                yield (
                    f"The folder {name!r:.60} of .workspace(...) is {str(path)!r:.60}, which is no user's home folder",
                    "Write the path in full",
                )
        if self.programs:
            yield from self._program_problems()

    def _program_problems(self) -> Iterator[tuple[str, str]]:
        # Imported here, for few agents run programs.
        from gemini_live_runtime.tools.programs import command_faults

        for name, command in self.programs:
            fault = command_faults(command) if isinstance(command, list | tuple) else "is no list of texts"
            if fault:
                yield (
                    f"The program {name!r:.60} of .workspace(...) {fault}",
                    'Give the program and its arguments, such as ["make", "test"]',
                )
        if not self.folders:
            yield (
                ".workspace(programs=...) needs a folder, in which they run",
                'Add folders={"work": "~/work"} to .workspace(...)',
            )

    @property
    def usable(self) -> Workspace:
        """The workspace, or an empty one where it has faults."""
        return Workspace() if any(True for _ in self.problems()) else self


def _is_expandable(path: str | Path) -> bool:
    try:
        expand_user(path)
    except UsageError:
        return False
    return True


def _merged(entries: tuple[tuple[str, Any], ...], more: object) -> tuple[tuple[Any, Any], ...]:
    if more is None:
        return entries
    if not isinstance(more, Mapping):
        return (*entries, (None, more))
    kept = {**dict(entries), **more}
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in kept.items())
