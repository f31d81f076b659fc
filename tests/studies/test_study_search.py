"""Searches, and keys that change nothing: errors found before any run, and failures stored as
rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate as fg

TRACE = {"traces": ["uniform:span=1MiB,writes=300"]}
QUICK = {"timing": "none", "start.fill": "random"}


def test_a_key_that_no_run_uses_is_refused(tmp_path: Path) -> None:
    """Rows that differ only in this key would suggest that it changes nothing."""
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
    """Each value is valid, but not every combination: the search continues after a refused
    trial."""
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


def test_a_metric_that_no_run_has_ends_the_search(tmp_path: Path) -> None:
    """The sampler would get every trial as failed, and the search would be random."""
    pytest.importorskip("optuna")
    metric = "latency.all.p99_us"
    search = {"trials": 6, "batch": 2, "keys": {"capacity.spare_factor": "0.05..0.3"}}
    study = {**TRACE, "set": QUICK, "optuna": {**search, "minimize": [metric]}}
    with pytest.raises(fg.ConfigError, match=rf"optuna\.minimize: {metric} given; expected a num"):
        fg.study(study, out=tmp_path)
    # The completed runs can be resumed with another metric.
    found = fg.study({**study, "optuna": search}, out=tmp_path, resume=True)
    assert found.counts()["done"] == 6


def test_a_metric_that_one_trace_does_not_have_ends_the_search(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    traces = [*TRACE["traces"], "uniform:span=1MiB,writes=300,reads=0.5"]
    metric = "latency.read.p99_us"
    search = {"trials": 2, "batch": 2, "keys": {"queue.depth": [1, 4]}, "maximize": [metric]}
    with pytest.raises(fg.ConfigError, match=rf"optuna\.maximize: {metric} given"):
        fg.study({"traces": traces, "optuna": search}, out=tmp_path)


def test_a_metric_that_some_trials_do_not_have_is_searched_for(tmp_path: Path) -> None:
    """Trials without the metric are excluded from the answer, as in `tune`."""
    pytest.importorskip("optuna")
    metric = "latency.all.p99_us"
    keys = {"timing": ["none", "scheduled"], "queue.depth": "1..16"}
    search = {"trials": 8, "batch": 4, "keys": keys, "minimize": [metric]}
    found = fg.study({**TRACE, "optuna": search}, out=tmp_path)
    assert found.counts()["done"] == found.counts()["planned"]
    assert 0 < found.frame()[metric].null_count() < found.frame().height


def test_without_optuna_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floatgate.tuning.optimizer.find_spec", lambda _: None)
    search = {"trials": 2, "keys": {"queue.depth": [1, 4]}}
    with pytest.raises(fg.ConfigError, match=r"floatgate\[search\]"):
        fg.study({**TRACE, "optuna": search}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", [-1, 1 << 40])
def test_a_seed_that_no_sampler_has_is_refused_before_anything_is_written(
    seed: int, tmp_path: Path
) -> None:
    search = {"trials": 2, "seed": seed, "keys": {"queue.depth": [1, 4]}}
    with pytest.raises(fg.ConfigError, match=rf"optuna\.seed = {seed} given"):
        fg.study({**TRACE, "optuna": search}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
