"""Searches, and keys that vary for nothing: what is found before any run, and what is a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate as fg

TRACE = {"traces": ["uniform:span=1MiB,writes=300"]}
QUICK = {"timing": "none", "start.fill": "random"}


def test_a_key_that_no_run_uses_is_refused(tmp_path: Path) -> None:
    """Rows that differ in it alone would say that it changes nothing."""
    said = "vary: dac.regions is a key of dac, which no run uses"
    ways: list[dict[str, Any]] = [
        {"grid": {"dac.regions": [2, 3]}},
        {"random": {"draws": 2, "keys": {"dac.regions": "2..3"}}},
        {"optuna": {"trials": 2, "keys": {"dac.regions": "2..3"}}},
    ]
    for number, way in enumerate(ways):
        with pytest.raises(fg.ConfigError, match=said):
            fg.study({**TRACE, **way}, out=tmp_path / "none")
        assert not (tmp_path / "none").exists()
        used = {"set": QUICK | {"placement.scheme": "dac"}}
        found = fg.study({**TRACE, **way, **used}, out=tmp_path / str(number))
        assert found.counts()["done"] == found.counts()["planned"]
    points = [{"placement.scheme": "single"}, {"placement.scheme": "dac"}]
    some = {**TRACE, "set": QUICK, "list": points, **ways[0]}
    assert fg.study(some, out=tmp_path / "some").counts()["done"] == 4


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"capacity.spare_factor": "0.05..1.5"}, "capacity.spare_factor = 1.5"),
        ({"cleaning.victim": ["greedy", "greedily"]}, 'cleaning.victim = "greedily"'),
    ],
)
def test_values_of_a_search_are_checked_before_it(
    keys: dict[str, Any], said: str, tmp_path: Path
) -> None:
    search = {"trials": 3, "keys": keys}
    with pytest.raises(fg.ConfigError, match=said):
        fg.study({**TRACE, "set": QUICK, "optuna": search}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_trial_that_no_drive_has_is_a_row(tmp_path: Path) -> None:
    """Each value is one of a drive, and not all of them together: the search goes on."""
    pytest.importorskip("optuna")
    keys = {"ftl.scheme": ["page", "bast"], "mapping.scheme": ["ideal", "dftl"]}
    study = {
        **TRACE,
        "set": {"timing": "none"},
        "optuna": {"trials": 12, "batch": 4, "keys": keys},
    }
    found = fg.study(study, out=tmp_path)
    rows = found.frame().filter(status="failed")
    assert rows.select(*keys).unique().rows() == [("bast", "dftl")]
    assert rows["error"].unique().to_list() == [
        'mapping.scheme = "dftl": expected "ideal" with ftl.scheme = "bast", which maps blocks'
    ]
    counts = found.counts()
    assert counts["failed"] == rows.height == 1 and counts["done"] == 3
    again = fg.study(study, out=tmp_path, resume=True, retry_failed=True)
    assert again.counts() == counts
