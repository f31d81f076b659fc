"""A drive served by `floatgate serve --nvme`, which a test kills and starts again at one port."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

from live_process import Serve
from nvme_host import Host

from floatgate.live import Live, images


class NvmeDrive:
    """A drive on an image in `directory`."""

    def __init__(self, directory: Path, *words: str) -> None:
        self.directory = directory
        self.image = directory / "flash.img"
        self.control = directory / "control.sock"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._words = words
        self._server: Serve | None = None

    def __enter__(self) -> NvmeDrive:
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.__exit__()

    def start(self) -> NvmeDrive:
        """Starts to serve the drive, and returns once hosts can connect."""
        assert self._server is None
        where = ["--port", self.port, "--image", self.image, "--control", self.control]
        server = Serve(self.directory, "--nvme", *where, *self._words)
        assert server.ready, server.said
        self._server = server
        return self

    @property
    def _running(self) -> Serve:
        assert self._server is not None, "it is not served"
        return self._server

    @property
    def nqn(self) -> str:
        """Qualified name of the subsystem."""
        return str(self._running.ready["nqn"])

    def live(self) -> Live:
        """Returns a client of the control socket."""
        return Live(self.control)

    def host(self) -> Host:
        """Connects a host of ours."""
        return Host(self.port, self.nqn)

    def plug(self) -> None:
        """Cuts the power of the drive, and turns it on again."""
        with self.live() as live:
            live.plug()

    def send_sigkill(self) -> None:
        """Kills the target, which ends between two instructions."""
        os.kill(self._running.ready["target_pid"], signal.SIGKILL)

    def restart_killed(self) -> None:
        """Checks that the server reports the signal, and starts it again."""
        with self._running as server:
            assert server.status == 1, server.said
            assert "the NVMe target ended with SIGKILL" in server.said
        self._server = None
        self.start()

    def kill(self) -> None:
        """Kills the target, and starts it again."""
        self.send_sigkill()
        self.restart_killed()

    def stop(self) -> None:
        """Sends SIGTERM: the server shuts the drive down. Then checks the image."""
        with self._running as server:
            assert server.stop() == 0, server.said
        self._server = None
        report = images.check(self.image)
        assert report["problem_count"] == 0, report["problems"]
