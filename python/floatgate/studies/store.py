"""Stores the rows of a study: a Parquet dataset in a directory, or at a URL for fsspec."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from floatgate import _core
from floatgate.files import parts
from floatgate.files.reading import parse_json
from floatgate.files.writing import write_whole
from floatgate.traces.source import is_url, missing_packages

from .rows import DONE, FAILED, Row, Schema, frame_of
from .tables import decode, encode

HEAD = "study.json"
"""File that describes the directory: the study, the engine's build, the columns, the runs."""

PLAN = "plan.parquet"
"""File with the digests of the study's runs: rows of other runs do not count."""

RUNS = "runs"
"""Folder of the dataset."""

ROWS = 1000
"""Maximum number of rows in a file of the dataset."""

PART = ".part"
"""Suffix of a file that is being written; the name of such a file begins with a dot."""

FLUSH_S = 2.0
"""Maximum number of seconds until a new row is written."""


class Folder:
    """A directory or a URL. A file in it is written as a whole, or not at all.

    Raises ConfigError for a place that cannot be a directory, OSError if a file cannot be read or
    written.
    """

    def __init__(self, place: str | Path) -> None:
        self.place = str(place)
        if not is_url(self.place):
            self.place = str(Path(self.place).absolute())
        import fsspec  # type: ignore[import-untyped]
        from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

        try:
            self._system, self._root = fsspec.core.url_to_fs(self.place)
        except (ImportError, ValueError) as error:
            words = missing_packages(self.place, error)
            raise _core.ConfigError(f"out: {place}: {words}") from error
        self._is_local = isinstance(self._system, LocalFileSystem)
        # Systems that inherit `mv` would copy instead of renaming. They write a file as one object.
        self._renames = type(self._system).mv is not fsspec.AbstractFileSystem.mv
        if self._is_local:
            # A plain path, also for a `file://` URL.
            self.place = self._root
            if Path(self.place).is_file():
                raise _core.ConfigError(f"out: {place}: is a file; expected a directory")

    def path(self, name: str) -> str:
        """Returns the full path of a file, independent of the working directory."""
        return f"{self.place.rstrip('/')}/{name}"

    def names(self, folder: str = "", suffix: str = "") -> list[str]:
        """Returns the files in a folder with this suffix; none if there is no such folder.

        Incomplete files of killed processes are left out.
        """
        with _said(self.path(folder)):
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._inner(folder), detail=False)
            except FileNotFoundError:
                return []
        names = (str(one).rstrip("/").rpartition("/")[2] for one in found)
        start = f"{folder}/" if folder else ""
        return sorted(
            start + name
            for name in names
            if name.endswith(suffix) and not (name.startswith(".") and name.endswith(PART))
        )

    def read(self, name: str) -> bytes | None:
        """Returns the bytes of a file, or None if there is no such file."""
        with _said(self.path(name)):
            try:
                return bytes(self._system.cat_file(self._inner(name)))
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file as a whole: by renaming, or as one object."""
        with _said(self.path(name)):
            if self._is_local:
                path = Path(self.path(name))
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
            elif self._renames:
                self._write_and_rename(self._inner(name), content)
            else:
                self._system.pipe_file(self._inner(name), content)

    def create(self, name: str, content: bytes) -> bool:
        """Writes a file unless it exists; returns whether it did not exist.

        Local file systems decide this atomically between processes. On other systems the answer
        comes from a check before the file is written.
        """
        with _said(self.path(name)):
            if self._is_local:
                return _create(Path(self.path(name)), content)
            if self._system.exists(self._inner(name)):
                return False
        self.write(name, content)
        return True

    def remove(self, name: str) -> None:
        with _said(self.path(name)), suppress(FileNotFoundError):
            self._system.rm_file(self._inner(name))

    def sweep(self) -> None:
        """Removes temporary files of killed processes from a local directory."""
        if self._is_local:
            for place in (self.place, self.path(RUNS)):
                parts.sweep(Path(place))

    def _write_and_rename(self, path: str, content: bytes) -> None:
        folder, _, name = path.rpartition("/")
        part = f"{folder}/.{name}.{uuid.uuid4().hex}{PART}"
        self._system.makedirs(folder, exist_ok=True)
        try:
            self._system.pipe_file(part, content)
            self._rename(part, path)
        except BaseException:
            with suppress(Exception):
                self._system.rm_file(part)
            raise

    def _rename(self, part: str, path: str) -> None:
        try:
            self._system.mv(part, path)
        except Exception:
            # Some systems, such as SMB, cannot rename to an existing file.
            self._system.rm_file(path)
            self._system.mv(part, path)

    def _inner(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}".rstrip("/")


@contextmanager
def _said(place: str) -> Iterator[None]:
    """Converts the exceptions of different kinds of storage to an OSError with the place."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        words = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise OSError(f"{place}: {words or type(error).__name__}") from error


