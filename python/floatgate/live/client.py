"""The control socket's other end: one JSON document a line each way."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from floatgate._core import RunError
from floatgate.result_types import LanesResult
from floatgate.typed import build

from .documents import Blocks, Faults, Power, Smart, Snapshot, Status
from .places import default_control


class Live:
    """A live drive, through its control socket.

    It is a context manager, and for one thread at a time. Whatever fails raises RunError: there is
    no server, it has gone, or it refuses what it is asked.
    """

    def __init__(self, control: str | Path | None = None, timeout_s: float | None = None) -> None:
        """Connects to the socket `control`, that of `floatgate serve` without options if None.

        With `timeout_s`, a server that takes longer to answer is an error.
        """
        self._path = default_control() if control is None else Path(control)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(self._path))
        except OSError as error:
            self._socket.close()
            raise RunError(f"{self._path}: {_no_server(self._path, error)}") from error
        self._answers: BinaryIO = self._socket.makefile("rb")

    def status(self) -> Status:
        """All counters, the run's result so far, warnings."""
        return build(Status, self.ask("status"), "status")

    def blocks(self) -> Blocks:
        """Every erase unit: what is valid there, how worn it is, which stream it belongs to."""
        return build(Blocks, self.ask("blocks"), "blocks")

    def smart(self) -> Smart:
        """The drive's own log of its life."""
        return build(Smart, self.ask("smart"), "smart")

    def lanes(self, window_ms: float) -> LanesResult:
        """What dies and channels do in the next `window_ms`, at most 1000; with a clock only."""
        document = self.ask("lanes", window_ms=window_ms)
        return build(LanesResult, document.get("lanes"), "lanes")

    def plug(self) -> Power:
        """Pulls the plug: what is not durable is lost, and the drive is found again."""
        return build(Power, self.ask("plug"), "power")

    def faults(
        self, *, read_error_share: float | None = None, read_only: bool | None = None
    ) -> Faults:
        """Switches faults; what is None stays as it is. The share is from 0 to 1."""
        given = {"read_error_share": read_error_share, "read_only": read_only}
        wanted = {name: value for name, value in given.items() if value is not None}
        return build(Faults, self.ask("faults", **wanted), "faults")

    def snapshot(self, to: str | Path) -> Snapshot:
        """Makes a copy of the image that can be opened; an existing file is never replaced."""
        return build(Snapshot, self.ask("snapshot", to=str(Path(to).absolute())), "snapshot")

    def reset(self) -> None:
        """Counters start anew; the drive stays as it is."""
        self.ask("reset")

    def check(self) -> None:
        """Asks the drive to verify its own invariants."""
        self.ask("check")

    def stop(self) -> Status:
        """Shuts the drive down; its status after the last request. What clients ask then fails."""
        return build(Status, self.ask("stop"), "status")

    def ask(self, do: str, **arguments: Any) -> Any:
        """The answer to a request, as the JSON document that it is."""
        answer = json.loads(self.exchange({"do": do, **arguments}))
        if "error" in answer:
            raise RunError(f"{do}: {answer['error']}")
        return answer["ok"]

    def exchange(self, request: Mapping[str, Any]) -> bytes:
        """The line that answers a request, whether it is refused or not."""
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._answers.readline()
        except TimeoutError as error:
            raise RunError(f"{self._path}: no answer to {request['do']} in time") from error
        except OSError as error:
            raise RunError(f"{self._path}: {error.strerror or error}") from error
        if not line.endswith(b"\n"):
            raise RunError(f"{self._path}: the server has gone before it answered")
        return line

    def close(self) -> None:
        """Lets the connection go; the server stays."""
        with contextlib.suppress(OSError):
            self._answers.close()
            self._socket.close()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _no_server(path: Path, error: OSError) -> str:
    if path.exists() and not path.is_socket():
        return (
            "is no socket; expected the control socket of floatgate serve, which names it when it "
            "starts"
        )
    if isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
        return "no server there; floatgate serve starts one and names its control socket"
    return error.strerror or str(error)
