"""Closed forms on plots: drawn where they are valid, and nowhere else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import floatgate as fg
from floatgate import models
from floatgate.report import predictions, write_pictures
from floatgate.report.figures import figures
from floatgate.report.runs import label_runs

SPAN = "span=16MiB,writes=20k"


def _result(spec: str = f"uniform:{SPAN}", **settings: Any) -> dict[str, Any]:
    keys = {"start.fill": "random"} | {key.replace("__", "."): v for key, v in settings.items()}
    return fg.run(spec, set=keys).to_dict()


def predicted(document: dict[str, Any]) -> predictions.Predicted | None:
    return predictions.predicted(fg.Result.from_dict(document))


@pytest.fixture(scope="module")
def uniform() -> dict[str, Any]:
    return _result()


def _figure(key: str, results: list[dict[str, Any]]) -> Any:
    runs = label_runs([fg.Result.from_dict(result) for result in results])
    (found,) = (figure for figure in figures(runs) if figure.key == key)
    return found


def _layers(figure: Any, mark: str) -> list[dict[str, Any]]:
    """Returns the layers of the figure's first plot with this mark, each with its rows under
    `values`."""
    spec = figure.drawings[0].chart.to_dict()
    found = []
    for layer in spec.get("layer", [spec]):
        if layer["mark"]["type"] == mark:
            data = layer.get("data") or spec["data"]
            values = data.get("values") or spec["datasets"][data["name"]]
            rows = json.loads(values) if isinstance(values, str) else values
            found.append(layer | {"values": rows})
    return found


@pytest.mark.parametrize(
    ("spec", "victim", "hot", "law"),
    [
        (f"uniform:{SPAN}", "greedy", None, "greedy"),
        (f"uniform:{SPAN},reads=0.5,size=4096", "fifo", None, "fifo"),
        (f"hotcold:r=0.8,f=0.2,{SPAN}", "fifo", (0.8, 0.2), "fifo, one log"),
        (f"hotcold: {SPAN}", "fifo", (0.9, 0.1), "fifo, one log"),
    ],
)
def test_the_law_is_that_of_predict(
    spec: str, victim: str, hot: tuple[float, float] | None, law: str
) -> None:
    result = _result(spec, cleaning__victim=victim)
    drive = result["drive"]
    rows = models.predict(
        spare_factor=drive["spare_factor"], pages_per_block=drive["pages_per_unit"], hot=hot
    ).rows
    (expected,) = (row for row in rows if row.policy == law)
    found = predicted(result)
    assert found is not None
    assert (found.value, found.law) == (expected.write_amplification, law)
    assert found.source == expected.source


def test_larger_pages_need_larger_writes() -> None:
    assert predicted(_result(f"uniform:{SPAN},size=8KiB", flash__page="8KiB")) is not None
    assert predicted(_result(f"uniform:{SPAN}", flash__page="8KiB")) is None


@pytest.mark.parametrize(
    "spec",
    [
        f"uniform:{SPAN},size=8KiB",
        f"uniform:{SPAN},aligned=false",
        f"uniform:{SPAN},trim=0.1",
        f"zipf:{SPAN}",
        f"sequential:{SPAN}",
        f"hotcold:{SPAN}",
        "fitted:hot_pages=100,cold_pages=400,hot_writes=900,cold_writes=500,length=1,writes=1k",
    ],
)
def test_no_law_for_other_traffic(spec: str) -> None:
    assert predicted(_result(spec)) is None


@pytest.mark.parametrize(
    "settings",
    [
        {"start__fill": "sequential"},
        {"start__fill": "none"},
        {"mapping__scheme": "dftl"},
        {"flash__blocks": 400},
    ],
)
def test_no_law_for_other_drives(settings: dict[str, Any]) -> None:
    assert predicted(_result(**settings)) is None


def test_no_law_for_what_is_no_generator(uniform: dict[str, Any]) -> None:
    for name in ("uniform.parquet", "uniform", "uniform:x", "financial1", ""):
        result = copy.deepcopy(uniform)
        result["workload"]["name"] = name
        assert predicted(result) is None, name
    result = copy.deepcopy(uniform)
    del result["config"]["cleaning"]
    assert predicted(result) is None


def test_bars_have_a_rule_with_a_label_where_it_holds(uniform: dict[str, Any]) -> None:
    zipf = _result(f"zipf:{SPAN}")
    figure = _figure("write-amplification", [uniform, zipf])
    law = predicted(uniform)
    assert law is not None
    (rule,) = _layers(figure, "tick")
    assert [row["value"] for row in rule["values"]] == [pytest.approx(law.value, rel=1e-7)]
    assert rule["encoding"]["x"]["field"] == "value"
    texts = [row.get("label") for layer in _layers(figure, "text") for row in layer["values"]]
    assert f"predicted {law.value:.3f} (greedy)" in texts
    table = figure.table
    assert table.columns[-2:] == ["Predicted", "Closed form"]
    assert [row[-2].order for row in table.rows] == [law.value, None]
    assert "Bux" in table.rows[0][-1].text
    assert "closed form" in figure.caption and "greedy" in figure.drawings[0].description


def test_without_a_law_the_figure_is_as_before() -> None:
    figure = _figure("write-amplification", [_result(f"zipf:{SPAN}")])
    assert _layers(figure, "tick") == []
    assert figure.table.columns[-1] == "Sum" and "closed form" not in figure.caption


def test_the_axis_reaches_a_prediction_above_the_bars(uniform: dict[str, Any]) -> None:
    result = copy.deepcopy(uniform)
    result["write_amplification"] = 1.2
    figure = _figure("write-amplification", [result])
    (bars,) = _layers(figure, "bar")
    law = predicted(result)
    assert law is not None and bars["encoding"]["x"]["scale"]["domain"][1] > law.value


def test_a_sweep_has_a_dashed_line(tmp_path: Any) -> None:
    spares = (0.05, 0.1, 0.2)
    results = [_result(capacity__spare_factor=spare) for spare in spares]
    figure = _figure("sweep", results)
    (dashed,) = (layer for layer in _layers(figure, "line") if "strokeDash" in layer["mark"])
    laws = [predicted(result) for result in results]
    expected = [law.value for law in laws if law]
    assert [row["value"] for row in dashed["values"]] == pytest.approx(expected, rel=1e-7)
    assert [row["at"] for row in dashed["values"]] == list(spares)
    pictures = write_pictures(list(map(fg.Result.from_dict, results)), tmp_path, "svg")
    drawn = {path.name for path in pictures}
    assert {"sweep.svg", "write-amplification.svg"} <= drawn


@pytest.mark.parametrize("off", [-0.019, 0.0, 0.019])
def test_a_span_of_nearly_the_drive_has_a_law(uniform: dict[str, Any], off: float) -> None:
    assert predicted(_spanning(uniform, 1 + off)) is not None


@pytest.mark.parametrize("off", [-0.15, -0.021, 0.021, 0.15])
def test_a_span_of_less_or_more_has_none(uniform: dict[str, Any], off: float) -> None:
    assert predicted(_spanning(uniform, 1 + off)) is None


def _spanning(result: dict[str, Any], share: float) -> dict[str, Any]:
    """Returns the result with a workload that spans this share of the drive's capacity."""
    changed = copy.deepcopy(result)
    span = round(changed["drive"]["logical_bytes"] * share)
    changed["workload"]["name"] = f"uniform:span={span},writes=20k"
    return changed


