"""Locates the traces of a paper."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from floatgate._core import ConfigError

VARIABLE = "FLOATGATE_TRACES"
BESIDE = Path("../shared/traces")
"""Default directory of traces, relative to the current directory or to the root of the
repository."""


@dataclass(frozen=True)
class Source:
    """A trace in the directory of traces, or a generator."""

    name: str
    family: str
    """Trace of the paper that it stands for, or its kind."""
    spec: str
    limit: int | None = None
    """Number of requests that are played. None: all."""
    quick: bool = True


def find_traces(
    wanted: Sequence[Source], given: Path | None
) -> tuple[list[tuple[Source, Path]], list[Source]]:
    directory = _directory(given)
    files = [(source, directory / source.spec) for source in wanted if directory]
    available = [(source, file) for source, file in files if file.is_file()]
    return available, [source for source in wanted if source not in dict(available)]


def missing_warning(missing: Sequence[Source]) -> list[str]:
    if not missing:
        return []
    names = ", ".join(dict.fromkeys(source.spec for source in missing))
    return [f"Traces not found: {names}. Name their directory with --traces or {VARIABLE}."]


def _directory(given: Path | None) -> Path | None:
    """Returns the directory of traces. Raises if a named directory does not exist."""
    named = given or (Path(text) if (text := os.environ.get(VARIABLE)) else None)
    if named is not None:
        if not named.is_dir():
            raise ConfigError(f"traces: {named} is not a directory")
        return named
    root = Path(__file__).resolve().parents[4]
    return next((path for path in (BESIDE, root / BESIDE) if path.is_dir()), None)
