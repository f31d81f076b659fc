"""Paths that a command may write: one rule for every option that names a file or a folder.

- A command never writes over a path that another of its options or arguments names.
- Only `--force` replaces an existing file.
- `-` is standard output. A device or a FIFO is written to and never replaced; sockets are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import typer


class Named(NamedTuple):
    """A path, and the option that names it."""

    option: str
    path: Path


def refuse_shared(written: Sequence[Named], read: Iterable[Named] = ()) -> None:
    """Refuses to write a path that another option of the call names too.

    Several paths of one option are no conflict.
    """
    for at, one in enumerate(written):
        for other in chain(written[:at], read):
            if one.option != other.option and is_same(one.path, other.path):
                raise refused(
                    f"{one.path}: is also {other.option}; expected another path", one.option
                )


def refuse_input(target: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuses an output that is an input (by any name) or lies in a folder of inputs."""
    if any(given is not None and _holds(Path(given), target) for given in inputs):
        raise refused(f"{target}: is the input, or lies in it; expected another path")


def refuse_existing(target: Path, *, force: bool, option: str = "--out") -> None:
    """Refuses an existing file without `force`, and always a directory, socket or device."""
    if target.is_dir():
        raise refused(f"{target}: is a directory; expected the name of a file", option)
    if target.exists() and not target.is_file():
        kind = "socket" if target.is_socket() else "device or a FIFO"
        raise refused(f"{target}: is a {kind}; expected the name of a file", option)
    if target.exists() and not force:
        raise refused(f"{target}: exists; --force replaces it", option)


def is_same(one: Path, other: Path) -> bool:
    """Returns whether two names mean one file, which need not exist yet.

    Returns False for standard output, devices and FIFOs.
    """
    if any(is_stdout(path) or is_special(path) for path in (one, other)):
        return False
    try:
        return real(one) == real(other) or one.samefile(other)
    except (OSError, ValueError):
        return False


def is_stdout(target: Path) -> bool:
    """Returns whether the name means standard output."""
    return str(target) == "-"


def is_special(target: Path) -> bool:
    """Returns whether `target` is a device or a FIFO, which commands write to and never replace."""
    return target.is_fifo() or target.is_char_device() or target.is_block_device()


def real(target: str | Path) -> Path:
    """Returns `target` with its symbolic links resolved; a path that does not exist has none."""
    return Path(os.path.realpath(target))


def refused(text: str, option: str = "--out") -> typer.BadParameter:
    """Returns the error for a call whose `option` names a path that cannot be written."""
    return typer.BadParameter(text, param_hint=f"'{option}'")


def _holds(source: Path, target: Path) -> bool:
    """Returns whether a write to `target` would change data read from `source`."""
    try:
        if source.is_dir():
            return real(target).is_relative_to(real(source))
        return source.exists() and is_same(source, target)
    except (OSError, ValueError):
        return False  # A generator or a URL is no path.
