"""Results of earlier runs, so that a paper that was reproduced is there again in seconds."""

from __future__ import annotations

import gzip
import os
import zlib
from contextlib import suppress
from pathlib import Path

from floatgate.builds import build
from floatgate.jobs import Job, Kept
from floatgate.report.files import write_whole
from floatgate.result import Result


class Cache(Kept):
    """A compressed file per run, named by the digest of its config, requests and seed.

    What cannot be read is run again: each file has a checksum. What cannot be written is not kept,
    and nothing is said of it.
    """

    def find(self, job: Job) -> Result | None:
        try:
            text = gzip.decompress(self._path(job).read_bytes()).decode()
            return Result.from_json(text)
        except (OSError, EOFError, ValueError, zlib.error):
            return None

    def keep(self, job: Job, result: Result) -> None:
        content = gzip.compress(result.to_json().encode(), compresslevel=1)
        with suppress(OSError):
            self.directory.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(job), content)

    def _path(self, job: Job) -> Path:
        return self.directory / f"{job.digest}.json.gz"


def run_cache() -> Cache:
    """`floatgate/runs/BUILD` in the user's directory for caches, where XDG says that this is.

    BUILD tells builds of the engine apart.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    home = named if named.is_absolute() else Path.home() / ".cache"
    return Cache(home / "floatgate" / "runs" / build(), resume=True)
