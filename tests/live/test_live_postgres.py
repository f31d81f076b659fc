"""PostgreSQL on a live drive that loses power: committed transactions must survive."""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import live_postgres
import pytest
from live_drive import MIB, LiveDrive
from live_mount import Mounted
from live_needs import HANGS_S, needs, needs_loop_mounts
from live_postgres import Postgres

pytestmark = needs("nbdkit", "nbdfuse", "losetup", "mke2fs", "e2fsck")

SIZE = 256 * MIB
CLIENTS = 3
TRANSACTIONS = 20_000
"""Per client and life: more than a client finishes before the power fails."""

TABLES = """
CREATE TABLE entries (client int, number int, text text, md5 text, PRIMARY KEY (client, number));
CREATE INDEX ON entries (md5);
CREATE TABLE totals (client int PRIMARY KEY, entries int);
CREATE EXTENSION amcheck;
"""

TRANSACTION = """BEGIN;
INSERT INTO entries
SELECT {client}, {number}, text, md5(text) FROM (SELECT repeat('{text}', {times}) AS text) made;
UPDATE totals SET entries = entries + 1 WHERE client = {client};
COMMIT;
\\warn {number} is committed
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that PostgreSQL's user can enter. Directories made by pytest are open to their
    owner only."""
    with TemporaryDirectory(prefix="floatgate-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def _script(path: Path, client: int, first: int, rng: random.Random) -> Path:
    with path.open("w") as file:
        for number in range(first, first + TRANSACTIONS):
            text, times = f"{rng.getrandbits(64):x}", rng.randrange(1, 200)
            file.write(TRANSACTION.format(client=client, number=number, text=text, times=times))
    path.chmod(0o644)
    return path


def _committed(log: Path) -> int:
    """Returns the last number whose commit PostgreSQL confirmed to the client, or 0."""
    found = re.findall(r"^psql:\S+ (\d+) is committed$|^(\d+) is committed$", log.read_text(), re.M)
    return max((int(one or other) for one, other in found), default=0)


def _numbers(postgres: Postgres) -> dict[int, int]:
    """Checks that the entries of each client are complete and unchanged, and returns their
    numbers."""
    wrong = postgres.sql("SELECT count(*) FROM entries WHERE md5(text) <> md5")
    assert wrong == [["0"]]
    rows = postgres.sql(
        "SELECT client, totals.entries, count(number), coalesce(max(number), 0)"
        " FROM totals LEFT JOIN entries USING (client) GROUP BY client, totals.entries"
    )
    for row in rows:
        assert row[1] == row[2] == row[3], f"client, its total, its entries, the last: {row}"
    return {int(row[0]): int(row[3]) for row in rows}


def _amcheck(postgres: Postgres, directory: Path) -> None:
    words = ["-h", directory, "--heapallindexed", "--parent-check", "postgres"]
    assert postgres.run("pg_amcheck", *words) == ""


def _life(
    drive: LiveDrive, mounted: Mounted, postgres: Postgres, before: dict[int, int], seed: int
) -> dict[int, int]:
    """Lets clients commit until the power fails. Returns the last commit confirmed to each
    client."""
    rng = random.Random(seed)
    logs = {client: drive.directory / f"client-{client}.log" for client in before}
    clients = []
    for client, number in before.items():
        script = _script(drive.directory / f"client-{client}.sql", client, number + 1, rng)
        clients.append(postgres.client(script, logs[client]))
    few = rng.randrange(1, 60)
    end = time.monotonic() + 120
    while sum(max(0, _committed(logs[one]) - before[one]) for one in before) < few:
        assert time.monotonic() < end, [log.read_text() for log in logs.values()]
        time.sleep(0.02)
    # This machine loses power too: its page cache never reaches the drive.
    mounted.freeze()
    drive.plug()
    postgres.kill()
    mounted.cut()
    postgres.reap()
    for one in clients:
        one.wait(HANGS_S)
    mounted.end()
    return {client: max(before[client], _committed(log)) for client, log in logs.items()}


@pytest.mark.parametrize("pulls", [2, pytest.param(50, marks=pytest.mark.long)])
def test_what_was_committed_outlives_the_plug(directory: Path, pulls: int) -> None:
    needs_loop_mounts()
    why = live_postgres.why_not()
    if why is not None:
        pytest.skip(why)
    device = {"mapping.scheme": "dftl", "mapping.cache": "64KiB", "flash.pages_per_block": 64}
    drive = LiveDrive(directory, SIZE, device="small-nvme", set=device)
    with contextlib.ExitStack() as stack:
        stack.callback(drive.end)
        drive.start()
        told = dict.fromkeys(range(CLIENTS), 0)
        for pull in range(pulls + 1):
            mounted = Mounted(drive, make=pull == 0)
            stack.callback(mounted.end)
            postgres = Postgres(mounted.path / "data", directory)
            if pull == 0:
                postgres.make()
            postgres.start()
            stack.callback(postgres.kill)
            if pull == 0:
                postgres.sql(TABLES)
                postgres.sql(
                    f"INSERT INTO totals SELECT i, 0 FROM generate_series(0, {CLIENTS - 1}) i"
                )
            found = _numbers(postgres)
            # A transaction under way may have committed without a confirmation to the client.
            assert all(told[one] <= found[one] <= told[one] + 1 for one in told), (told, found)
            _amcheck(postgres, directory)
            if pull < pulls:
                told = _life(drive, mounted, postgres, found, pull)
        postgres.stop()
        mounted.unmount()
        drive.stop()
    drive.check()
    print(f"{pulls} pulls, {sum(found.values())} transactions")
