"""Clients that break the protocol, clients that are killed, and users other than the drive's
owner."""

from __future__ import annotations

import contextlib
import errno
import itertools
import multiprocessing
import os
import random
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbd_client as nbd
import pytest
from live_drive import MIB, Drives, LiveDrive
from live_needs import needs
from live_process import until
from nbd_client import Disconnected, NbdClient

pytestmark = needs("nbdkit")

SIZE = 48 * MIB
DEVICE: dict[str, Any] = {"device": "small-nvme", "set": {"flash.pages_per_block": 32}}
MAXIMUM = 32 * MIB
PAGE = 4096

REFUSED: list[tuple[str, int, int, int, int]] = [
    ("read beyond the end", nbd.READ, SIZE - 512, 1024, errno.EINVAL),
    ("write beyond the end", nbd.WRITE, SIZE - 512, 1024, errno.ENOSPC),
    ("trim beyond the end", nbd.TRIM, SIZE - 512, 1024, errno.EINVAL),
    ("zeroes beyond the end", nbd.WRITE_ZEROES, SIZE, 1, errno.ENOSPC),
    ("read at the end", nbd.READ, SIZE, 1, errno.EINVAL),
    ("read that wraps around", nbd.READ, 2**64 - 512, 1024, errno.EINVAL),
    ("trim that wraps around", nbd.TRIM, 2**64 - 512, 1024, errno.EINVAL),
    ("read of too much", nbd.READ, 0, MAXIMUM + 1, errno.EINVAL),
    ("write of too much", nbd.WRITE, 0, MAXIMUM + 1, errno.EINVAL),
    ("read of all that a number can say", nbd.READ, 0, 2**32 - 1, errno.EINVAL),
    ("flush with a length", nbd.FLUSH, 1, 512, errno.EINVAL),
    ("command that does not exist", 77, 0, 0, errno.EINVAL),
]


@pytest.fixture
def drive(serve: Drives) -> LiveDrive:
    return serve(SIZE, **DEVICE)


def _works(drive: LiveDrive) -> None:
    """Checks that a correct client can write and read."""
    with NbdClient(drive.socket) as client:
        assert client.bytes == SIZE
        content = os.urandom(5000)
        client.write(777, content)
        assert client.read(777, 5000) == content


def test_requests_that_cannot_be_served_get_the_error_of_the_protocol(drive: LiveDrive) -> None:
    with NbdClient(drive.socket) as client:
        client.write(0, b"before" * 1000)
        for what, kind, offset, length, error in REFUSED:
            data = bytes(length) if kind == nbd.WRITE else b""
            assert client.call(kind, offset, length, data) == error, what
        assert client.call(nbd.READ, 0, 512, flags=0x4000) == errno.EINVAL
        # The connection stays open, and the refused requests wrote and trimmed nothing.
        assert client.read(0, 6000) == b"before" * 1000
        assert client.read(SIZE - 512, 512) == bytes(512)
    _works(drive)


def test_requests_need_not_be_whole_sectors_or_pages(drive: LiveDrive) -> None:
    """The drive advertises a minimum block of one byte, so it has to serve all of these
    requests."""
    rng = random.Random(1)
    model = bytearray(256 * 1024)
    with NbdClient(drive.socket) as client:
        for _ in range(300):
            offset = rng.randrange(len(model))
            length = min(rng.choice([1, 5, 511, 512, 4095, 4096, 20_000]), len(model) - offset)
            kind = rng.choice([nbd.WRITE, nbd.WRITE, nbd.WRITE_ZEROES])
            data = rng.randbytes(length) if kind == nbd.WRITE else bytes(length)
            sent = data if kind == nbd.WRITE else b""
            assert client.call(kind, offset, length, sent, flags=rng.randrange(2)) == 0
            model[offset : offset + length] = data
            assert client.read(offset, length) == data
        assert client.read(0, len(model)) == model


def _ends(client: NbdClient) -> None:
    with pytest.raises(Disconnected):
        client.receive(1 << 20)


