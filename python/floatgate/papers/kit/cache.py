"""Cache of results of earlier runs. A paper that was reproduced once comes back in seconds."""

from __future__ import annotations

import functools
import gzip
import json
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.files import parts
from floatgate.files.writing import write_whole
from floatgate.results.result import Result
from floatgate.simulation.builds import build
from floatgate.simulation.identity import Job, digest_of
from floatgate.simulation.kept import Kept

Document = dict[str, Any]


@dataclass(frozen=True)
class Cache(Kept):
    """Directory with a compressed file for each run, named by the digest of its config, requests
    and seed. If the checksum of a file is wrong, its run is repeated."""

    tell: Callable[[str], None] = lambda _: None
    """Receives the reason if a result cannot be written."""

    def find(self, job: Job) -> Result | None:
        try:
            return Result.from_json(self._read(job.digest))
        except (OSError, EOFError, ValueError, zlib.error):
            return None

    def keep(self, job: Job, result: Result) -> None:
        self._write(job.digest, result.to_dict())

    def document(self, made_of: Sequence[object], make: Callable[[], Document]) -> Document:
        """Returns the result of `make`, or the earlier result for an equal `made_of`, which has all
        that the result depends on."""
        name = digest_of(*made_of)
        try:
            document: Document = json.loads(self._read(name))
        except (OSError, EOFError, ValueError, zlib.error):
            document = make()
            self._write(name, document)
        return document

    def _read(self, name: str) -> str:
        return gzip.decompress(self._path_of(name).read_bytes()).decode()

    def _write(self, name: str, document: Document) -> None:
        content = json.dumps(document, ensure_ascii=False).encode()
        compressed = gzip.compress(content, compresslevel=1)
        self.try_to(lambda: write_whole(self._path_of(name), compressed))

    def try_to(self, write: Callable[[], None]) -> None:
        """Writes into the directory, which is made if there is none. `tell` receives the reason if
        this is not possible."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            write()
        except OSError as error:
            self.tell(f"warning: runs are not kept in {self.directory}: {error.strerror or error}")

    def _path_of(self, name: str) -> Path:
        return self.directory / f"{name}.json.gz"


def run_cache(tell: Callable[[str], None] = lambda _: None) -> Cache:
    """Returns the cache `floatgate/runs/BUILD` in the user's cache directory, as XDG defines it.

    BUILD separates builds of the engine. `tell` is called once if nothing can be cached there.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    home = named if named.is_absolute() else Path.home() / ".cache"
    directory = home / "floatgate" / "runs" / build()
    parts.sweep(directory)
    return Cache(directory, resume=True, tell=functools.cache(tell))
