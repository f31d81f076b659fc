"""The report and the terminal's summary ask results for nothing that results do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from floatgate.report import summary_rows, write_report

OPTIONAL = {"config"}
"""Sections with keys that need not be set."""


class Strict(dict[str, Any]):
    """A table of a result in which a key that is not there is a mistake of who asks for it."""

    def get(self, key: str, default: Any = None) -> Any:
        # The report's own word for causes that it does not know.
        if key not in self and key != "other":
            raise KeyError(f"results have no {key!r} here; they have {sorted(self)}")
        return super().get(key, default)


def strict(value: Any, name: str = "") -> Any:
    """The same document of strict tables."""
    if isinstance(value, dict) and name not in OPTIONAL:
        return Strict({key: strict(inner, key) for key, inner in value.items()})
    return [strict(inner) for inner in value] if isinstance(value, list) else value


RUNS: dict[str, dict[str, Any]] = {
    "ideal": {"start.fill": "random"},
    "dftl": {"mapping.scheme": "dftl", "mapping.cache": "16KiB", "start.fill": "steady"},
    "eti": {"placement.scheme": "eti", "buffer.scheme": "lru", "buffer.capacity": "256KiB"},
    "bast": {"ftl.scheme": "bast"},
    "shrd": {"host.scheme": "shrd", "host.log": "1MiB", "shrd.contiguous": 8},
}


@pytest.fixture(scope="module")
def results() -> list[Any]:
    workload = "hotcold:span=16MiB,writes=6k,reads=0.3,trim=0.02"
    return [strict(fg.run(workload, set=settings).to_dict()) for settings in RUNS.values()]


def test_the_report_reads_what_is_there(results: list[Any], tmp_path: Path) -> None:
    page = write_report(results, tmp_path / "report.html").read_text()
    assert "</html>" in page and len(page) > 100_000
    write_report(results[:1], tmp_path / "single.html")


def test_the_summary_reads_what_is_there(results: list[Any]) -> None:
    assert len(summary_rows(results)) == len(results)


def test_a_wrong_path_would_be_noticed(results: list[Any]) -> None:
    assert results[0].get("latency").get("write").get("p99_us") is not None
    with pytest.raises(KeyError, match="results have no 'p98_us' here"):
        results[0]["latency"]["write"].get("p98_us")
