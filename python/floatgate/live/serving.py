"""Life of a live drive: starts its server, waits for its sockets, and shuts it down."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

from floatgate._core import RunError
from floatgate.files import parts
from floatgate.simulation.signals import Signals

from . import nbdkit, nvme, places, recording
from .backing import Backing
from .client import Live
from .documents import Status
from .server import Server

FOLDER = "floatgate-serve-"
"""Prefix of a server's folder among the temporary files."""

POLL_S = 0.1
"""Seconds between two checks that the server still runs."""

ANSWER_S = 60.0
"""Seconds to wait for the drive's status; after that, no answer is expected."""

Timing = Literal["none", "simulated"]


@dataclass(frozen=True)
class Setup:
    """Settings of a server."""

    backing: Backing
    endpoint: nbdkit.Endpoint | nvme.Endpoint
    control: Path
    timing: Timing
    transport_us: float
    """Time that a request and its reply take between client and server.

    The server sends replies earlier by this time.
    """
    capture: Path | None
    """File into which the plugin records."""
    threads: int
    tls: Sequence[str]
    also: Sequence[str]
    """The plugin's parameters for shadow drives."""
    folder: Path
    """Folder for this server only."""
    quiet: bool = False
    """Whether to hide the progress of filling drives."""

    @property
    def is_nvme(self) -> bool:
        return isinstance(self.endpoint, nvme.Endpoint)

    def command(self) -> list[str]:
        """Returns the command line of the server. Raises RunError if there is no nbdkit."""
        parameters = self._parameters()
        if isinstance(self.endpoint, nvme.Endpoint):
            identity = nvme.Identity.of(self.endpoint, self.backing.name, self.backing.image)
            return nvme.command(
                self.endpoint, identity, parameters, threads=self.threads, ready=self._ready
            )
        return nbdkit.command(
            nbdkit.find(),
            self.endpoint,
            parameters,
            page_bytes=self.backing.page_bytes,
            threads=self.threads,
            tls=[*self.tls, "--pidfile", str(self._ready)],
        )

    def _parameters(self) -> list[str]:
        parameters = [
            *self.backing.parameters(self.folder),
            f"timing={self.timing}",
            f"transport={round(self.transport_us * 1000)}",
            f"control={self.control.absolute()}",
            *self.also,
            *["quiet=yes"] * self.quiet,
        ]
        if self.capture is not None:
            parameters.append(f"record={self.capture.absolute()}")
        return parameters

    @property
    def is_ready(self) -> bool:
        """Whether the server accepts connections: only then does it write its process id."""
        return self._ready.exists() and self._ready.stat().st_size > 0

    @property
    def _ready(self) -> Path:
        return self.folder / "server.pid"


class Stop:
    """Context manager that records signals that would otherwise end the process."""

    def __init__(self) -> None:
        self.is_asked = False

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.is_asked = True

    def __enter__(self) -> Stop:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        # A signal that is ignored at the start stays ignored: `nohup` relies on that.
        heard = [one for one in numbers if signal.getsignal(one) is not signal.SIG_IGN]
        self._before = {one: signal.signal(one, self._hear) for one in heard}
        Signals.look()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """Yields a folder for this server only, and removes it at the end.

    If this process is killed, the next server removes the folder.
    """
    place = Path(tempfile.gettempdir())
    parts.sweep(place, FOLDER, "")
    part = parts.folder(place, FOLDER, "")
    try:
        yield part.path
    finally:
        part.end()


def claim(endpoint: nbdkit.Endpoint | nvme.Endpoint, control: Path) -> None:
    """Checks that nbdkit exists if it is needed, and that the sockets can be created.

    Raises ConfigError or RunError.
    """
    if isinstance(endpoint, nvme.Endpoint):
        endpoint.check()
    else:
        nbdkit.find()
    for option, path in (("--socket", endpoint.socket), ("--control", control)):
        if path is None:
            continue
        if path.parent == places.folder():
            places.make_folder()
        places.claim(path, option)


@contextlib.contextmanager
def served(setup: Setup, tell: Callable[[str], None]) -> Iterator[Server]:
    """Yields a server that accepts connections; then ends it and removes its sockets.

    Raises RunError if the server ends before it is ready. `tell` gets the server's messages.
    """
    name = nvme.NAME if setup.is_nvme else "nbdkit"
    server = Server(name, setup.command(), setup.folder / "server.log", tell)
    try:
        while not (setup.is_ready and _answers(setup.control)):
            status = server.wait(POLL_S)
            if status is not None:
                raise server.ended(status)
            if setup.backing.ages:
                # Ageing a large drive takes long, so its progress is reported meanwhile.
                server.pass_on()
        if setup.endpoint.socket is not None:
            # nbdkit sets a file mode mask of its own. nbdkit may also have crashed by now.
            with contextlib.suppress(FileNotFoundError):
                setup.endpoint.socket.chmod(0o600)
        yield server
    finally:
        server.end()
        for path in (setup.endpoint.socket, setup.control):
            if path is not None:
                path.unlink(missing_ok=True)


def left(image: Path | None) -> str:
    """Returns text on the state of a drive whose server was killed."""
    if image is None:
        return "the drive was in memory, and is gone with it"
    return (
        f"the drive is as after a loss of power: all that was flushed is in {image}, "
        "and floatgate serve finds it there"
    )


def serve_until(stop: Stop, server: Server, setup: Setup) -> Status:
    """Waits for a signal, then shuts the drive down and ends the server; returns its last status.

    Raises RunError if the server ends on its own, or if the drive cannot be shut down.
    """
    while not stop.is_asked:
        status = server.wait(POLL_S)
        server.pass_on(is_end=status is not None)
        if status is not None:
            raise server.ended(status, left(setup.backing.image))
    with Live(setup.control, ANSWER_S) as live:
        last = live.stop()
    server.end()
    server.pass_on(is_end=True)
    return last


def keep_record(trace: Path, capture: Path) -> int | None:
    """Converts the capture to a trace; returns None if the server never began to record."""
    return recording.keep(trace) if capture.exists() else None


def _answers(control: Path) -> bool:
    try:
        with Live(control) as live:
            live.ask("status")
    except RunError:
        time.sleep(POLL_S / 10)
        return False
    return True
