"""Client of the control socket, which carries one JSON document a line each way."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from floatgate._core import RunError
from floatgate.result_types import LanesResult
from floatgate.results.typed import build

from .documents import Blocks, Faults, Power, Smart, Snapshot, Status
from .places import default_control


class Live:
    """Connection to a live drive through its control socket.

    It is a context manager for one thread at a time. Raises RunError for any failure: no server
    runs, the server has ended, or it refuses the request.
    """

    def __init__(self, control: str | Path | None = None, timeout_s: float | None = None) -> None:
        """Connects to the socket `control`; None is the default socket of `floatgate serve`.

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
        """Returns all counters, the run's result so far, and warnings."""
        return build(Status, self.ask("status"), "status")

    def blocks(self) -> Blocks:
        """Returns every erase unit: its valid pages, its wear and its stream."""
        return build(Blocks, self.ask("blocks"), "blocks")

    def smart(self) -> Smart:
        """Returns the drive's own log of its life."""
        return build(Smart, self.ask("smart"), "smart")

    def lanes(self, window_ms: float) -> LanesResult:
        """Returns the activity of dies and channels in the next `window_ms`, at most 1000. Needs a
        drive with simulated time.
        """
        document = self.ask("lanes", window_ms=window_ms)
        return build(LanesResult, document.get("lanes"), "lanes")

    def plug(self) -> Power:
        """Cuts the power: data that is not durable is lost,
        and the drive recovers from its flash.
        """
        return build(Power, self.ask("plug"), "power")

    def faults(
        self, *, read_error_share: float | None = None, read_only: bool | None = None
    ) -> Faults:
        """Switches faults; a fault that is None does not change. The share is from 0 to 1."""
        given = {"read_error_share": read_error_share, "read_only": read_only}
        wanted = {name: value for name, value in given.items() if value is not None}
        return build(Faults, self.ask("faults", **wanted), "faults")

    def snapshot(self, to: str | Path) -> Snapshot:
        """Copies the image to a new image that can be opened; never replaces an existing file."""
        return build(Snapshot, self.ask("snapshot", to=str(Path(to).absolute())), "snapshot")

    def reset(self) -> None:
        """Resets the counters; the drive does not change."""
        self.ask("reset")

    def check(self) -> None:
        """Makes the drive verify its own invariants."""
        self.ask("check")

    def stop(self) -> Status:
        """Shuts the drive down and returns its status after the last request.

        Later requests of clients fail.
        """
        return build(Status, self.ask("stop"), "status")

    def ask(self, do: str, **arguments: Any) -> Any:
        """Sends a request and returns the JSON document of the answer."""
        answer = json.loads(self.exchange({"do": do, **arguments}))
        if "error" in answer:
            raise RunError(f"{do}: {answer['error']}")
        return answer["ok"]

    def exchange(self, request: Mapping[str, Any]) -> bytes:
        """Sends a request and returns the line of the answer, even if it is a refusal."""
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
        """Closes the connection; the server keeps running."""
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