@pytest.mark.parametrize(
    ("path", "other"),
    [
        (("config", "ftl", "scheme"), "fast"),
        (("config", "placement", "scheme"), "dac"),
        (("config", "buffer", "scheme"), "lru"),
        (("config", "host", "scheme"), "shrd"),
        (("config", "cleaning", "wear_leveling"), "static"),
        (("config", "cleaning", "victim"), "random"),
        (("config", "start", "fill"), "sequential"),
        (("drive", "translation_pages"), 1),
        (("drive", "page_bytes"), 8192),
        (("workload", "trims"), 1),
        (("workload", "trimmed_pages"), 1),
    ],
)
def test_every_assumption_counts(
    uniform: dict[str, Any], path: tuple[str, ...], other: object
) -> None:
    changed = copy.deepcopy(uniform)
    *way, last = path
    table = changed
    for name in way:
        table = table[name]
    table[last] = other
    assert predicted(uniform) is not None
    assert predicted(changed) is None


@pytest.mark.parametrize("fill", ["random", "steady"])
def test_a_warm_drive_has_a_law(uniform: dict[str, Any], fill: str) -> None:
    changed = copy.deepcopy(uniform)
    changed["config"]["start"]["fill"] = fill
    changed["config"]["cleaning"]["wear_leveling"] = "none"
    assert predicted(changed) == predicted(uniform)
