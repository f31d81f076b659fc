"""Ready-file: the document of `--json` in a file, which exists while clients can connect."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from floatgate._core import ConfigError
from floatgate.files import parts

from . import places

BYTES_MAX = 1 << 16
"""Maximum size of a file that can be a ready-file, which is a line of some hundred bytes."""


class ReadyFile:
    """Ready-file. Only its owner can read it, because it holds the page's token.

    A device or a FIFO at the path is written to and never removed.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        """Removes a ready-file that an earlier server left at `path`.

        `tell` gets warnings about failed writes.

        Raises ConfigError for any other file at the path.
        """
        self._given = path
        self._path = Path(os.path.realpath(path))
        self._tell = tell
        self._text = ""
        self._is_file = self._claim()

    def write(self, text: str) -> None:
        """Announces that clients can connect. Raises OSError if the file cannot be written."""
        if self._is_file:
            self._text = text
            with parts.writing(self._path, 0o600) as part:
                part.write_text(text, "utf-8")
        else:
            # A FIFO blocks until it has a reader; the drive must not wait for that.
            threading.Thread(target=self._pass_on, args=(text,), daemon=True).start()

    def remove(self) -> None:
        """Withdraws the announcement.

        A file with other content, from another process, is not removed.
        """
        with contextlib.suppress(OSError):
            if self._text and self._path.read_text("utf-8") == self._text:
                self._path.unlink()

    def _pass_on(self, text: str) -> None:
        try:
            self._path.write_text(text, "utf-8")
        except OSError as error:
            self._tell(f"warning: --ready-file: {self._given}: {error.strerror or error}")

    def _claim(self) -> bool:
        """Returns whether the path is for a file, and removes an old ready-file there."""
        try:
            kind = self._path.lstat().st_mode
        except FileNotFoundError:
            if not self._path.parent.is_dir():
                raise self._wrong(f"{self._given.parent} is no directory") from None
            parts.sweep(self._path.parent)
            return True
        except OSError as error:
            raise self._wrong(f"{self._given}: {error.strerror or error}") from error
        if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            return False
        if stat.S_ISDIR(kind):
            raise self._wrong(f"{self._given} is a directory")
        document = _document(self._path) if stat.S_ISREG(kind) else None
        if document is None:
            raise self._wrong(
                f"{self._given} exists and is no ready-file of an earlier server; expected another "
                "path"
            )
        control = Path(str(document.get("control")))
        if control.is_socket() and places.is_served(control):
            raise self._wrong(
                f"{self._given} is the ready-file of a server that runs; expected another path"
            )
        try:
            self._path.unlink()
        except OSError as error:
            raise self._wrong(
                f"{self._given} cannot be removed: {error.strerror or error}"
            ) from error
        return True

    def _wrong(self, text: str) -> ConfigError:
        return ConfigError(f"--ready-file: {text}")


def _document(path: Path) -> dict[str, object] | None:
    """Returns the document in a ready-file; None if the file is not a ready-file."""
    try:
        if path.stat().st_size > BYTES_MAX:
            return None
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_ready = isinstance(document, dict) and document.get("ready") is True
    return document if is_ready else None
