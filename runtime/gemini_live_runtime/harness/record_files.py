"""Read and write records as JSON files, and lock what several processes change."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from gemini_live_runtime import paths
from gemini_live_runtime.errors import HarnessError, UsageError, write_remedy
from gemini_live_runtime.journal.files.disk import FileDisk, try_lock
from gemini_live_runtime.journal.files.whole_file import write_problem, write_whole
from gemini_live_runtime.json_values import escaped, strict_decoder
from gemini_live_runtime.plain_types import MisfitError, Within, is_plain_json, plain_record
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor

if TYPE_CHECKING:
    from pydantic import TypeAdapter

R = TypeVar("R")

VERSION = 1
"""Version of the files; files of a newer one are neither changed nor shown."""

MAX_RECORD = 1024 * 1024
"""Bytes of the largest file of a record."""

LOCK_S = 10.0
"""Seconds to wait for another process that changes records of the same kind."""

_LOCK_STEP_S = 0.002


Milliseconds: TypeAlias = Annotated[int, Within(ge=-(2**53), le=2**53)]
"""Unix milliseconds; JSON has numbers of thousands of digits, with which no clock can be compared."""

Count: TypeAlias = Annotated[int, Within(ge=0, le=2**53)]


@record
class Problem:
    """File that cannot be used, and why, as a sentence."""

    path: str
    reason: str


@runtime_checkable
class PlainRecord(Protocol):
    """Record that may be written by hand, without its id and its times."""

    def filled(self, record_id: str, changed_ms: int) -> Any:
        """Return it with the id of its place and the time of its file, where it has none."""
        ...


_adapters: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    adapter = _adapters.get(kind)
    if adapter is None:
        # Imported here because it delays the console's first paint.
        from pydantic import TypeAdapter

        adapter = _adapters[kind] = TypeAdapter(kind)
    return adapter


def json_of(value: object) -> Any:
    """Return a record as JSON values, without fields that are None.

    Raises `ValueError` for one that could not be read again.
    """
    if (plain := plain_record(type(value))) is not None:
        with contextlib.suppress(MisfitError):
            return plain.write(value)
    return _adapter(type(value)).dump_python(value, mode="json", by_alias=True, exclude_none=True, warnings="error")


def line_of(value: object, path: Path) -> bytes:
    """Return a record as one line for the file `path`; raise `HarnessError`."""
    return _encoded(value, path, None)


def _encoded(value: object, path: Path, indent: int | None) -> bytes:
    """Return a record as JSON that every program can read, and a terminal show."""
    try:
        text = json.dumps(json_of(value), indent=indent, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:300]
        raise HarnessError(f"{path} cannot be written: {reason}", field="record", value=path.name) from None
    # A lone surrogate, which JSON can hold, is no text for most readers.
    data = (escaped(text.encode("utf-8", "replace").decode()) + "\n").encode()
    if len(data) > MAX_RECORD:
        raise HarnessError(
            f"{path} would have {len(data):,} bytes, of at most {MAX_RECORD:,}",
            remedy="Keep the value in a file of your own, and its path here",
            field="record",
            value=len(data),
        )
    return data


def cleaned(value: Any, field: str) -> Any:
    """Return a copy of a JSON value without secrets; raise `HarnessError`."""
    try:
        copy = redactor.value(value)
        # Written, NaN would become null unseen. What is no JSON at all fails when it is written.
        json.dumps(copy, allow_nan=False, skipkeys=True, default=lambda other: None)
    except RecursionError:
        raise HarnessError(f"{field} has too many levels", remedy="Give fewer", field=field) from None
    except ValueError:
        text = f"{field} has a NaN or an infinity, which JSON cannot hold"
        raise HarnessError(text, remedy="Use null", field=field) from None
    return copy


def parse(kind: type[R], data: bytes, path: str | Path) -> R:
    """Return the record in `data`, the content of `path`; raise `HarnessError`."""
    try:
        value: R = _read(kind, data)
    except ValueError as error:
        newer = _version(data)
        if newer > VERSION:
            raise _newer(path, newer) from None
        raise _damaged(path, _fault_of(error)[:200]) from None
    if (newer := getattr(value, "version", VERSION)) > VERSION:
        raise _newer(path, newer)
    return value


def _read(kind: type[R], data: bytes) -> R:
    """Return the record in `data`; raise `ValueError`."""
    with contextlib.suppress(MisfitError, ValueError, RecursionError):
        value = strict_decoder.decode(data.decode())
        if is_plain_json(value) and (plain := plain_record(kind)) is not None:
            return plain.read(value)  # type: ignore[no-any-return]
    return _adapter(kind).validate_json(data)  # type: ignore[no-any-return]


def _fault_of(error: ValueError) -> str:
    """Return what pydantic found first, with the name of the field."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else fault["msg"]


