"""List records, with the files among them that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import Path
from typing import Any, Generic, TypeVar

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.record_files import Problem, RecordFiles
from gemini_live_runtime.records import frozen_record

R = TypeVar("R")


@frozen_record
class Listing(Generic[R]):
    """Records in order, and the files that cannot be used."""

    records: list[R] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def list_records(
    files: RecordFiles,
    kind: type[R],
    paths: Iterable[tuple[str, str | Path]],
    wanted: Callable[[R], bool],
    *,
    key: Callable[[R], Any],
) -> Listing[R]:
    """Return the wanted records of `paths`, pairs of id and file, sorted by `key`.

    A file that has gone meanwhile is left out; one that cannot be used hides no other.
    """
    found: list[R] = []
    problems: list[Problem] = []
    for record_id, path in paths:
        try:
            one = files.read_with_id(kind, path, record_id)
        except HarnessError as error:
            problems.append(Problem(str(path), str(error)))
            continue
        if one is not None and wanted(one):
            found.append(one)
    found.sort(key=key)
    return Listing(found, problems)
