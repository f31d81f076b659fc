"""Command line of nbdkit, which speaks NBD and loads our plugin, the drive."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from floatgate._core import ConfigError, RunError
from floatgate.files.reading import shown

PLUGIN = Path(__file__).parents[1] / "libfloatgate_nbdkit.so"

REQUEST_MAX = 32 << 20
"""Bytes of the longest accepted request, which equals the limit of most clients and kernels."""

THREADS = 16
"""Maximum number of a client's requests in the drive at a time.

With simulated time, the maximum is the depth of the drive if that is greater.
"""

THREADS_MAX = 256
"""Largest value of `--threads`."""

SOUND = (1, 34)
"""First version of nbdkit that survives clients which vanish with several requests in flight.

Earlier versions abort then (release notes of nbdkit 1.34), so they serve a client's requests one at
a time.
"""

PSK_BYTES_MAX = 1 << 20
"""Maximum size of a key file in bytes. It has a line for each user."""


@dataclass(frozen=True)
class Tls:
    """Credentials that a client needs for a server that requires TLS."""

    user: str = ""
    file: tuple[str, str] | None = None
    """Parameter of an NBD URI that names the keys or certificates, and their path."""

    @classmethod
    def needed(cls, mode: str | None, psk: Path | None, certificates: Path | None) -> Tls | None:
        """Returns the first user of a key file, or the certificates of the server's own folder.

        None if clients may connect without TLS. Raises ConfigError for a wrong file or folder.
        """
        if certificates is not None and not certificates.is_dir():
            raise ConfigError(f"--tls-certificates: {certificates} is no directory")
        users = [] if psk is None else _users(psk)
        if mode != "require":
            return None
        if psk is None:
            own = certificates and ("tls-certificates", str(certificates.absolute()))
            return cls("", own or None)
        return cls(users[0], ("tls-psk-file", str(psk.absolute())))


def _users(psk: Path) -> list[str]:
    """Returns the users of a key file.

    Errors show none of its content, because it may be any file.
    """
    if not psk.is_file():
        raise ConfigError(f"--tls-psk: {psk} is no file")
    try:
        with psk.open("rb") as file:
            lines = file.read(PSK_BYTES_MAX).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        words = getattr(error, "strerror", None) or "it is no text"
        raise ConfigError(f"--tls-psk: {psk} cannot be read: {words}") from error
    users = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        user, _, key = line.strip().partition(":")
        if not user or not re.fullmatch(r"([0-9A-Fa-f]{2})+", key):
            raise ConfigError(
                f"--tls-psk: {psk}: line {number} is not USER:KEY with the key in hexadecimal; "
                "psktool -u USER -p FILE makes such a file"
            )
        users.append(user)
    if not users:
        raise ConfigError(
            f"--tls-psk: {psk} has no line USER:KEY; psktool -u USER -p FILE makes such a file"
        )
    return users


@dataclass(frozen=True)
class Endpoint:
    """Unix socket, or address and TCP port, on which NBD is served."""

    socket: Path | None
    address: str = "127.0.0.1"
    port: int = 0
    tls: Tls | None = None
    """None if clients need no TLS."""

    @property
    def zoned(self) -> bool:
        """False: NBD has no zones."""
        return False

    @property
    def uri(self) -> str:
        """NBD URI in the form that nbdinfo, nbdfuse, qemu and fio take."""
        scheme, user = "nbd", ""
        parameters = [] if self.socket is None else [("socket", str(self.socket.absolute()))]
        if self.tls is not None:
            scheme, user = "nbds", f"{quote(self.tls.user)}@" if self.tls.user else ""
            parameters += [] if self.tls.file is None else [self.tls.file]
        query = "&".join(f"{name}={quote(value)}" for name, value in parameters)
        if self.socket is not None:
            return f"{scheme}+unix://{user}/?{query}"
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{scheme}://{user}{host}:{self.port}" + (f"/?{query}" if query else "")

    def arguments(self) -> list[str]:
        """Returns nbdkit's options for this endpoint."""
        if self.socket is not None:
            return ["-U", str(self.socket.absolute())]
        return ["-i", self.address, "-p", str(self.port)]


def find() -> str:
    """Returns nbdkit's path after checking that nbdkit and the plugin exist. Otherwise raises
    RunError with instructions to install them.
    """
    found = shutil.which("nbdkit")
    if found is None:
        raise RunError(
            "nbdkit is not installed; it is in the package nbdkit of Debian, Ubuntu and Fedora: "
            "apt install nbdkit, or dnf install nbdkit"
        )
    if not PLUGIN.is_file():
        raise RunError(
            f"{PLUGIN}: this installation has no plugin for nbdkit: wheels for Linux have it, and "
            "make build in a clone makes it; an installation from source (pip install .) does not"
        )
    return found


def version(nbdkit: str) -> tuple[int, ...]:
    """Returns the version of the program, such as (1, 32, 5); (0,) if it does not print one."""
    try:
        said = subprocess.run([nbdkit, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise RunError(f"{nbdkit} cannot be run: {error.strerror or error}") from error
    found = re.search(r"[0-9]+(\.[0-9]+)+", said.stdout)
    return tuple(int(part) for part in found[0].split(".")) if found else (0,)


def threads(nbdkit: str, wanted: int | None, timing: str, depth: int) -> tuple[int, str | None]:
    """Returns how many requests of a client are worked on at a time,
    and a warning about this number, if any.

    A drive with simulated time needs several requests: it works on `depth` of them at a time.
    """
    of = version(nbdkit)
    several = THREADS if timing == "none" else min(max(THREADS, depth), THREADS_MAX)
    if of >= SOUND or wanted == 1:
        return wanted or several, None
    name = f"nbdkit {'.'.join(str(part) for part in of)}"
    if wanted is None and timing == "none":
        return 1, None
    text = (
        f"{name} aborts, as at a power loss, when a client is killed with several requests in "
        "flight (fixed in 1.34); --threads 1 avoids it"
    )
    return wanted or several, text


def command(
    nbdkit: str,
    endpoint: Endpoint,
    parameters: Sequence[str],
    *,
    page_bytes: int,
    threads: int,
    tls: Sequence[str],
) -> list[str]:
    """Returns the command line of a server that ends with this process."""
    options = ["--foreground", "--newstyle", "--exit-with-parent", *endpoint.arguments(), *tls]
    options += ["--threads", str(threads)]
    # The drive takes any size. The filter tells clients the preferred size, and refuses longer
    # requests.
    sizes = {"minimum": 1, "preferred": max(page_bytes, 512), "maximum": REQUEST_MAX}
    policy = [f"blocksize-{name}={size}" for name, size in sizes.items()]
    for word in (*options, *parameters):
        if shown(word) != word:
            raise ConfigError(f"{word}: expected a name in UTF-8, without control characters")
    filtered = ["--filter=blocksize-policy", *options, str(PLUGIN), *parameters]
    return [nbdkit, *filtered, *policy, "blocksize-error-policy=error", f"parent={os.getpid()}"]
