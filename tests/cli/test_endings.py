"""Processes that get a signal or lose their standard streams: exit status, messages, and files
left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import python
from conftest import Cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

SMALL = "uniform:span=16MiB,writes=5k"
ENDLESS = "uniform:span=16MiB,writes=4000000000"
FLOATGATE = [sys.executable, "-m", "floatgate"]
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM"}
SIGNALS[signal.SIGHUP] = "ended by SIGHUP"


def _default_signals() -> None:
    """Restores default signal handlers. A test runner in the background ignores SIGINT, and its
    children would inherit that."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def _ended(
    folder: Path, call: tuple[str, ...], number: int, ready: Callable[[], bool]
) -> tuple[int, str, str]:
    """Returns status and output of a process that gets a signal once it is `ready`."""
    process = subprocess.Popen(
        [*FLOATGATE, *call],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_default_signals,
    )
    try:
        deadline = time.monotonic() + 60
        while not ready() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, stdout, stderr


@pytest.mark.parametrize(
    ("number", "call"),
    [
        (signal.SIGTERM, ("run", ENDLESS, "--out", "results")),
        (signal.SIGHUP, ("compare", ENDLESS, "--vary", "queue.depth=1,2")),
        (signal.SIGTERM, ("trace", "generate", ENDLESS, "-o", "long.parquet")),
        (signal.SIGHUP, ("trace", "generate", ENDLESS, "-o", "long.csv.zst")),
        (signal.SIGINT, ("trace", "info", ENDLESS, "--map-curve", "--out", "results")),
    ],
)
def test_a_signal_ends_in_order_and_leaves_nothing(tmp_path: Path, number: int, call) -> None:
    begun = lambda: bool(list(tmp_path.iterdir()))  # noqa: E731
    status, stdout, stderr = _ended(tmp_path, call, number, begun)
    said = f"floatgate: {SIGNALS[signal.Signals(number)]}\n"
    assert (status, stdout, stderr) == (128 + number, "", said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_modules_are_imported_is_a_line(tmp_path: Path, number: int) -> None:
    """The working directory is first on the import path, so this file replaces the first heavy
    module."""
    (tmp_path / "typer.py").write_text(
        f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(10)\n"
    )
    status, stdout, stderr = _ended(tmp_path, ("devices",), 0, lambda: True)
    assert (status, stdout) == (128 + number, "")
    assert stderr == f"floatgate: {SIGNALS[signal.Signals(number)]}\n"


DROPS = {
    "a callback of the interpreter": (
        "def gone(act):\n"
        "    thing = set()\n"
        "    seen = weakref.ref(thing, lambda _: act())\n"
        "    del thing\n"
        "gone(lambda: 1 / 0)\n"
        "gone(end)\n"
    ),
    "a library that tries": "try:\n    end(); time.sleep(600)\nexcept BaseException:\n    1\n",
    "two in a row": (
        "for _ in range(2):\n"
        "    try:\n"
        "        end(); time.sleep(600)\n"
        "    except BaseException:\n"
        "        1\n"
    ),
}


@pytest.mark.parametrize("drop", DROPS)
def test_a_signal_ends_the_process_though_what_it_raises_is_dropped(tmp_path: Path, drop) -> None:
    """Callbacks of Python's own imports drop exceptions this way. Other errors in a callback are
    still printed."""
    (tmp_path / "typer.py").write_text(
        "import os, time, weakref\n"
        f"end = lambda: os.kill(os.getpid(), {int(signal.SIGTERM)})\n"
        f"{DROPS[drop]}"
        "time.sleep(600)\n"
    )
    status, stdout, stderr = _ended(tmp_path, ("devices",), 0, lambda: True)
    assert (status, stdout) == (128 + signal.SIGTERM, "")
    *other, last = stderr.splitlines()
    assert last == "floatgate: ended by SIGTERM"
    told = ["ZeroDivisionError: division by zero"] if "callback" in drop else []
    assert other[-1:] == told


def test_what_is_cleaned_up_after_a_signal_is_not_interrupted(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(
        "import contextlib, os, time\n"
        "@contextlib.contextmanager\n"
        "def folder():\n"
        "    try:\n"
        "        yield\n"
        "    finally:\n"
        "        time.sleep(0.5)\n"
        "        print('second', flush=True)\n"
        "with folder():\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {int(signal.SIGTERM)})\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        with contextlib.suppress(ValueError):\n"
        "            raise ValueError\n"
        "        try:\n"
        "            raise KeyError\n"
        "        except KeyError:\n"
        "            time.sleep(0.5)\n"
        "        print('first', flush=True)\n"
    )
    status, stdout, stderr = _ended(tmp_path, ("devices",), 0, lambda: True)
    assert (status, stdout) == (128 + signal.SIGTERM, "first\nsecond\n")
    assert stderr == "floatgate: ended by SIGTERM\n"


def test_a_signal_that_is_dropped_at_the_very_end_comes_too_late() -> None:
    """The command is done: the signal must not disturb the interpreter's shutdown."""
    code = (
        "import atexit, os, sys, time\n"
        "import floatgate.__main__ as main, floatgate.cli as cli\n"
        "def command():\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {int(signal.SIGTERM)})\n"
        "        time.sleep(600)\n"
        "    except BaseException:\n"
        "        return 0\n"
        "cli.main = command\n"
        "atexit.register(lambda: [time.sleep(0.5), print('whole')])\n"
        "main.main()"
    )
    done = python("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "whole\n", "")


def test_what_is_ignored_stays_ignored() -> None:
    """`nohup floatgate ...`: the process must survive the end of its terminal."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "sys.argv = ['floatgate', 'devices', '--json']\n"
        "import floatgate.__main__ as main, floatgate.cli as cli\n"
        "whole = cli.main\n"
        "cli.main = lambda: os.kill(os.getpid(), signal.SIGHUP) or whole()\n"
        "main.main()"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def _closed(*numbers: int) -> Callable[[], None]:
    return lambda: [os.close(number) for number in numbers] and None


@pytest.mark.parametrize("call", [("run", SMALL), ("run", SMALL, "--json"), ("devices", "classic")])
def test_a_result_without_a_standard_output_is_a_failure(process: Cli, call) -> None:
    done = process(*call, stdout=None, preexec_fn=_closed(1))
    assert (done.returncode, done.stderr) == (1, "floatgate: standard output: closed\n")


def test_what_prints_nothing_needs_no_standard_output(
    cli: Cli, process: Cli, tmp_path: Path
) -> None:
    """The new file may get the free descriptor number of standard output. Nothing else may be
    written to it."""
    call = ("trace", "generate", SMALL, "-o")
    assert cli(*call, "open.csv").returncode == 0
    closed = {"stdout": None, "stderr": None, "preexec_fn": _closed(0, 1, 2)}
    assert process(*call, "closed.csv", **closed).returncode == 0
    assert (tmp_path / "closed.csv").read_bytes() == (tmp_path / "open.csv").read_bytes()


def test_messages_never_go_to_standard_output(process: Cli) -> None:
    for call, status in ((("run", "absent.csv"), 2), (("run", SMALL, "--json", "--out", "d"), 0)):
        done = process(*call, stderr=None, preexec_fn=_closed(2))
        assert done.returncode == status
        assert not done.stdout or json.loads(done.stdout)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("call", "named"),
    [
        (("run", SMALL, "--json"), ""),
        (("devices",), ""),
        (("--help",), ""),
        (("trace", "generate", SMALL, "-o", "-"), "-: "),
    ],
)
def test_a_full_disk_behind_standard_output_is_a_line(process: Cli, call, named: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = process(*call, stdout=full)
    assert done.returncode == 1
    assert done.stderr == f"floatgate: {named}No space left on device\n"


def test_an_interrupted_comparison_goes_on(tmp_path: Path, cli) -> None:
    runs = tmp_path / "floatgate-compare" / "runs"
    vary = ("--vary", "queue.depth=1,2", "--workers", "1")

    def two() -> bool:
        return len(list(runs.glob("*.json"))) == 2

    call = ("compare", SMALL, ENDLESS, *vary)
    status, _, stderr = _ended(tmp_path, call, signal.SIGTERM, two)
    assert status == 143
    assert stderr == (
        f"note: 2 runs kept in {Path('floatgate-compare/runs')}; --resume --out floatgate-compare "
        "continues there\n"
        "floatgate: ended by SIGTERM\n"
    )
    assert [path.name for path in runs.parent.iterdir()] == ["runs"]
    assert two()
    kept = [json.loads(path.read_text("utf-8")) for path in runs.iterdir()]
    torn = runs / sorted(path.name for path in runs.iterdir())[0]
    torn.write_text(torn.read_text("utf-8")[:-20], "utf-8")
    whole = next(path for path in runs.iterdir() if path != torn)
    before = json.loads(whole.read_text("utf-8"))
    for document in (before, *kept):
        del document["sha256"]

    cli("compare", SMALL, *vary, "--out", "floatgate-compare").refused("is not empty")
    # Without --out another comparison gets a new directory, and --resume finds this one.
    assert cli("compare", SMALL, *vary, "-q").returncode == 0
    assert (tmp_path / "floatgate-compare-2" / "report.html").is_file()

    cli("compare", SMALL, *vary[:1], "queue.depth=1,2,4", "--resume").ok()
    results = json.loads((runs.parent / "results.json").read_text("utf-8"))["results"]
    assert [result["config"]["queue"]["depth"] for result in results] == [1, 2, 4]
    # Wall-clock times distinguish a reused run from a repeated one.
    assert before in results
    assert sum(result in kept for result in results) == 1
    assert len(list(runs.glob("*.json"))) == 3
    assert not list(runs.glob(".*"))
