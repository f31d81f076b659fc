"""A PostgreSQL server with its data in a given directory, and clients that commit."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path

from live_process import is_alive

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
USER = "postgres"
STARTS_S = 120

SETTINGS = """
listen_addresses = ''
shared_buffers = 8MB
max_wal_size = 16MB
checkpoint_timeout = 30s
log_min_messages = warning
"""
"""Settings that decide what survives a crash keep their defaults: fsync, full_page_writes,
synchronous_commit."""


def why_not() -> str | None:
    """Returns why PostgreSQL cannot run here, or None if it can."""
    if not BINARIES:
        return "PostgreSQL is not installed (package: postgresql)"
    with contextlib.suppress(KeyError):
        pwd.getpwnam(USER)
        return None
    return f"there is no user {USER}, and PostgreSQL does not run as root"


class Postgres:
    """A server on `data`, with its socket in `directory`."""

    def __init__(self, data: Path, directory: Path) -> None:
        self._data = data
        self._directory = directory
        self._server: subprocess.Popen[bytes] | None = None
        self._workers: list[int] = []

    def _command(self, name: str, *words: object) -> list[str]:
        return [str(BINARIES[-1].parent / name), *map(str, words)]

    def run(self, name: str, *words: object) -> str:
        """Runs a program of PostgreSQL, which has to succeed, and returns its output."""
        command = self._command(name, *words)
        done = subprocess.run(
            command, capture_output=True, text=True, user=USER, group=USER, extra_groups=[], cwd="/"
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout.strip()

    def make(self) -> None:
        """Makes a new database cluster with page checksums."""
        self._data.mkdir()
        shutil.chown(self._data, USER, USER)
        words = ["--data-checksums", "--wal-segsize=1", "--auth=trust", "--no-locale", "-E", "UTF8"]
        self.run("initdb", "-D", self._data, *words)
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(SETTINGS)
            file.flush()
            os.fsync(file)

    def start(self) -> None:
        """Starts the server, and returns after any recovery."""
        log = self._directory / "postgres.log"
        command = self._command("postgres", "-D", self._data, "-k", self._directory)
        with log.open("ab") as sink:
            self._server = subprocess.Popen(
                command,
                stderr=sink,
                user=USER,
                group=USER,
                extra_groups=[],
                cwd="/",
            )
        end = time.monotonic() + STARTS_S
        ready = self._command("pg_isready", "-q", "-U", USER, "-h", self._directory)
        while subprocess.run(ready).returncode != 0:
            assert self._server.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """Sends SIGKILL to the server and its workers, each of which has its own session."""
        if self._server is None:
            return
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            # A stopped server starts no new workers.
            self._server.send_signal(signal.SIGSTOP)
            children = Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children")
            self._workers = [int(pid) for pid in children.read_text().split()]
            for pid in self._workers:
                os.kill(pid, signal.SIGKILL)
        self._server.kill()

    def reap(self) -> None:
        """Returns when no worker is left. Workers may have been waiting for the disk."""
        assert self._server is not None
        self._server.wait(STARTS_S)
        self._server = None
        end = time.monotonic() + STARTS_S
        while any(is_alive(pid) for pid in self._workers):
            assert time.monotonic() < end, self._workers
            time.sleep(0.02)

    def stop(self) -> None:
        """Stops the server in order."""
        assert self._server is not None
        self._server.send_signal(signal.SIGINT)
        assert self._server.wait(STARTS_S) == 0
        self._server = None

    def client(self, script: Path, log: Path) -> subprocess.Popen[bytes]:
        """Starts a client that runs a script until it fails. The script's messages go to `log`."""
        words = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self._directory, "-d", "postgres"]
        with log.open("wb") as sink:
            return subprocess.Popen(
                self._command("psql", *words, "-f", script),
                stdout=subprocess.DEVNULL,
                stderr=sink,
                user=USER,
                group=USER,
                extra_groups=[],
                cwd="/",
            )

    def sql(self, text: str) -> list[list[str]]:
        """Returns the rows of a statement."""
        words = ["-X", "-At", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-c", text]
        said = self.run("psql", "-h", self._directory, *words)
        return [line.split("|") for line in said.splitlines()]
