"""The claims and examples of docs/sweeps.md are true."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

from floatgate.studies.spec import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = ROOT / "docs" / "sweeps.md"


def test_the_files_are_studies() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        assert parse(tomllib.loads(block), block).varied


def test_the_command_that_loses_a_machine_is_there() -> None:
    [path] = re.findall(r"`pytest -m long (\S+?)`", PAGE.read_text("utf-8"))
    text = (PAGE.parents[1] / path).read_text("utf-8")
    assert "@pytest.mark.long\ndef test_a_machine_may_be_lost_in_the_middle" in text


def _bench() -> Any:
    path = PAGE.parents[1] / "benches" / "study.py"
    spec = importlib.util.spec_from_file_location("bench_of_studies", path)
    assert spec is not None and spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    return bench


def test_the_benchmark_runs(capsys: pytest.CaptureFixture[str]) -> None:
    bench = _bench()
    bench.local(10)
    bench.driver(20)
    one, driver = capsys.readouterr().out.splitlines()
    assert one.startswith("one thread: 10 runs, ") and driver.startswith("driver alone: 20 runs, ")


def test_the_time_of_all_workers_counts() -> None:
    bench = _bench()
    # Ten runs on two workers in a second, half a second of which is the engine alone.
    assert bench.around(10, 1.0, 0.5, 2) == pytest.approx(0.15)
    assert bench.around(10, 1.0, 0.5, 1) == pytest.approx(0.05)


def test_the_examples_hold(tmp_path: Path) -> None:
    """A separate process, because nanobind may report leaks as a process that loads DuckDB ends."""
    assert PAGE.read_text("utf-8").count("\n>>> ") >= 10
    options = [word for flag in ("ELLIPSIS", "NORMALIZE_WHITESPACE") for word in ("-o", flag)]
    command = [sys.executable, "-X", "utf8", "-m", "doctest", *options, str(PAGE)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
