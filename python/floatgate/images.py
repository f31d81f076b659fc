"""Images: the flash of a live drive, stored in one file. docs/images.md has the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _core


def create(
    path: str | Path,
    size: str | int,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int = 1,
) -> None:
    """Makes an image with an erased drive of `size`: bytes, or a text such as "64GiB".

    `device` and `set` are those of `floatgate.run`; `ftl.journal` is always on. Raises ConfigError
    for what is wrong with the call or where the file exists, RunError where it cannot be written.
    """
    from . import configs

    config = configs.resolve(device, set or {})
    _core.image_create(Path(path), config, size=str(size), seed=seed)


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
