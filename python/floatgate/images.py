"""Images: the flash of a live drive, stored in one file. docs/images.md has the format."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from . import _core

if TYPE_CHECKING:
    from .jobs import Progress

CHUNK = 1 << 20
"""Bytes that are moved at once."""

IN_MEMORY = 8 << 20
"""Bytes of an input of unknown length that wait in memory; more wait in a temporary file."""


def create(
    path: str | Path,
    size: str | int,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int = 1,
    aged: bool = False,
    progress: Progress | None = None,
) -> list[str]:
    """Makes an image with an erased drive of `size`: bytes, or a text with a unit, "64GiB".

    Returns notes on what the drive has otherwise than it was asked for.

    With `aged` the drive is written over as its `[start]` says, or to its steady state; its pages
    hold zeros. `progress` is called with "fill", pages written and how many there will be, or 0.
    The file appears when it is complete.

    `device` and `set` are those of `floatgate.run`; `ftl.journal` is always on. Raises ConfigError
    for what is wrong with the call or where the file exists, RunError where it cannot be written.
    """
    bytes = _bytes("size", size)
    config, notes = live_config(bytes, device=device, set=set or {}, aged=aged)
    if aged:
        _create_aged(Path(path), config, bytes, seed, progress)
    else:
        _core.image_create(Path(path), config, size=bytes, seed=seed)
    return notes


def _create_aged(path: Path, config: str, bytes: int, seed: int, progress: Progress | None) -> None:
    from . import jobs

    control = _core.Control()

    def tell() -> None:
        if progress is not None:
            progress(*control.progress())

    def work() -> None:
        _core.image_create_aged(path, config, size=bytes, seed=seed, control=control)

    jobs.watched(work, control.cancel, tell)


def aged_start(device: str | Path | None, set: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of `[start]` by which a drive is aged.

    They are those of the device and of `set` if they write the drive over; else its fill is
    "steady".
    """
    from . import configs

    start: dict[str, Any] = json.loads(configs.resolve(device, set))["start"]
    writes_over = start["fill"] in ("random", "steady") or "play" in start
    if not writes_over and "start.fill" not in set:
        start["fill"] = "steady"
    return {f"start.{key}": value for key, value in start.items()}


def live_config(
    bytes: int, *, device: str | Path | None, set: Mapping[str, Any], aged: bool = False
) -> tuple[str, list[str]]:
    """The config of a live drive of so many bytes, as JSON text, and notes on what it has changed.

    Raises ConfigError for a config that makes no live drive, and for a start state that is set for
    a drive that is not aged.
    """
    from . import configs, scaling

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
            f"{key}: a policy in Python; expected another, as nbdkit, which serves a live drive, "
            "has no Python"
        )
    asked = configs.resolve(device, {**set, **aged_start(device, set)}) if aged else one.config
    live = _core.live_config(asked, size=bytes)
    had, has = (json.loads(config)["cleaning"] for config in (asked, live))
    changed = [key for key in ("low_water", "high_water") if had.get(key) != has.get(key)]
    return live, [
        *scaling.few_units(json.loads(live), bytes),
        *(
            f"cleaning.{key} is {has[key]} in the place of {had[key]}, as the journal of a live "
            "drive keeps an erase unit more"
            for key in changed
        ),
    ]


def info(path: str | Path) -> dict[str, Any]:
    """What an image is: its drive, its config, how full and how worn it is."""
    document: dict[str, Any] = json.loads(_core.image_info(Path(path)))
    return document


def check(path: str | Path) -> dict[str, Any]:
    """What is wrong with an image; nothing if `problem_count` is 0."""
    document: dict[str, Any] = json.loads(_core.image_check(Path(path)))
    return document


def dump(
    path: str | Path,
    tell: Callable[[list[dict[str, Any]]], None],
    *,
    unit: int | None = None,
    lpn: int | None = None,
) -> None:
    """Tells who owns each page, some rows at a time: of a unit, of a logical page, or of all."""
    if unit is not None and lpn is not None:
        raise _core.ConfigError("unit and lpn are both given; expected one of them")

    def rows(text: str) -> None:
        tell(json.loads(text))

    _core.image_dump(Path(path), unit=unit, lpn=lpn, tell=rows)


def read(
    path: str | Path, out: BinaryIO, *, offset: str | int = 0, length: str | int | None = None
) -> int:
    """Reads `length` bytes from `offset` on into `out`, or all up to the end; returns how many.

    Both are bytes or texts with a unit, such as "4KiB". The image is not changed, and others can
    look at it meanwhile. Raises ConfigError for bytes that the drive has not, RunError for a page
    that is damaged or a file that cannot be read.
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
    """Writes all of `source` from `offset` on; returns how many bytes, which are on the disk then.

    What does not fit is refused before any of it is written. Raises ConfigError for that, RunError
    for an image that is in use or cannot be written, or where a page that is written in part is
    damaged.
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
    # Shutting down flushes: only then is it said that the bytes are there.
    drive.close()
    return length


@contextlib.contextmanager
def _measured(source: BinaryIO, room: int) -> Iterator[tuple[BinaryIO, int]]:
    """What is left of `source`, and how much that is.

    A pipe or a device without a length is read to its end first, but not far beyond `room` bytes:
    it may have none.
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
        # It is no file of the system's; io.UnsupportedOperation is an OSError, too.
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
