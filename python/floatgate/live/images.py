"""Images: the flash of a live drive, stored in one file. docs/images.md describes the format."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from floatgate import _core

if TYPE_CHECKING:
    from floatgate.simulation.watching import Progress

CHUNK = 1 << 20
"""Bytes that are moved at once."""

IN_MEMORY = 8 << 20
"""Bytes of an input of unknown length that are kept in memory; more go to a temporary file."""


def create(
    path: str | Path,
    size: str | int,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int = 1,
    aged: bool = False,
    zoned: bool = False,
    progress: Progress | None = None,
) -> list[str]:
    """Creates an image with an erased drive of `size`: bytes, or a text with a unit, "64GiB".

    Returns notes on how the drive differs from its config.

    With `aged`, the engine overwrites the drive as `[start]` states, or to its steady state. Its
    pages hold zeros. `progress` is called with "fill", the pages written, and the number of pages
    to write (0 if unknown). The file appears only when it is complete.

    Hosts see a `zoned` drive in zones (NVMe ZNS); it cannot be aged.

    `device` and `set` are as for `floatgate.run`; `ftl.journal` is always on. Raises ConfigError
    for a wrong argument or if the file exists, and RunError if it cannot be written.
    """
    bytes = _bytes("size", size)
    config, notes = live_config(bytes, device=device, set=set or {}, aged=aged, zoned=zoned)
    if aged and zoned:
        raise _core.ConfigError("aged: True given; expected False for a drive in zones")
    if aged:
        _create_aged(Path(path), config, bytes, seed, progress)
    else:
        _core.image_create(Path(path), config, size=bytes, seed=seed, zoned=zoned)
    return notes


def _create_aged(
    path: Path, config: _core.Config, bytes: int, seed: int, progress: Progress | None
) -> None:
    from floatgate.simulation import watching

    control = _core.Control()

    def tell() -> None:
        if progress is not None:
            progress(*control.progress())

    def work() -> None:
        _core.image_create_aged(path, config, size=bytes, seed=seed, control=control)

    watching.watched(work, control.cancel, tell)


def aged_start(device: str | Path | None, set: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of `[start]` that age a drive.

    They come from the device and `set` if these overwrite the drive; otherwise the fill is
    "steady".
    """
    from floatgate.simulation import configs

    start: dict[str, Any] = configs.resolve(device, set).table()["start"]
    writes_over = start["fill"] in ("random", "steady") or "play" in start
    if not writes_over and "start.fill" not in set:
        start["fill"] = "steady"
    return {f"start.{key}": value for key, value in start.items()}


def live_config(
    bytes: int,
    *,
    device: str | Path | None,
    set: Mapping[str, Any],
    aged: bool = False,
    zoned: bool = False,
) -> tuple[_core.Config, list[str]]:
    """Returns the config of a live drive of `bytes` bytes, and notes on its changes.

    Raises ConfigError for a config that a live drive cannot have, and for a start state that is set
    for a drive that is not aged.
    """
    from floatgate.simulation import configs, scaling

    for key, value in set.items():
        is_start = key.startswith("start.") and (key, value) != ("start.fill", "none")
        if is_start and not aged:
            raise _core.ConfigError(
                f"--set {key}: a live drive begins erased, and its clients fill it; leave it out, "
                "or give --aged"
            )
    one = configs.resolve_all(device, set, {})[0]
    for key in one.guests.policies:
        raise _core.ConfigError(
            f"{key}: a policy in Python given; expected a built-in one, because nbdkit serves a "
            "live drive without Python"
        )
    asked = configs.resolve(device, {**set, **aged_start(device, set)}) if aged else one.config
    live = asked.live(bytes)
    had, has = (config.table()["cleaning"] for config in (asked, live))
    changed = [key for key in ("low_water", "high_water") if had.get(key) != has.get(key)]
    return live, [
        *([] if zoned else scaling.few_units(live, bytes)),
        *(
            f"cleaning.{key} is {has[key]} in the place of {had[key]}, because the journal of a "
            "live drive needs one more erase unit"
            for key in changed
        ),
    ]


def info(path: str | Path) -> dict[str, Any]:
    """Returns an image's drive, its config, and how full and how worn it is."""
    document: dict[str, Any] = json.loads(_core.image_info(Path(path)))
    return document


