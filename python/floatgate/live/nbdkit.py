"""nbdkit as a child process: it speaks NBD, and our plugin in it is the drive."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from floatgate._core import ConfigError, RunError
from floatgate.files import shown

from .log import Log, Repeats

PLUGIN = Path(__file__).parents[1] / "libfloatgate_nbdkit.so"

REQUEST_MAX = 32 << 20
"""Bytes of the longest request that is answered: what most clients and kernels send at most."""

LEAVE_S = 2.0
"""Seconds that clients have to leave."""

THREADS = 16
"""Requests of a client that are worked on at a time; with a clock as many as the drive takes."""

THREADS_MAX = 256
"""What `--threads` may say at most."""

SOUND = (1, 34)
"""The first nbdkit that outlives clients which vanish with several requests under way.

Others abort then (release notes of nbdkit 1.34): a client's requests are served one at a time.
"""

PSK_BYTES_MAX = 1 << 20
"""A file with keys has a line for each user."""


@dataclass(frozen=True)
class Tls:
    """What a client of a server that requires TLS has to show."""

    user: str = ""
    file: tuple[str, str] | None = None
    """The parameter of an NBD URI that names the keys or certificates, and their path."""

    @classmethod
    def needed(cls, mode: str | None, psk: Path | None, certificates: Path | None) -> Tls | None:
        """The first user of a file with keys, or the certificates of the server's own folder.

        None where clients may do without. Raises ConfigError for what is no such file or folder.
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
    """The users of a file with keys. Errors show nothing of it: it may be any file."""
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
    """Where NBD is served: a Unix socket, or a TCP port of an address."""

    socket: Path | None
    address: str = "127.0.0.1"
    port: int = 0
    tls: Tls | None = None
    """None where clients need none."""

    @property
    def uri(self) -> str:
        """The NBD URI, as nbdinfo, nbdfuse, qemu and fio take it."""
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
        """nbdkit's options for it."""
        if self.socket is not None:
            return ["-U", str(self.socket.absolute())]
        return ["-i", self.address, "-p", str(self.port)]


def find() -> str:
    """nbdkit's path, once it and the plugin are known to be there; else RunError says how to."""
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
    """The version of the program, such as (1, 32, 5); (0,) if it does not say."""
    try:
        said = subprocess.run([nbdkit, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise RunError(f"{nbdkit} cannot be run: {error.strerror or error}") from error
    found = re.search(r"[0-9]+(\.[0-9]+)+", said.stdout)
    return tuple(int(part) for part in found[0].split(".")) if found else (0,)


def threads(nbdkit: str, wanted: int | None, timing: str, depth: int) -> tuple[int, str | None]:
    """Requests of a client that are worked on at a time, and what is to be said of that.

    A drive with a clock needs more than one: it works on `depth` of them at a time.
    """
    of = version(nbdkit)
    several = THREADS if timing == "none" else min(max(THREADS, depth), THREADS_MAX)
    if of >= SOUND or wanted == 1:
        return wanted or several, None
    name = f"nbdkit {'.'.join(str(part) for part in of)}"
    if wanted is None and timing == "none":
        return 1, None
    text = (
        f"{name} aborts when a client is killed with several requests under way, as if power "
        "failed (mended in 1.34); --threads 1 avoids it"
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
    """The command line of a server that ends with this process."""
    options = ["--foreground", "--newstyle", "--exit-with-parent", *endpoint.arguments(), *tls]
    options += ["--threads", str(threads)]
    # The drive takes any bytes; clients are told which it likes, and what is too long for them.
    sizes = {"minimum": 1, "preferred": max(page_bytes, 512), "maximum": REQUEST_MAX}
    policy = [f"blocksize-{name}={size}" for name, size in sizes.items()]
    for word in (*options, *parameters):
        if shown(word) != word:
            raise ConfigError(f"{word}: expected a name in UTF-8, without control characters")
    filtered = ["--filter=blocksize-policy", *options, str(PLUGIN), *parameters]
    return [nbdkit, *filtered, *policy, "blocksize-error-policy=error", f"parent={os.getpid()}"]


class Nbdkit:
    """A running nbdkit. Its standard error is a file, and is passed on."""

    def __init__(self, command: Sequence[str], log: Path, tell: Callable[[str], None]) -> None:
        """Starts it; `tell` gets its messages, of those that repeat the number."""
        self._log = Log(log)
        self._repeats = Repeats(tell)
        # Sockets are for their owner only. A session of its own: Ctrl-C at a terminal is for us,
        # who ask for the last numbers before it ends. A file, not a pipe: it outlives us.
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
        """Passes on new messages, and the numbers of those that repeat."""
        for line in self._log.lines():
            self._repeats.add(line)
        self._repeats.look(is_end=is_end)

    def wait(self, seconds: float) -> int | None:
        """Its exit status, negative for a signal; None if it runs after so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def end(self) -> None:
        """Ends it, if it runs. Clients that are still connected some seconds later are cut off.

        nbdkit would wait for them for ever. A drive that was not shut down before is then as after
        a loss of power.
        """
        self._process.terminate()
        if self.wait(LEAVE_S) is None:
            self._process.kill()
            self._process.wait()

    def ended(self, status: int, left: str = "") -> RunError:
        """How it ended though nobody asked for that; of a signal, what is `left` of the drive."""
        how, after = f"status {status}", ""
        if status < 0:
            how, after = signal.Signals(-status).name, left and f"\n{left}"
        for _ in self._log.lines():
            pass
        words = "; ".join(line.removeprefix("nbdkit: ") for line in self._log.last)
        return RunError(f"nbdkit ended with {how}{': ' + words if words else ''}{after}")
