"""Where the traces of a paper are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from floatgate._core import ConfigError

VARIABLE = "FLOATGATE_TRACES"
BESIDE = Path("../shared/traces")
"""Where traces are looked for without a word: from here, or from the root of the repository."""


@dataclass(frozen=True)
class Source:
    """A trace: a file in the directory of traces, or a generator."""

    name: str
    """As the figures call it."""
    family: str
    """Which of the paper's traces it stands for."""
    spec: str
    """File name, or the text of a generator."""
    limit: int | None = None
    """Only the first so many requests."""
    quick: bool = True
    """Whether a quick reproduction plays it."""


def find_traces(
    wanted: Sequence[Source], given: Path | None
) -> tuple[list[tuple[Source, Path]], list[Source]]:
    """The sources that are there with their files, and those that are missing."""
    directory = _directory(given)
    found, missing = [], []
    for source in wanted:
        file = directory / source.spec if directory else None
        if file is not None and file.is_file():
            found.append((source, file))
        else:
            missing.append(source)
    return found, missing


def missing_warning(missing: Sequence[Source]) -> list[str]:
    """What to do about traces that were not found, if there are any."""
    if not missing:
        return []
    names = ", ".join(source.spec for source in missing)
    return [f"Traces not found: {names}. Name their directory with --traces or {VARIABLE}."]


def _directory(given: Path | None) -> Path | None:
    """The directory of traces; one that was named must exist."""
    named = given or (Path(text) if (text := os.environ.get(VARIABLE)) else None)
    if named is not None:
        if not named.is_dir():
            raise ConfigError(f"traces: {named} is not a directory")
        return named
    root = Path(__file__).resolve().parents[4]
    return next((path for path in (BESIDE, root / BESIDE) if path.is_dir()), None)
