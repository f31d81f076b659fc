"""Finished reproductions in the user's cache. Reading and judging thousands of cached runs takes
minutes; the files of a finished reproduction come back in seconds."""

from __future__ import annotations

import functools
import hashlib
import io
import pickle
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import floatgate
from floatgate import papers
from floatgate.files.writing import write_whole
from floatgate.simulation.builds import build
from floatgate.simulation.identity import digest_of

from .cache import Cache
from .outcome import Summary
from .trace_files import find_traces

_IDENTITY, _SUMMARY, _FILES = "identity", "summary", "files/"


@dataclass(frozen=True)
class Finished:
    """Archive of one paper's folder and summary, quick or full. A newer archive replaces it."""

    cache: Cache
    name: str
    identity: str
    """Digest of all that the reproduction depends on."""

    def unpack(self, folder: Path) -> Summary | None:
        """Writes the files into the folder and returns the summary. Returns None if there is no
        archive of this identity, or if it is damaged."""
        try:
            with zipfile.ZipFile(self._path) as archive:
                if archive.read(_IDENTITY).decode() != self.identity:
                    return None
                summary: Summary = pickle.loads(archive.read(_SUMMARY))
                for entry in archive.namelist():
                    if entry.startswith(_FILES):
                        (folder / entry.removeprefix(_FILES)).write_bytes(archive.read(entry))
                return summary
        except (OSError, KeyError, zipfile.BadZipFile, zlib.error):
            return None

    def pack(self, summary: Summary, folder: Path) -> None:
        """Stores the files of the folder, which has no folders in it, and the summary."""
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_IDENTITY, self.identity)
            archive.writestr(_SUMMARY, pickle.dumps(summary))
            for file in sorted(folder.iterdir()):
                archive.write(file, _FILES + file.name)
        self.cache.try_to(lambda: write_whole(self._path, content.getvalue()))

    @property
    def _path(self) -> Path:
        return self.cache.directory / f"{self.name}.zip"


def finished(cache: Cache, name: str, full: bool, traces: Path | None) -> Finished:
    """Returns the archive of a reproduction. `traces` is the directory of the traces, if given.

    Raises ConfigError for an unknown paper or a directory that does not exist.
    """
    _, paper = papers.paper_of(name)
    found, _ = find_traces(paper.sources, traces)
    files = [*(file for _, file in found), *paper.read()]
    read = [(str(file), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]
    mode = "full" if full else "quick"
    return Finished(cache, f"{name}-{mode}", digest_of(_program(), name, mode, read))


@functools.cache
def _program() -> str:
    """Returns a digest of the engine and of every file of the package."""
    digest = hashlib.sha256(build().encode())
    root = Path(floatgate.__file__).parent
    for file in sorted(root.rglob("*")):
        if file.is_file() and file.suffix not in (".pyc", ".so"):
            digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return digest.hexdigest()
