"""Server of a drive as a child process: nbdkit with our plugin, or the NVMe target."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from floatgate._core import RunError

from .log import Log, Repeats

LEAVE_S = 2.0
"""Seconds that clients have to disconnect."""


class Server:
    """A running server.

    It writes its standard error into a file, from which lines are passed on.
    """

    def __init__(
        self, name: str, command: Sequence[str], log: Path, tell: Callable[[str], None]
    ) -> None:
        """Starts the server; errors call it `name`. `tell` gets its messages; repeated messages
        are only counted.
        """
        self._name = name
        self._log = Log(log)
        self._repeats = Repeats(tell)
        # Only the owner may use the sockets. The server gets its own session, so that Ctrl-C
        # reaches only this process, which first reads the last numbers. The log is a file and not a
        # pipe, because the server may outlive this process.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log.sink,
            start_new_session=True,
            umask=0o077,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def pass_on(self, *, is_end: bool = False) -> None:
        """Passes on new messages, and the counts of repeated ones."""
        for line in self._log.lines():
            self._repeats.add(line)
        self._repeats.look(is_end=is_end)

    def wait(self, seconds: float) -> int | None:
        """Waits and returns the exit status, negative for a signal;
        None if the server still runs after `seconds`.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def end(self) -> None:
        """Ends the server if it runs. Clients that are still connected some seconds later are cut
        off.

        nbdkit itself would wait for them for ever. A drive that was not shut down before is then in
        the state after a power loss.
        """
        self._process.terminate()
        if self.wait(LEAVE_S) is None:
            self._process.kill()
            self._process.wait()

    def ended(self, status: int, left: str = "") -> RunError:
        """Returns an error for a server that ended on its own; after a signal,
        `left` describes the drive.
        """
        how, after = f"status {status}", ""
        if status < 0:
            how, after = signal.Signals(-status).name, left and f"\n{left}"
        for _ in self._log.lines():
            pass
        words = "; ".join(line.removeprefix(f"{self._name}: ") for line in self._log.last)
        return RunError(f"{self._name} ended with {how}{': ' + words if words else ''}{after}")