def check(path: str | Path) -> dict[str, Any]:
    """Returns the problems of an image; the image is sound if `problem_count` is 0."""
    document: dict[str, Any] = json.loads(_core.image_check(Path(path)))
    return document


def dump(
    path: str | Path,
    tell: Callable[[list[dict[str, Any]]], None],
    *,
    unit: int | None = None,
    lpn: int | None = None,
) -> None:
    """Passes the owner of each page to `tell`, some rows at a time: for a unit,
    a logical page, or all.
    """
    if unit is not None and lpn is not None:
        raise _core.ConfigError("unit and lpn are both given; expected one of them")

    def rows(text: str) -> None:
        tell(json.loads(text))

    _core.image_dump(Path(path), unit=unit, lpn=lpn, tell=rows)


def read(
    path: str | Path, out: BinaryIO, *, offset: str | int = 0, length: str | int | None = None
) -> int:
    """Copies `length` bytes from `offset` into `out`, or all bytes up to the end;
    returns their number.

    Both are bytes or texts with a unit, such as "4KiB". The image does not change, and other
    processes can read it at the same time. Raises ConfigError for a range beyond the drive, and
    RunError for a damaged page or a file that cannot be read.
    """
    start = _bytes("offset", offset)
    reader = _core.Reader(Path(path))
    wanted = max(reader.size - start, 0) if length is None else _bytes("length", length)
    _refuse_beyond(start, wanted, reader.size)
    for at in range(start, start + wanted, CHUNK):
        try:
            chunk = reader.read(at, min(CHUNK, start + wanted - at))
        except OSError as error:
            raise _core.RunError(f"{path}: {error}") from error
        out.write(chunk)
    return wanted


def write(path: str | Path, source: BinaryIO, *, offset: str | int = 0) -> int:
    """Writes all of `source` at `offset`; returns the number of bytes, which are then on the disk.

    An input that does not fit is refused with ConfigError before any of it is written. Raises
    RunError if the image is in use or cannot be written, or if the write covers part of a damaged
    page.
    """
    start = _bytes("offset", offset)
    drive = _core.Drive(Path(path))
    _refuse_beyond(start, 0, drive.size)
    with _measured(source, drive.size - start) as (bounded, length):
        _refuse_beyond(start, length, drive.size)
        for at in range(start, start + length, CHUNK):
            try:
                drive.write(at, bounded.read(min(CHUNK, start + length - at)))
            except OSError as error:
                done = f"the {at - start:,} bytes before byte {at} were written, and not flushed"
                raise _core.RunError(f"{path}: {error}; {done}") from error
    # Shutting down flushes. Only after that may the caller report the bytes as written.
    drive.close()
    return length


@contextlib.contextmanager
def _measured(source: BinaryIO, room: int) -> Iterator[tuple[BinaryIO, int]]:
    """Yields the rest of `source` as a stream, and its length.

    A pipe or a device without a length is first read to its end, but at most one chunk beyond
    `room` bytes, because it may have no end.
    """
    if _has_length(source):
        at = source.tell()
        length = source.seek(0, os.SEEK_END) - at
        source.seek(at)
        yield source, length
        return
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
        length = 0
        while length <= room and (chunk := source.read(CHUNK)):
            length += spool.write(chunk)
        spool.seek(0)
        yield spool, length  # type: ignore[misc]


def _has_length(source: BinaryIO) -> bool:
    try:
        mode = os.fstat(source.fileno()).st_mode
    except OSError:
        # Not a file of the operating system; io.UnsupportedOperation is an OSError, too.
        return source.seekable()
    return stat.S_ISREG(mode) or stat.S_ISBLK(mode)


def _bytes(name: str, given: str | int) -> int:
    if isinstance(given, str):
        return _core.parse_size(name, given)
    if not 0 <= given < 1 << 64:
        raise _core.ConfigError(f"{name}: {given} given; expected 0 to 2^64 - 1 bytes")
    return given


def _refuse_beyond(start: int, length: int, size: int) -> None:
    if start + length > size:
        wanted = f"{length:,} bytes from byte {start:,} on"
        raise _core.ConfigError(f"{wanted} end beyond the drive, which has {size:,}")
