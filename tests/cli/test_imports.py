"""Commands import large libraries only when they need them, because each delays the start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import python
from paths import DATA

from floatgate.cli import output

LARGE = {
    *("numpy", "scipy", "polars", "pyarrow", "zstandard", "fsspec", "ray"),
    *("altair", "jinja2", "vl_convert", "optuna", "floatgate._core"),
}
"""Libraries that take longer to import than Floatgate's own modules, and the engine."""

TINY = "uniform:span=1MiB,writes=500"
TRACE = DATA / "financial.spc"
ENGINE = {"floatgate._core"}
READING = ENGINE | {"polars", "zstandard"}


NEVER = (
    *("advising", "calibrate", "live", "models", "papers", "studies", "traces", "tuning"),
    *("report.page", "report.charts", "report.payload", "report.templates"),
    *("results.comparison", "results.intervals", "simulation.recorded"),
    *("simulation.fio_jobs.document", "simulation.fio_jobs.job", "simulation.fio_jobs.resolving"),
)
"""Modules of Floatgate that a run of a generator does not need."""


def imported(folder: Path, words: Sequence[object]) -> list[str]:
    """Returns the modules that a command imports, in the order in which their imports end."""
    done = python("-X", "importtime", "-m", "floatgate", *words, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return [line.rpartition("|")[2].strip() for line in lines]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--help"], set()),
        (["run", "--help"], set()),
        (["predict"], set()),
        (["devices"], ENGINE),
        (["policies"], ENGINE),
        (["policies", "python:midas"], ENGINE),
        (["schema"], ENGINE),
        (["trace", "generate", "--list"], ENGINE),
        (["run", TINY], ENGINE),
        (["run", TINY, "--json"], ENGINE),
        (["run", TRACE], READING),
        (["compare", TINY, "--seeds", "2", "--json"], ENGINE | {"polars"}),
        (["run", TINY, "--out", "out"], ENGINE | {"polars", "altair", "jinja2", "vl_convert"}),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_command_imports_only_what_it_needs(
    tmp_path: Path, words: list[object], expected: set[str]
) -> None:
    assert LARGE & {*imported(tmp_path, words)} == expected


@pytest.mark.parametrize("words", [["run", TINY], ["run", TINY, "--json"]], ids=" ".join)
def test_a_run_imports_no_module_of_other_commands(tmp_path: Path, words: list[str]) -> None:
    found = imported(tmp_path, words)
    assert "floatgate.simulation.pool" in found
    assert not {f"floatgate.{module}" for module in NEVER} & {*found}


@pytest.mark.parametrize("json", [[], ["--json"]], ids=["text", "JSON"])
@pytest.mark.parametrize("words", [["run"], ["compare", "--vary", "queue.depth=1,2"]], ids=" ".join)
def test_a_result_is_imported_after_what_its_run_needs(
    tmp_path: Path, words: list[object], json: list[object]
) -> None:
    found = imported(tmp_path, [*words, TRACE, *json])
    needed = ("floatgate.simulation.pool", "floatgate.traces")
    late = ["floatgate.result_types", "pydantic_core", *([] if json else ["rich.table"])]
    assert max(map(found.index, needed)) < min(map(found.index, late))


def test_the_thread_that_waits_for_the_engine_imports_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "prints_results"
    (tmp_path / f"{module}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    told: list[tuple[str, int, int]] = []
    try:
        move = output.importing(module, lambda *what: told.append(what))
        move("read", 0, 0)
        assert module not in sys.modules
        move("fill", 1, 2)
        assert module in sys.modules
        output.importing(module, None)("run", 2, 2)
    finally:
        sys.modules.pop(module, None)
    assert told == [("read", 0, 0), ("fill", 1, 2)]
