"""Runs `floatgate serve` as a process, with nbdkit and the plugin or with stand-ins for both."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

import floatgate as fg

STARTS_S = 60
"""Seconds after which a starting server counts as hung."""

STAND_IN = f"""#!{sys.executable}
import ctypes, json, os, signal, socket, sys, threading
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
if "--version" in sys.argv:
    print("nbdkit 1.36.2")
    sys.exit()
given = dict(word.split("=", 1) for word in sys.argv if "=" in word)
if os.environ.get("NBDKIT_FAILS"):
    print("nbdkit: error: the image is in use", file=sys.stderr)
    sys.exit(1)
from live_fake import FakeDrive
stop = threading.Event()
assert "--exit-with-parent" in sys.argv
ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))
signal.signal(signal.SIGTERM, lambda *_: stop.set())
with open(os.environ["NBDKIT_STATUS"]) as file:
    status = json.load(file)
with FakeDrive(Path(given["control"]), status), socket.socket(socket.AF_UNIX) as served:
    served.bind(sys.argv[sys.argv.index("-U") + 1])
    served.listen()
    with open(sys.argv[sys.argv.index("--pidfile") + 1], "w") as file:
        print(os.getpid(), file=file)
    if "record" in given:
        with open(given["record"], "wb") as file:
            file.write(open(os.environ["NBDKIT_CAPTURE"], "rb").read())
    while not stop.wait(0.05):
        if os.path.exists(os.environ.get("NBDKIT_CRASHES", "")):
            print("something broke", file=sys.stderr, flush=True)
            os.abort()
"""

STAND_IN_CALL = """
import sys
from pathlib import Path
from floatgate.live import nbdkit
nbdkit.PLUGIN = Path(sys.argv.pop(1))
from floatgate.__main__ import main
main()
"""


def stand_in(folder: Path, status: dict[str, Any]) -> dict[str, str]:
    """Makes an nbdkit in `folder` that only answers on its control socket, and returns the
    environment that selects it.

    The stand-in crashes if the file that NBDKIT_CRASHES names exists.
    """
    program = folder / "nbdkit"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    (folder / "status.json").write_text(json.dumps(status))
    (folder / "plugin.so").touch()
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "NBDKIT_STATUS": str(folder / "status.json")}


class Serve:
    """A server that has reported that it is ready, or has failed to start."""

    def __init__(
        self,
        folder: Path,
        *words: object,
        environment: dict[str, str] | None = None,
        umask: int = -1,
    ) -> None:
        """Starts the server. `environment` comes from `stand_in`, and replaces the real nbdkit.

        Without `umask` the server inherits the tests' umask.
        """
        command = [sys.executable, "-m", "floatgate"]
        if environment is not None:
            plugin = str(Path(environment["NBDKIT_STATUS"]).with_name("plugin.so"))
            command = [sys.executable, "-c", STAND_IN_CALL, plugin]
        self._stderr = folder / "stderr"
        with self._stderr.open("w") as sink:
            self.process = subprocess.Popen(
                [*command, "serve", *map(str, words), "--json"],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
                env={**os.environ, "XDG_RUNTIME_DIR": str(folder), **(environment or {})},
                umask=umask,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.ready: dict[str, Any] = json.loads(line) if line else {}
        if not line:
            self.process.wait()

    @property
    def status(self) -> int | None:
        """The exit status, once the server has ended."""
        return self.process.wait(STARTS_S)

    @property
    def said(self) -> str:
        """Standard error so far."""
        return self._stderr.read_text()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal, and returns the exit status."""
        self.process.send_signal(number)
        return self.process.wait(STARTS_S)

    def __enter__(self) -> Serve:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        with contextlib.suppress(KeyError, ProcessLookupError):
            until(lambda: not is_alive(self.ready["nbdkit_pid"]))


def is_alive(pid: int) -> bool:
    """Returns whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        # The second error occurs if the process ends between the opening and the reading.
        return False


def until(holds: Any, seconds: float = STARTS_S) -> None:
    """Waits until `holds()` is true."""
    for _ in ticks(seconds):
        if holds():
            return
    raise AssertionError(f"not within {seconds} s")


def ticks(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.05)


def replay_of_the_docs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Runs the recipe of docs/live.md and returns its variables. The recipe compares the counters
    itself."""
    text = (ROOT / "docs" / "live.md").read_text("utf-8")
    [recipe] = re.findall(r"```python\n(live = .*?)```", text, re.DOTALL)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"fg": fg, "Path": Path}
    exec(recipe, names)
    return names
