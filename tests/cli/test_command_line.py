"""Calls in the test's process: they print and end as a process does, and leave nothing behind."""

from __future__ import annotations

import gc
import logging
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from command_line import Hung, in_process_bytes, python
from conftest import Cli

from floatgate import cli as commands
from floatgate.simulation.signals import Signals

SMALL = "uniform:span=1MiB,writes=500"


@pytest.mark.parametrize(
    "call",
    [
        (),
        ("run", "--help"),
        ("run", "absent.csv"),
        ("run", SMALL, "--sed", "1"),
        ("predict", "--json"),
        ("--version",),
        ("trace", "info", "\udcff.csv"),
    ],
    ids=["nothing", "help", "no trace", "no option", "a result", "version", "not UTF-8"],
)
def test_a_call_prints_what_a_process_prints(cli: Cli, process: Cli, call: Any) -> None:
    here, there = cli(*call), process(*call)
    assert (here.returncode, here.stdout) == (there.returncode, there.stdout)
    assert here.stderr == there.stderr


def test_the_width_is_that_of_the_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []
    for columns in ("80", "140"):
        monkeypatch.setenv("COLUMNS", columns)
        widths.append(max(map(len, cli("run", "--help").stdout.splitlines())))
    assert widths[0] <= 80 < widths[1]


def _state() -> dict[str, Any]:
    """Returns what a command may change in its process."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    return {
        "folder": Path.cwd(),
        "environment": dict(os.environ),
        "arguments": sys.argv[:],
        "import path": sys.path[:],
        "program": sys.modules["__main__"],
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "hooks": (sys.excepthook, sys.unraisablehook, warnings.showwarning),
        "signals": [signal.getsignal(number) for number in numbers],
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "filters": warnings.filters[:],
        "handlers": logging.root.handlers[:],
        "search for cycles": gc.get_threshold(),
        "files": sorted(Path("/proc/self/fd").iterdir()) if sys.platform == "linux" else [],
    }


@pytest.mark.parametrize("fails", [False, True], ids=["ends", "fails"])
def test_a_call_leaves_nothing_behind(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    (tmp_path / "only_here.py").write_text("")

    def command() -> int:
        import only_here

        assert Path(only_here.__file__).parent == Path.cwd() == tmp_path
        os.environ["ONLY_HERE"] = "1"
        sys.path.append("only here")
        logging.basicConfig()
        warnings.warn("as a process", UserWarning, stacklevel=1)
        warnings.warn("not shown", DeprecationWarning, stacklevel=1)
        return 1 // 0 if fails else 3

    monkeypatch.setattr(commands, "main", command)
    cli()  # Python opens some files once.
    before = _state()
    done = cli()
    assert _state() == before
    assert "only_here" not in sys.modules
    assert "UserWarning: as a process" in done.stderr and "not shown" not in done.stderr
    assert done.returncode == (1 if fails else 3)
    assert done.stderr.endswith("ZeroDivisionError: integer division or modulo by zero\n") == fails
    assert ("Traceback (most recent call last):\n" in done.stderr) == fails


def test_a_program_that_the_command_starts_has_its_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "main", lambda: os.system("cat; echo said >&2"))
    done = in_process_bytes(tmp_path, data=b"given\r\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"given\r\n", b"said\n")


def test_a_command_rarely_searches_for_cycles(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "main", lambda: print(gc.get_threshold()[0]))
    assert int(cli().stdout) > 10 * gc.get_threshold()[0]


def test_the_exit_searches_no_object_for_cycles() -> None:
    code = """if True:
        import atexit, gc
        from floatgate.__main__ import main
        atexit.register(lambda: print(len(gc.get_objects()) < 1000 < gc.get_freeze_count()))
        main()
    """
    assert python("-c", code, "--version").stdout.splitlines()[-1] == "True"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_our_characters_gets_plain_ones(
    process: Cli, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    call = ("run", "hotcold:span=32MiB,writes=50k", "--set", "timing=none", "-q")
    whole = process(*call).ok().stdout
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    plain = process(*call, encoding=encoding).ok().stdout
    assert "\N{NARROW NO-BREAK SPACE}" in whole and "\\" not in plain
    [here, there] = [re.sub(r"simulated in .*", "", text) for text in (whole, plain)]
    assert there.split() == here.replace("\N{MINUS SIGN}", "-").split()


def test_a_signal_ends_the_command_and_then_the_tests(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "main", lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        cli()
    assert Signals._come is None


def test_a_command_that_hangs_is_an_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.HANGS_S", 0.1)
    monkeypatch.setattr(commands, "main", signal.pause)
    with pytest.raises(Hung):
        cli()
