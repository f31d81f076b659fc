"""Ranges of a key's values: `tune` and studies parse them alike, and report the same mistakes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import floatgate as fg
from floatgate.studies.spec import parse
from floatgate.tuning import ranges
from floatgate.tuning.ranges import Range
from floatgate.tuning.space import asked

TRACE = "uniform:span=1MiB,writes=300"


def of_tune(given: Any) -> ranges.Allowed:
    known = asked(
        ["write_amplification"], {"a.b": given}, trials=1, seed=1, sampler="tpe", prune=True
    )
    return known.axes["a.b"]


def of_study(given: Any, section: str = "random") -> ranges.Allowed:
    count = {"random": "draws", "optuna": "trials"}[section]
    document = {"traces": [TRACE], section: {count: 1, "keys": {"a": {"b": given}}}}
    found = getattr(parse(document, "s"), section)
    return found.keys["a.b"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("1..8", Range(1, 8)),
        (" -3 .. 8", Range(-3, 8)),
        ("1..8:log", Range(1, 8, log=True)),
        ("0.5..8", Range(0.5, 8.0)),
        ("64KiB..4MiB", Range(1 << 16, 1 << 22, doubles=True)),
        ({"from": 1, "to": 8}, Range(1, 8)),
        ({"from": "64KiB", "to": "4MiB", "log": True}, Range(1 << 16, 1 << 22, log=True)),
        ({"from": 0, "to": 0.5, "log": False}, Range(0, 0.5)),
    ],
)
def test_all_read_the_same_ranges(given: Any, found: Range) -> None:
    assert of_tune(given) == of_study(given) == of_study(given, "optuna") == found
    # The ranges in a study's directory can be parsed again.
    assert ranges.read(ranges.document(found)) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("8..1", "'8..1' given; expected a range from less to more"),
        ("1..1", "from less to more"),
        ("nan..1", "from less to more"),
        ("1..inf", "from less to more"),
        ({"from": 2, "to": 1}, "{'from': 2, 'to': 1} given; expected a range from less to more"),
        ("0..8:log", "expected a range above 0, as it is logarithmic or doubles"),
        ("0B..8KiB", "expected a range above 0, as it is logarithmic or doubles"),
        ("1..2..3", "expected a range of numbers or sizes, such as 1..8 or 64KiB..4MiB"),
        ("small..large", "expected a range of numbers or sizes"),
        ("1..64KiBs", "expected a range of numbers or sizes"),
        ({"from": "small", "to": 2}, "expected a range of numbers or sizes"),
        ({"from": True, "to": 2}, "expected a range of numbers or sizes"),
        ({"from": 1}, "expected a range with from and to, and perhaps log = true"),
        ({"from": 1, "to": 2, "step": 1}, "expected a range with from and to"),
        ({"from": 1, "to": 2, "log": 1}, "expected a range with from and to"),
        (5, "5 given; expected a range of numbers or sizes"),
        (["x", "x"], "or more values, all different"),
        ([], "or more values, all different"),
    ],
)
def test_all_say_the_same_of_mistakes(given: Any, said: str) -> None:
    for read, place in ((of_tune, "vary: a.b: "), (of_study, "s: random.keys.a.b: ")):
        with pytest.raises(fg.ConfigError) as error:
            read(given)
        assert str(error.value).startswith(place) and said in str(error.value)


def test_a_list_is_of_what_a_config_can_have() -> None:
    assert of_study(["x", 1, 0.5, True]) == ["x", 1, 0.5, True]
    # True and 1 are equal in Python, but differ in a config.
    assert of_study([True, 1]) == [True, 1]
    assert of_tune([True, 1]) == ["true", "1"]
    assert of_tune("x, y") == ["x", "y"]
    with pytest.raises(fg.ConfigError, match=r"keys\.a\.b: .*numbers, texts, true or false"):
        of_study([[1], [2]])
    # A study may have a key with one value. `tune` refuses it, because there is nothing to choose
    # from.
    assert of_study(["x"]) == ["x"]
    with pytest.raises(fg.ConfigError, match=r"vary: a\.b: .* expected two or more values"):
        of_tune("x")


def test_sizes_double_where_they_are_a_text() -> None:
    random = Random(1)
    drawn = Counter(ranges.draw(of_study("4KiB..100KiB"), random) for _ in range(1000))
    assert sorted(drawn) == [4096 << step for step in range(5)]
    # Each of five values is as likely: the counts are within five standard deviations.
    assert all(abs(count - 200) < 5 * (1000 * 0.2 * 0.8) ** 0.5 for count in drawn.values())


def test_a_search_of_a_study_takes_every_form(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    keys = {
        "capacity.spare_factor": "0.1..0.4:log",
        "mapping.cache": "4KiB..16KiB",
        "queue.depth": "1..4",
        "cleaning.victim": ["greedy", "fifo"],
        "trace.reads": {"from": 0.0, "to": 0.5},
    }
    document = {"traces": [TRACE], "optuna": {"trials": 12, "keys": keys}}
    found = fg.study(document | {"set": {"timing": "none"}}, out=tmp_path / "out")
    rows = found.frame()
    assert found.counts()["done"] == rows.height == 12
    assert rows["capacity.spare_factor"].is_between(0.1, 0.4).all()
    assert {*rows["mapping.cache"]} <= {4096, 8192, 16384}
    assert {*rows["queue.depth"]} <= {1, 2, 3, 4}
    assert {*rows["cleaning.victim"]} == {"greedy", "fifo"}
    assert rows["trace.reads"].is_between(0, 0.5).all() and rows["workload.reads"].max() > 0
    # Parsed again, it is the same study.
    again = fg.study(found.head["study"], out=tmp_path / "out", resume=True)
    assert again.frame(["run"]).equals(rows.select("run"))


def test_tune_takes_a_table() -> None:
    pytest.importorskip("optuna")
    found = fg.tune(
        TRACE,
        objective="write_amplification",
        vary={
            "capacity.spare_factor": {"from": 0.1, "to": 0.4},
            "queue.depth": {"from": 1, "to": 4},
        },
        set={"timing": "none"},
        trials=3,
    )
    for one in found.trials:
        assert 0.1 <= float(one.settings["capacity.spare_factor"]) <= 0.4
        assert one.settings["queue.depth"] in ("1", "2", "3", "4")
