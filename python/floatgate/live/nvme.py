"""NVMe target as a child process: the compiled module speaks NVMe over TCP, and is the drive."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import sys
import threading
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate._core import ConfigError, RunError

from .nbdkit import THREADS, THREADS_MAX

PORT = 4420
"""Port that IANA assigned to NVMe over Fabrics."""

BLOCK_BYTES = 4096
"""Default bytes of a block."""

WORKERS = 4
"""Commands of a queue that are worked on at a time if time is not simulated."""

NAME = "the NVMe target"
"""Name of the process in errors."""

MODEL_MAX = 40
"""Maximum number of characters of the model in the Identify data."""


@dataclass(frozen=True)
class Endpoint:
    """Address and TCP port on which NVMe is served."""

    address: str = "127.0.0.1"
    port: int = PORT
    allow_remote: bool = False
    block_bytes: int = BLOCK_BYTES
    zoned: bool = False
    """Whether hosts see a drive in zones, and no placement handles."""

    @property
    def socket(self) -> Path | None:
        """None: there is no Unix socket."""
        return None

    @property
    def nqn(self) -> str:
        """Qualified name of the subsystem. Two servers of a machine have different names."""
        return f"nqn.2026-10.org.floatgate:drive-{self.port}"

    @property
    def at(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}"

    @property
    def uri(self) -> str:
        return f"nvme+tcp://{self.at}/{self.nqn}"

    def check(self) -> None:
        """Raises ConfigError for an invalid address, and for an address that other machines can
        reach, unless `allow_remote` is set.
        """
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            raise ConfigError(f"--listen: {self.address} given; expected an IP address") from None
        if not (address.is_loopback or self.allow_remote):
            raise ConfigError(
                f"--listen: {self.address} given; expected a loopback address, or --allow-remote: "
                "there is no authentication, so any host that reaches the address could read and "
                "write the drive"
            )


@dataclass(frozen=True)
class Identity:
    """Names and numbers by which hosts know the drive."""

    nqn: str
    serial: str
    model: str
    uuid: bytes
    block_bytes: int

    @classmethod
    def of(cls, endpoint: Endpoint, name: str, image: Path | None) -> Identity:
        """Returns the identity of a drive. The identity of an image depends on its path only."""
        number = uuid.uuid4()
        if image is not None:
            number, name = uuid.uuid5(uuid.NAMESPACE_URL, image.absolute().as_uri()), image.name
        model = f"Floatgate {Path(name).name}".encode("ascii", "replace").decode()[:MODEL_MAX]
        serial = number.hex[:16].upper()
        return cls(endpoint.nqn, serial, model, number.bytes, endpoint.block_bytes)


def threads(wanted: int | None, timing: str, depth: int) -> int:
    """Returns how many commands of a queue are worked on at a time. A drive with simulated time
    works on `depth` of them at a time.
    """
    several = WORKERS if timing == "none" else min(max(THREADS, depth), THREADS_MAX)
    return wanted or several


def command(
    endpoint: Endpoint,
    identity: Identity,
    parameters: Sequence[str],
    *,
    threads: int,
    ready: Path,
) -> list[str]:
    """Returns the command line of a target that ends with this process. It writes its process id
    into `ready` when hosts can connect.
    """
    target = {
        "identity": asdict(identity) | {"uuid": identity.uuid.hex()},
        "at": endpoint.at,
        "threads": threads,
        "allow_remote": endpoint.allow_remote,
        "zoned": endpoint.zoned,
        "ready": str(ready),
    }
    module = [sys.executable, "-m", "floatgate.live.nvme"]
    return [*module, json.dumps(target), *parameters, f"parent={os.getpid()}"]


def serve(target: dict[str, Any], parameters: Sequence[str]) -> None:
    """Serves a drive until SIGTERM. Raises ConfigError or RunError if that is not possible."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    given = target["identity"]
    identity = Identity(**(given | {"uuid": bytes.fromhex(given["uuid"])}))
    pairs = [(key, value) for key, _, value in (word.partition("=") for word in parameters)]
    serving = _core.NvmeTarget(
        pairs,
        identity,
        at=target["at"],
        threads=target["threads"],
        allow_remote=target["allow_remote"],
        zoned=target["zoned"],
    )
    Path(target["ready"]).write_text(f"{os.getpid()}\n", "ascii")
    stop.wait()
    serving.stop()


def main() -> int:
    """Serves the drive that the command line names; returns the exit status."""
    try:
        serve(json.loads(sys.argv[1]), sys.argv[2:])
    except (ConfigError, RunError) as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
