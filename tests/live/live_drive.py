"""A drive served by `floatgate serve`, which a test kills and starts again."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from live_process import Serve, is_alive

from floatgate.live import Live, images

MIB = 1 << 20


class LiveDrive:
    """A drive on an image in `directory`. Its sockets are in the same directory."""

    def __init__(
        self,
        directory: Path,
        size: int,
        *,
        device: str,
        set: Mapping[str, Any] | None = None,
        options: tuple[str, ...] = (),
    ) -> None:
        self.size = size
        self.directory = directory
        self.image = directory / "flash.img"
        self.socket = directory / "nbd.sock"
        self.control = directory / "control.sock"
        self.uri = f"nbd+unix:///?socket={self.socket}"
        self._drive = ["--size", f"{size}B", "--device", device]
        self._drive += [f"--set={key}={value}" for key, value in (set or {}).items()]
        self._options = options
        self._server: Serve | None = None

    def start(self) -> LiveDrive:
        """Starts to serve the drive, and returns once clients can connect."""
        assert self._server is None
        where = ["--image", self.image, "--socket", self.socket, "--control", self.control]
        server = Serve(self.directory, *where, *self._drive, *self._options)
        assert server.ready, server.said
        self._server = server
        return self

    @property
    def _running(self) -> Serve:
        assert self._server is not None, "it is not served"
        return self._server

    @property
    def pid(self) -> int:
        """Process id of nbdkit."""
        return int(self._running.ready["nbdkit_pid"])

    def said(self) -> str:
        """Returns what the server has written since its last start."""
        return self._running.said

    def plug(self) -> None:
        """Cuts the power of the drive, and turns it on again."""
        with Live(self.control) as live:
            live.plug()

    def kill(self) -> None:
        """Sends SIGKILL: nbdkit ends between two instructions."""
        os.kill(self.pid, signal.SIGKILL)
        self.killed()

    def killed(self) -> None:
        """Checks that `floatgate serve` ends and reports the signal, after somebody has killed
        nbdkit."""
        with self._running as server:
            assert server.status == 1, server.said
            assert "SIGKILL" in server.said
        self._server = None

    def has_crashed(self) -> bool:
        """Returns whether nbdkit has aborted. If so, checks that the server has ended and reports
        that all flushed data is in the image."""
        if is_alive(self.pid):
            return False
        with self._running as server:
            assert server.status == 1, server.said
            assert "nbdkit ended with SIGABRT" in server.said, server.said
            assert f"all that was flushed is in {self.image}" in server.said
        self._server = None
        return True

    def stop(self) -> None:
        """Sends SIGTERM: the server disconnects its clients and shuts the drive down."""
        with self._running as server:
            assert server.stop() == 0, server.said
        self._server = None

    def check(self) -> None:
        """Checks the image for inconsistencies, while no server uses it."""
        assert self._server is None
        report = images.check(self.image)
        assert report["problem_count"] == 0, report["problems"]

    def end(self) -> None:
        """Ends a server that is still running, however the test has ended."""
        with contextlib.ExitStack() as stack:
            if self._server is not None:
                stack.enter_context(self._server)


Drives = Callable[..., LiveDrive]
"""The fixture that makes drives for a test. It takes `LiveDrive`'s arguments without the
directory."""