def _create(path: Path, content: bytes) -> bool:
    """Writes a whole file through a hard link, which fails if the name already exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PART}")
    try:
        write_whole(part, content)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except OSError:
            # The file system has no hard links.
            try:
                with path.open("xb") as file:
                    file.write(content)
            except FileExistsError:
                return False
        return True
    finally:
        part.unlink(missing_ok=True)


class Store:
    """Collects new rows of a study and writes them into its dataset."""

    def __init__(self, folder: Folder, columns: Schema) -> None:
        folder.sweep()
        self.folder = folder
        self.columns = columns
        self._parts = {status: _Part(self, status) for status in ("", FAILED)}

    def add(self, row: Row) -> None:
        """Adds a row, which is written soon. Raises OSError."""
        self._parts[FAILED if row["status"] == FAILED else ""].add(row)

    def look(self) -> None:
        """Writes rows that have waited for `FLUSH_S`. Raises OSError."""
        for part in self._parts.values():
            part.look()

    def flush(self) -> None:
        """Writes all rows. Raises OSError."""
        for part in self._parts.values():
            part.flush()


class _Part:
    """A growing file: it is written again, as a whole, until it has `ROWS` rows."""

    def __init__(self, store: Store, status: str) -> None:
        self._store = store
        self._status = status
        self._rows: list[Row] = []
        self._written = 0
        self._since = 0.0

    def add(self, row: Row) -> None:
        if self._written == len(self._rows):
            self._since = time.monotonic()
        self._rows.append(row)
        if len(self._rows) >= ROWS:
            self.flush()
        else:
            self.look()

    def look(self) -> None:
        if self._written < len(self._rows) and time.monotonic() - self._since > FLUSH_S:
            self.flush()

    def flush(self) -> None:
        if self._written == len(self._rows):
            return
        frame = frame_of(self._rows, self._store.columns)
        self._store.folder.write(_file_of(self._status, self._rows[0]["run"]), encode(frame))
        self._written = len(self._rows)
        if self._written >= ROWS:
            self._rows, self._written = [], 0


def head_of(folder: Folder) -> dict[str, Any] | None:
    """Returns the description of the directory, or None if it has none.

    Raises ConfigError if the file of this name is no such description.
    """
    text = folder.read(HEAD)
    if text is None:
        return None
    try:
        head = parse_json(text)
        if isinstance(head, dict) and {"build", "columns", "fixed", "runs", "study"} <= head.keys():
            return head
    except (ValueError, RecursionError):
        pass
    raise _core.ConfigError(f"{folder.path(HEAD)}: expected a file of floatgate study")


def write_head(folder: Folder, head: Mapping[str, Any]) -> None:
    """Writes the description of the directory. Raises OSError."""
    folder.write(HEAD, _text_of(head))


def claim(folder: Folder, head: Mapping[str, Any]) -> bool:
    """Writes the description of the directory unless it exists; returns whether it was written.

    Of several processes that begin in one directory, one gets True. Raises OSError.
    """
    return folder.create(HEAD, _text_of(head))


def _text_of(head: Mapping[str, Any]) -> bytes:
    return (json.dumps(head, indent=2, ensure_ascii=False) + "\n").encode()


def write_plan(folder: Folder, digests: Iterable[str]) -> None:
    """Writes the digests of the study's runs. Raises OSError."""
    folder.write(PLAN, encode(pl.DataFrame({"run": sorted(digests)}, {"run": pl.String})))


def plan_of(folder: Folder) -> pl.DataFrame:
    """Returns the digests of the study's runs as the column `run`. Raises ConfigError."""
    plan = _table(folder, PLAN, {"run": str(pl.String())})
    return pl.DataFrame(schema={"run": pl.String}) if plan is None else plan


def frames(
    folder: Folder, columns: Sequence[str], kinds: Mapping[str, str]
) -> Iterator[pl.DataFrame]:
    """Yields these columns of each file of the dataset as a table.

    `kinds` maps the study's columns to their types, as in its head. Raises ConfigError for a file
    that is damaged or whose columns have other types.
    """
    for name in folder.names(RUNS, ".parquet"):
        if (frame := _table(folder, name, kinds, columns)) is not None:
            yield frame


def status_of(folder: Folder, kinds: Mapping[str, str]) -> dict[str, str]:
    """Returns the status of each run that has a row, by digest; of two rows, "done" counts."""
    found: dict[str, str] = {}
    for frame in frames(folder, ["run", "status"], kinds):
        for run, status in frame.iter_rows():
            if found.get(run) != DONE:
                found[run] = status
    return found


def forget_failed(folder: Folder, digests: Collection[str], kinds: Mapping[str, str]) -> None:
    """Removes the rows of these failed runs, so that the runs count as missing."""
    for name in folder.names(RUNS, ".parquet"):
        if not name.startswith(f"{RUNS}/{FAILED}-"):
            continue
        rows = _table(folder, name, kinds)
        if rows is None or not (gone := rows["run"].is_in([*digests])).any():
            continue
        if not gone.all():
            # The first row names the file, so the remaining rows overwrite no other file.
            left = rows.filter(~gone)
            folder.write(_file_of(FAILED, left["run"][0]), encode(left))
        if gone[0]:
            folder.remove(name)


def _table(
    folder: Folder, name: str, kinds: Mapping[str, str], columns: Sequence[str] | None = None
) -> pl.DataFrame | None:
    content = folder.read(name)
    return None if content is None else decode(content, folder.path(name), kinds, columns)


def _file_of(status: str, run: str) -> str:
    """Returns the name of the file whose first row is this run."""
    return f"{RUNS}/{status}-{run}.parquet" if status else f"{RUNS}/{run}.parquet"