class RecordFiles:
    """Files of records beneath one root; every error is a `HarnessError`."""

    def __init__(self, disk: FileDisk | None = None) -> None:
        self.disk = disk or FileDisk()

    def read(self, kind: type[R], path: str | Path) -> R | None:
        """Return the record in a file, or None without the file."""
        try:
            data = self.disk.read(path, MAX_RECORD)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(path, error) from None
        if len(data) > MAX_RECORD:
            raise _damaged(path, f"it has more than {MAX_RECORD:,} bytes")
        return parse(kind, data, path)

    def read_with_id(self, kind: type[R], path: str | Path, record_id: str) -> R | None:
        """Return a record as `read` does, which has the id of its place.

        Raises `HarnessError` for one with another id than `record_id`: a file that was copied or renamed by hand, whose
        change would be one of another record. What a `PlainRecord` leaves out is filled in.
        """
        found = self.read(kind, path)
        if not getattr(found, "created_at_ms", 1) and isinstance(found, PlainRecord):
            found = _filled(found, path, record_id)
        if found is not None and (other := getattr(found, "id", record_id)) != record_id:
            raise _damaged(path, f"its id is {other[:80]!r}, not that of its place")
        return found

    def write(self, path: Path, value: object) -> None:
        """Replace a record's file, and wait until the disk has it."""
        data = _encoded(value, path, 1)
        with self.errors(path):
            write_whole(self.disk, path, data)

    def delete(self, path: Path) -> None:
        """Delete a file, if it exists."""
        with self.errors(path), contextlib.suppress(FileNotFoundError):
            self.disk.unlink(path)

    def folder(self, path: Path) -> None:
        """Create a folder (0700) that is no symbolic link."""
        if path.is_symlink():
            raise HarnessError(
                f"{path} is a symbolic link", remedy="Give the folder that it points to", field="root", value=str(path)
            )
        with self.errors(path):
            try:
                self.disk.folder(path)
            except UsageError as error:
                raise HarnessError(error.message, remedy=error.remedy, field="root", value=str(path)) from None

    @contextlib.contextmanager
    def errors(self, path: Path) -> Iterator[None]:
        """Turn an `OSError` of a write into a sentence with the remedy."""
        try:
            yield
        except OSError as error:
            raise HarnessError(
                f"{path} {write_problem(error)}",
                remedy=write_remedy(error, path.parent),
                field="root",
                value=str(path),
            ) from None

    @contextlib.contextmanager
    def locked(self, path: Path) -> Iterator[None]:
        """Hold the lock `path` against other processes and threads, and wait for it.

        Raises `HarnessError` when another one keeps it longer than `LOCK_S`.
        """
        give_up = time.monotonic() + LOCK_S
        with contextlib.ExitStack() as opened:
            fd = self._open_lock(path, opened)
            while not (try_lock(fd) and is_file_at(fd, path)):
                if time.monotonic() > give_up:
                    raise HarnessError(
                        f"Another program has kept {path} locked for {LOCK_S:.0f} s",
                        remedy="End a program that hangs, see: gemini-live-tui ps",
                        field="root",
                        value=str(path),
                    )
                if is_file_at(fd, path):
                    time.sleep(_LOCK_STEP_S)
                else:
                    opened.close()
                    fd = self._open_lock(path, opened)
            yield

    def _open_lock(self, path: Path, opened: contextlib.ExitStack) -> int:
        with self.errors(path):
            fd = paths.open_private(path, os.O_RDWR | os.O_CREAT)
        opened.callback(os.close, fd)
        return fd


def is_file_at(fd: int, path: Path) -> bool:
    """Return True when an open file is still the one at its path.

    Once it was deleted, as people do with locks that look old, its lock keeps no other program away.
    """
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except OSError:
        return False


def _filled(found: PlainRecord, path: str | Path, record_id: str) -> Any:
    if not paths.is_safe_name(record_id):
        raise _damaged(path, "a name has letters, digits, '.', '_' and '-' only, at most 80")
    try:
        changed_ms = os.stat(path).st_mtime_ns // 1_000_000
    except OSError as error:
        raise _unreadable(path, error) from None
    return found.filled(record_id, changed_ms)


def _version(data: bytes) -> int:
    try:
        version = json.loads(data)["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return version if isinstance(version, int) else 0


def _damaged(path: str | Path, why: str) -> HarnessError:
    return HarnessError(
        f"{path} is damaged: {why}", remedy="It was left as it is; repair or delete it", field="record", value=str(path)
    )


def _newer(path: str | Path, version: int) -> HarnessError:
    return HarnessError(
        f"{path} has version {version!s:.20}, this program reads up to {VERSION}",
        remedy="Update gemini-live-tui",
        field="version",
        value=version,
    )


class UnreadableRecordError(HarnessError):
    """File of a record that the disk did not give; it may do so later."""


def _unreadable(path: str | Path, error: OSError) -> UnreadableRecordError:
    return UnreadableRecordError(f"{path} cannot be read: {error.strerror or error}", field="record", value=str(path))
