"""Results in a notebook: a line, a small table, the plots of their page, and the page itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate as fg

LOAD = "hotcold:span=4MiB,writes=3k"


def _tuned() -> fg.Tuned:
    pytest.importorskip("optuna")
    vary = {"capacity.spare_factor": "0.05..0.3"}
    goal = "write_amplification"
    return fg.tune(LOAD, objective=goal, trials=3, vary=vary, set={"timing": "none"})


KINDS: dict[str, tuple[Any, str, str]] = {
    "Prediction": (lambda: fg.predict(hot=(0.9, 0.1)), "greedy", "write_amplification"),
    "Hotness": (lambda: fg.hotness(LOAD, gb="4MB"), "Hot pages", "skew"),
    "Advice": (lambda: fg.advise(LOAD), "Question", "map"),
    "Tuned": (_tuned, "capacity.spare_factor", "objective_1"),
    "Preconditioned": (
        lambda: fg.precondition(workload="uniform:span=32MiB", repeat=1, budget=16),
        "sequential fill",
        "distance",
    ),
    "DataSheet": (
        lambda: fg.measure_device("classic", quick=True),
        "random write",
        "iops",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_a_line_a_table_and_plots(kind: str) -> None:
    make, cell, plot = KINDS[kind]
    found = make()
    assert type(found).__name__ == kind
    line = repr(found)
    assert line.startswith(f"<{kind} ") and line.endswith(">")
    assert len(line) < 200 and "\n" not in line
    html = found._repr_html_()
    assert html.startswith("<table>") and cell in html and len(html) < 10_000
    assert plot in dir(found.plot)
    for name in dir(found.plot):
        spec = getattr(found.plot, name).to_dict()
        assert spec["concat"] and spec["config"]["range"]["category"]
    with pytest.raises(AttributeError, match=f"pie given; expected one of .*{plot}"):
        _ = found.plot.pie


def test_runs_have_plots_and_a_report(tmp_path: Path) -> None:
    run = fg.run(LOAD)
    page = run.report(tmp_path / "run.html", title="Mine")
    assert '<h1 id="summary">Mine</h1>' in page.read_text("utf-8")
    assert run.plot.write_amplification.to_dict()["title"]["text"] == "Write amplification by cause"
    vary = {"mapping.scheme": ["ideal", "dftl"]}
    runs = fg.compare_results(LOAD, vary=vary, seeds=2, set={"mapping.cache": "1KiB"})
    text = runs.report(str(tmp_path / "c.html"), baseline={"mapping.scheme": "dftl"}).read_text()
    assert "Differences to dftl, in per cent" in text
    assert "write_amplification" in dir(runs.plot)
    html = runs._repr_html_()
    assert "Means of 2 seeds" in html and "\N{PLUS-MINUS SIGN}" in html
    with pytest.raises(fg.ConfigError, match=r"baseline: queue\.depth does not vary"):
        runs.report(tmp_path / "d.html", baseline={"queue.depth": 1})
    assert not (tmp_path / "d.html").exists()
