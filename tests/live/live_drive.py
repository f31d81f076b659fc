"""A served drive that a test starts, kills and starts again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from floatgate import images

MIB = 1 << 20
PLUGIN = str(Path(images.__file__).parent / "libfloatgate_nbdkit.so")
STARTS_S = 120
"""A server that is not there after so many seconds never will be: finding a drive takes less."""
STOPS_S = 120


class LiveDrive:
    """A drive on an image in `directory`, served on a Unix socket there."""

    def __init__(
        self,
        directory: Path,
        size: int,
        *,
        device: str | None = None,
        set: Mapping[str, Any] | None = None,
        options: tuple[str, ...] = (),
    ) -> None:
        self.size = size
        self.image = directory / "flash.img"
        self.socket = directory / "nbd.sock"
        self.control_socket = directory / "control.sock"
        self.log = directory / "server.log"
        self.uri = f"nbd+unix:///?socket={self.socket}"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        images.create(self.image, size, device=device, set=set)

    def start(self) -> LiveDrive:
        """Serves the drive, and returns once clients can connect."""
        assert self._process is None
        # A server that was killed has left them.
        for path in (self.socket, self.control_socket):
            path.unlink(missing_ok=True)
        command = ["nbdkit", "-f", "-U", str(self.socket), *self._options]
        command += ["--filter=blocksize-policy", PLUGIN, f"image={self.image}"]
        command += ["blocksize-minimum=1", "blocksize-preferred=4096", "blocksize-maximum=32M"]
        command += ["blocksize-error-policy=error", f"control={self.control_socket}"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, umask=0o077)
        end = time.monotonic() + STARTS_S
        while not self._listens():
            assert self._process.poll() is None, self.said()
            assert time.monotonic() < end, f"nobody listens: {self.said()}"
            time.sleep(0.01)
        return self

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(str(self.socket)) == 0

    def said(self) -> str:
        """What the server has written so far."""
        return self.log.read_text(errors="replace")

    @property
    def pid(self) -> int:
        """The process that serves."""
        assert self._process is not None
        return self._process.pid

    def control(self, do: str, **arguments: Any) -> Any:
        """Asks the server through its control socket."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(STARTS_S)
            client.connect(str(self.control_socket))
            client.sendall(json.dumps({"do": do, **arguments}).encode() + b"\n")
            with client.makefile() as answers:
                answer = json.loads(answers.readline())
        assert "ok" in answer, answer
        return answer["ok"]

    def kill(self) -> None:
        """SIGKILL: the server ends between two instructions."""
        process, self._process = self._process, None
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(STOPS_S) == -signal.SIGKILL, self.said()

    def stop(self) -> None:
        """SIGTERM: the server takes leave of its clients and shuts the drive down."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        assert process.wait(STOPS_S) == 0, self.said()

    def check(self) -> None:
        """Holds the image, that nobody serves, against its rules."""
        assert self._process is None
        report = images.check(self.image)
        assert report["problem_count"] == 0, report["problems"]


Serve = Callable[..., LiveDrive]
"""The fixture that makes drives for a test: `LiveDrive`'s arguments without the directory."""