def test_a_client_that_talks_rubbish_is_disconnected(drive: LiveDrive) -> None:
    rng = random.Random(2)
    with NbdClient(drive.socket) as client:
        client.ask(nbd.READ, 0, 512, magic=0x12345678)
        _ends(client)
    with NbdClient(drive.socket) as client:
        # More bytes than the server would read only to discard them.
        client.ask(nbd.WRITE, 0, 2**32 - 1)
        _ends(client)
    with NbdClient(drive.socket, negotiate=False) as client:
        client.greet()
        client.option(nbd.OPT_GO, b"", magic=1)
        _ends(client)
    with NbdClient(drive.socket, negotiate=False) as client:
        client.greet()
        client.send(struct.pack(">QII", nbd.OPTION_MAGIC, nbd.OPT_GO, 2**32 - 1))
        _ends(client)
    with NbdClient(drive.socket, negotiate=False) as client:
        client.greet()
        client.option(99, b"what is this")
        kind, _ = client.option_reply()
        assert kind >> 31 == 1
    for _ in range(20):
        with NbdClient(drive.socket, negotiate=False) as client, pytest.raises(Disconnected):
            client.send(rng.randbytes(4096))
            client.receive(1 << 20)
    _works(drive)


def test_a_request_that_never_becomes_whole_changes_nothing(drive: LiveDrive) -> None:
    with NbdClient(drive.socket) as client:
        client.write(0, b"old" * 4096)
    for sent in (b"", b"new", b"new" * 4095):
        with NbdClient(drive.socket) as client:
            client.ask(nbd.WRITE, 0, 3 * 4096, sent)
        with NbdClient(drive.socket) as client:
            client.send(struct.pack(">IHH", nbd.REQUEST_MAGIC, 0, nbd.TRIM))
    with NbdClient(drive.socket) as client:
        assert client.read(0, 3 * 4096) == b"old" * 4096
    _works(drive)


