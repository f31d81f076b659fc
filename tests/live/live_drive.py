"""A drive that `floatgate serve` serves, and that a test kills and starts again."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from live_process import Serve, is_alive

from floatgate import images
from floatgate.live import Live

MIB = 1 << 20


class LiveDrive:
    """A drive on an image in `directory`, with its sockets there."""

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
        """Serves the drive, and returns once clients can connect."""
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
        """The process of nbdkit."""
        return int(self._running.ready["nbdkit_pid"])

    def said(self) -> str:
        """What the server has written since it was started last."""
        return self._running.said

    def plug(self) -> None:
        """The drive loses its power, and gets it back."""
        with Live(self.control) as live:
            live.plug()

    def kill(self) -> None:
        """SIGKILL: nbdkit ends between two instructions."""
        os.kill(self.pid, signal.SIGKILL)
        self.killed()

    def killed(self) -> None:
        """After somebody has killed nbdkit: `floatgate serve` ends, and says so."""
        with self._running as server:
            assert server.status == 1, server.said
            assert "SIGKILL" in server.said
        self._server = None

    def has_crashed(self) -> bool:
        """Whether nbdkit has aborted; then the server has ended, and says what is left."""
        if is_alive(self.pid):
            return False
        with self._running as server:
            assert server.status == 1, server.said
            assert "nbdkit ended with SIGABRT" in server.said, server.said
            assert f"all that was flushed is in {self.image}" in server.said
        self._server = None
        return True

    def stop(self) -> None:
        """SIGTERM: the server takes leave of its clients and shuts the drive down."""
        with self._running as server:
            assert server.stop() == 0, server.said
        self._server = None

    def check(self) -> None:
        """Holds the image, that nobody serves, against its rules."""
        assert self._server is None
        report = images.check(self.image)
        assert report["problem_count"] == 0, report["problems"]

    def end(self) -> None:
        """Ends what is left of a server, however a test has ended."""
        with contextlib.ExitStack() as stack:
            if self._server is not None:
                stack.enter_context(self._server)


Drives = Callable[..., LiveDrive]
"""The fixture that makes drives for a test: `LiveDrive`'s arguments without the directory."""
