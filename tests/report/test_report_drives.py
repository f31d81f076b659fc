"""The report and the summary state everything that the engine reports about drives of every
kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from floatgate.report import summary_rows, write_report

RUNS: dict[str, dict[str, Any]] = {
    "ideal": {"start.fill": "random"},
    "dftl": {"mapping.scheme": "dftl", "mapping.cache": "16KiB", "start.fill": "steady"},
    "eti": {"placement.scheme": "eti", "buffer.scheme": "lru", "buffer.capacity": "256KiB"},
    "bast": {"ftl.scheme": "bast"},
    "shrd": {"host.scheme": "shrd", "host.log": "1MiB", "shrd.contiguous": 8},
}


@pytest.fixture(scope="module")
def results() -> list[fg.Result]:
    workload = "hotcold:span=16MiB,writes=6k,reads=0.3,trim=0.02"
    return [fg.run(workload, set=settings) for settings in RUNS.values()]


def test_the_report_of_every_kind_of_drive(results: list[fg.Result], tmp_path: Path) -> None:
    page = write_report(results, tmp_path / "report.html").read_text()
    assert "</html>" in page and len(page) > 100_000
    for result in results:
        write_report([result], tmp_path / "single.html")


def test_the_summary_of_every_kind_of_drive(results: list[fg.Result]) -> None:
    assert len(summary_rows(results)) == len(results)