def _holds(pid: int) -> tuple[int, int, int]:
    """Returns the file descriptors, threads and bytes of memory of a process."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return files, int(status["Threads"]), int(status["VmRSS"].split()[0]) * 1024


def _dies(socket: Path, seed: int) -> None:
    """Disconnects at a random moment, like a killed process: the kernel closes its socket with
    requests half sent and answers unread."""
    rng = random.Random(seed)
    with NbdClient(socket, negotiate=False) as client:
        if rng.random() < 0.1:
            return
        client.greet()
        if rng.random() < 0.1:
            return
        client.choose_export()
        # The server stops serving a client that reads no answers.
        client.socket.settimeout(0.2)
        for _ in range(rng.randrange(20)):
            offset = rng.randrange(4 * MIB)
            kind = rng.choice([nbd.READ, nbd.READ, nbd.WRITE, nbd.TRIM, nbd.FLUSH])
            length = 0 if kind == nbd.FLUSH else rng.choice([1, 512, 4096, 65536])
            data = rng.randbytes(length) if kind == nbd.WRITE else b""
            if rng.random() < 0.05:
                data = data[: rng.randrange(len(data) + 1)]
            try:
                client.ask(kind, 0 if kind == nbd.FLUSH else offset, length, data)
            except TimeoutError:
                return
            if len(data) < length and kind == nbd.WRITE:
                return


def _many_die(drive: LiveDrive, seeds: range) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: _dies(drive.socket, seed), seeds))


def _settled(drive: LiveDrive, like: tuple[int, int, int] | None) -> tuple[int, int, int]:
    """Returns the resources of the server once it has noticed that its clients are gone."""
    end = time.monotonic() + 60
    while True:
        time.sleep(0.2)
        now = _holds(drive.pid)
        if like is None or now[:2] == like[:2] or time.monotonic() > end:
            return now


@pytest.mark.parametrize(
    "connections", [200, pytest.param(10_000, marks=pytest.mark.long)], ids=str
)
def test_killed_clients_leave_nothing_behind(serve: Drives, connections: int) -> None:
    drive = serve(SIZE, **DEVICE)
    before_any = _settled(drive, None)
    _many_die(drive, range(200))
    before = _settled(drive, before_any)
    assert before[:2] == before_any[:2], "files or threads"
    _many_die(drive, range(200, 200 + connections))
    after = _settled(drive, before)
    assert after[:2] == before[:2], "files or threads"
    assert after[2] - before[2] < 8 * MIB, f"{before[2]} bytes of memory, then {after[2]}"
    _works(drive)
    drive.stop()
    drive.check()


def _pump(socket: Path, seed: int) -> None:
    """Writes to the second half of the drive, with 32 requests under way, until the process is
    killed."""
    rng = random.Random(seed)
    with contextlib.suppress(OSError), NbdClient(socket) as client:
        for number in itertools.count():
            page = rng.randrange(SIZE // PAGE // 2, SIZE // PAGE)
            client.ask(nbd.WRITE, page * PAGE, PAGE, bytes(PAGE))
            if number >= 32:
                client.answer()


Known = dict[int, set[bytes]]
"""Possible contents of each page in the first half."""


def _write_durably(drive: LiveDrive, known: Known, rng: random.Random) -> None:
    """Writes and flushes a page. A confirmed flush leaves one possible content of the page."""
    page, fill = rng.randrange(SIZE // PAGE // 2), bytes([rng.randrange(256)])
    known.setdefault(page, {b"\0"}).add(fill)
    with contextlib.suppress(OSError), NbdClient(drive.socket) as client:
        client.write(page * PAGE, fill * PAGE)
        client.flush()
        known[page] = {fill}


def _look(drive: LiveDrive, known: Known) -> None:
    with NbdClient(drive.socket) as client:
        for page, fills in known.items():
            data = client.read(page * PAGE, PAGE)
            assert data[:1] in fills and data == data[:1] * PAGE, page
            known[page] = {data[:1]}


@pytest.mark.parametrize("kills", [20, pytest.param(300, marks=pytest.mark.long)], ids=str)
def test_clients_killed_under_a_clock_take_nothing_that_was_flushed(
    serve: Drives, kills: int
) -> None:
    drive = serve(SIZE, **DEVICE, options=("--timing", "simulated"))
    rng = random.Random(kills)
    known: Known = {}
    aborts = 0
    for kill in range(kills):
        pump = multiprocessing.get_context("fork").Process(target=_pump, args=(drive.socket, kill))
        pump.start()
        time.sleep(rng.random() * 0.1)
        _write_durably(drive, known, rng)
        pump.kill()
        pump.join()
        time.sleep(0.05)
        # nbdkit older than 1.34 may have aborted because of the killed client. The next start must
        # recover the drive.
        if drive.has_crashed():
            aborts += 1
            drive.start()
            _look(drive, known)
    assert sum(len(fills) == 1 for fills in known.values()) > kills // 4
    try:
        # Data read now may still be lost if it was not flushed, so this look leaves `known`
        # unchanged.
        _look(drive, known.copy())
    except OSError:
        # After the last kill, nbdkit may abort later than the check above.
        until(drive.has_crashed)
        aborts += 1
        drive.start()
        _look(drive, known)
    print(f"{kills} clients killed, nbdkit aborted {aborts} times")
    drive.stop()
    drive.check()


KNOCK = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
print(socket.socket(socket.AF_UNIX).connect_ex(sys.argv[1]))
"""


def _as_a_stranger(path: Path) -> int:
    """Returns the error that another user gets when connecting to the socket."""
    command = [sys.executable, "-c", KNOCK, str(path)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that all users can enter. Directories made by pytest are open to their owner
    only."""
    with TemporaryDirectory(prefix="floatgate-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_stranger_gets_no_access_to_the_sockets(open_directory: Path) -> None:
    drive = LiveDrive(open_directory, SIZE, **DEVICE).start()
    try:
        for path in (drive.socket, drive.control):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert _as_a_stranger(path) == errno.EACCES
        # With open permissions, the other user can connect.
        drive.socket.chmod(0o666)
        assert _as_a_stranger(drive.socket) == 0
        drive.stop()
    finally:
        drive.end()
