"""Results of completed runs on disk. A resumed comparison reads them and skips these runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.files import parts
from floatgate.files.writing import write_whole

from .identity import Job

if TYPE_CHECKING:
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Kept:
    """Results on disk, one file for each run that has ended: `DIGEST.json`.

    The file is the result's document with one more key, `sha256`: the digest of the text without
    it.
    """

    directory: Path
    resume: bool
    """Whether stored results are read instead of being simulated again."""

    @classmethod
    def at(cls, directory: Path, resume: bool) -> Kept:
        """Opens the results in `directory` and removes
        partial files that a killed run left there.
        """
        parts.sweep(directory)
        return cls(directory, resume)

    def find(self, job: Job) -> Result | None:
        """Returns the result of an earlier run; None if there is none,
        or if its file is damaged.
        """
        if not self.resume:
            return None
        from floatgate.results.result import Result

        try:
            content = self._path(job).read_text("utf-8")
            text = content.rpartition(_SEAL)[0] + "\n}"
            return Result.from_json(text) if content == _sealed(text) else None
        except (OSError, ValueError):
            return None

    def keep(self, job: Job, result: Result) -> None:
        """Writes the result, whole or not at all."""
        self.directory.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(job), _sealed(result.to_json()).encode())

    def _path(self, job: Job) -> Path:
        return self.directory / f"{job.digest}.json"


_SEAL = ',\n  "sha256": '
"""Text between a result's document and its digest."""


def _sealed(text: str) -> str:
    """Returns the text of a JSON object with its digest as the last entry."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    body = text.removesuffix("\n}")
    return f'{body}{_SEAL}"{digest}"\n}}\n'
