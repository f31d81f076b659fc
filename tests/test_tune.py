"""`floatgate tune`: a known optimum, pruning, refusals before any run, the same answer twice."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import Seen, browser
from conftest import Cli

import floatgate as fg
from floatgate import sources
from floatgate.ranges import ends
from floatgate.report import write_tuned
from floatgate.tuning.outcome import front
from floatgate.tuning.space import asked, config_text, metrics

__all__ = ["browser"]

TRACE = "uniform:span=8MiB,writes=10k"
SET = {"timing": "none", "start.fill": "random"}
VARY = {"cleaning.victim": "random,fifo,greedy", "capacity.spare_factor": "0.05..0.3"}


@cache
def _tuned(sampler: str = "tpe", seed: int = 1) -> fg.Tuned:
    given: dict[str, Any] = {"trials": 20, "sampler": sampler, "seed": seed, "set": SET}
    return fg.tune(TRACE, objective="write_amplification", vary=VARY, **given)


def test_the_known_optimum_is_found() -> None:
    """The most spare and greedy cleaning are best for uniform writes, by every closed form."""
    found = _tuned()
    (best,), (goal,) = found.best.values or (), found.goals
    assert found.best.settings["cleaning.victim"] in ("greedy", "fifo")
    assert float(found.best.settings["capacity.spare_factor"]) > 0.25
    assert best < 0.4 * goal.default
    assert goal.bound is not None and 1 <= goal.bound < best
    assert best == min(one.values[0] for one in found.trials if one.values)


def test_what_is_worse_than_the_best_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle places by the future and cleans by another's policy: short traces of a full drive
    have come out better without it."""
    given: dict[str, Any] = {"set": SET | {"capacity.spare_factor": 0.1}, "trials": 6}
    placements = {"placement.scheme": "single,sepbit,dac"}
    skewed = "hotcold:span=8MiB,r=0.9,f=0.1,writes=2k"
    monkeypatch.setattr("floatgate.tuning.search.ORACLE", {"placement.scheme": "single"})
    found = fg.tune(skewed, objective="write_amplification", vary=placements, **given)
    worse = fg.run(skewed, set={**given["set"], "placement.scheme": "single"}).write_amplification
    assert worse > found.best.values[0]  # type: ignore[index]
    assert found.goals[0].bound is None
    assert found.goals[0].bound_is.endswith(f"on the best drive is no better: {worse:.4g}")


def test_each_goal_is_bounded_on_its_own_best_drive() -> None:
    """The drive that is best in another objective may have less spare than that which is best in
    write amplification."""
    found = fg.tune(
        TRACE,
        objective=["max:flash.programs.gc", "write_amplification"],
        vary={"capacity.spare_factor": [0.05, 0.3]},
        set=SET,
        trials=6,
        prune=False,
    )
    least = min(one.values[1] for one in found.trials if one.values)
    most = {"capacity.spare_factor": 0.3, "placement.scheme": "oracle"}
    bound = fg.run(TRACE, set=SET | most).write_amplification
    assert found.goals[1].bound == bound < least


def test_bad_trials_are_pruned_and_reported() -> None:
    found = _tuned()
    pruned = [one for one in found.trials if one.state == "pruned"]
    assert pruned and found.early_requests == 2000
    for one in pruned:
        assert one.values is None and one.early is not None
        assert "after 20% of the requests worse than the median" in one.reason
    table = found.table
    assert table.filter(state="pruned")["write_amplification"].null_count() == len(pruned)
    assert table["number"].to_list() == list(range(20))
    whole = fg.tune(
        TRACE, objective="write_amplification", vary=VARY, set=SET, trials=6, prune=False
    )
    assert {one.state for one in whole.trials} == {"complete"}


def test_equal_seeds_give_equal_answers() -> None:
    again = fg.tune(TRACE, objective="write_amplification", vary=VARY, set=SET, trials=20)
    assert again == _tuned()
    assert _tuned(seed=2).trials != again.trials
    assert _tuned("random").trials != again.trials


def test_the_answer_is_a_drive_that_has_these_numbers(tmp_path: Path) -> None:
    found = _tuned()
    write_tuned(found, tmp_path)
    text = (tmp_path / "best.toml").read_text("utf-8")
    assert text.startswith("# floatgate tune: write_amplification")
    again = fg.run(TRACE, device=tmp_path / "best.toml")
    assert again.write_amplification == (found.best.values or ())[0]
    assert pl.read_parquet(tmp_path / "trials.parquet").equals(found.table)


def test_several_objectives_have_a_front() -> None:
    found = fg.tune(
        TRACE,
        objective=["write_amplification", "max:wear.erases_min"],
        vary={"capacity.spare_factor": "0.05..0.3", "mapping.cache": "4KiB..64KiB"},
        set=SET,
        trials=8,
    )
    complete = {one.number: one.values for one in found.trials if one.values}
    for at in found.front:
        wa, erases = complete[at]
        assert not any(a < wa and b > erases for a, b in complete.values())
    assert len(found.configs) == len(found.front) >= 1
    sizes = {one.settings["mapping.cache"] for one in found.trials}
    assert sizes <= {f"{4096 << step}B" for step in range(5)}
    assert found.goals[1].bound is None and "no bound" in found.goals[1].bound_is


def test_the_front_is_what_none_is_better_than() -> None:
    values = {0: (1.0, 5.0), 1: (2.0, 2.0), 2: (2.0, 3.0), 3: (5.0, 1.0), 4: (1.0, 5.0)}
    assert front(values) == [0, 1, 3]
    assert front({7: (3.0,), 2: (1.0,), 5: (1.0,)}) == [2]


def test_a_config_that_no_drive_has_is_refused_and_reported() -> None:
    # Blocks as they are, less spare than the open units of many streams take.
    found = fg.tune(
        "uniform:span=2MiB,writes=2k",
        objective="write_amplification",
        vary={"oracle.streams": "2..64", "flash.blocks": "9,1024"},
        set={**SET, "placement.scheme": "oracle"},
        device={"preset": "classic", "flash": {"blocks": 1024}},
        trials=6,
    )
    states = {one.state for one in found.trials}
    assert states == {"complete", "refused"}
    for one in found.trials:
        assert (one.settings["flash.blocks"] == "9") == (one.state == "refused")
        assert bool(one.reason) == (one.state != "complete")


@pytest.mark.parametrize(
    ("objective", "vary", "words"),
    [
        ("write_amplifcation", VARY, "objective: 'write_amplifcation' given; expected"),
        ("fast:write_amplification", VARY, "min:METRIC or max:METRIC"),
        ([], VARY, "objectives"),
        (["wear.erases_max", "max:wear.erases_max"], VARY, "given twice"),
        ("write_amplification", {}, "axes"),
        ("write_amplification", {"cleaning.victims": "a,b"}, "cleaning.victims"),
        ("write_amplification", {"cleaning.victim": "greedy,gredy"}, "gredy"),
        ("write_amplification", {"cleaning.victim": "greedy"}, "two or more values"),
        ("write_amplification", {"capacity.spare_factor": "0.3..0.05"}, "from less to more"),
        ("write_amplification", {"capacity.spare_factor": "0.3..1.5"}, "spare_factor = 1.5"),
        ("write_amplification", {"capacity.spare_factor": "0..0.2:log"}, "logarithmic"),
        ("write_amplification", {"mapping.cache": "small..large"}, "numbers or sizes"),
        ("write_amplification", {"dac.regions": "2..8"}, "dac, which no run uses"),
        ("write_amplification", {"timing": "none,scheduled"}, "also set"),
    ],
)
def test_bad_input_is_refused_before_any_run(
    monkeypatch: pytest.MonkeyPatch, objective: Any, vary: Any, words: str
) -> None:
    def opened(*_: object) -> None:
        raise AssertionError("the trace was opened")

    monkeypatch.setattr(sources, "open_source", opened)
    with pytest.raises(fg.ConfigError) as error:
        fg.tune(TRACE, objective=objective, vary=vary, set=SET)
    assert words in str(error.value)


def test_a_policy_itself_may_be_set() -> None:
    """What varies has names only; what is set is the same in all trials."""

    class Apart(fg.Placement):
        streams = 2

        def stream(self, write: fg.HostWrite) -> int:
            return write.lpn % 2

    mine = {**SET, "placement.scheme": Apart()}
    vary = {"cleaning.victim": ["greedy", "fifo"]}
    found = fg.tune(TRACE, objective="write_amplification", vary=vary, set=mine, trials=4)
    alone = fg.run(TRACE, set=mine | found.best.settings)
    assert found.best.values == (alone.write_amplification,)
    assert 'scheme = "python:Apart"' in found.configs[0]


def test_an_objective_that_no_run_has_ends_the_search() -> None:
    with pytest.raises(fg.ConfigError, match=r"latency\.read\.p99_us does not exist"):
        fg.tune(TRACE, objective="latency.read.p99_us", vary=VARY, set=SET)


def test_without_optuna_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floatgate.optimizer.find_spec", lambda _: None)
    with pytest.raises(fg.ConfigError, match=r"floatgate\[search\]"):
        fg.tune(TRACE, objective="write_amplification", vary=VARY, set=SET)


def test_metrics_are_those_of_a_comparison() -> None:
    table = fg.compare("uniform:span=4MiB,writes=100", vary={"queue.depth": [1]})
    known = {name for name in table.columns if name in metrics()}
    assert {"trace", "queue.depth", "warnings"} | known == {*table.columns}
    assert {*metrics()} <= {*table.columns}


def test_values_are_texts_of_a_config() -> None:
    given = {"a.b": "1..8", "a.c": "0.5..8", "a.d": "4KiB..1MiB", "a.e": "x,y", "a.f": [True, 2]}
    axes = asked(["write_amplification"], given, trials=1, seed=1, sampler="tpe", prune=True).axes
    texts = [[config_text(of, end) for end in ends(of)] for of in axes.values()]
    assert texts == [["1", "8"], ["0.5", "8"], ["4096B", "1048576B"], ["x", "y"], ["true", "2"]]


def test_command_writes_all_and_repeats(cli: Cli, tmp_path: Path) -> None:
    asked = ["tune", TRACE, "--objective", "write_amplification", "--trials", "8", "--seed", "3"]
    asked += ["--vary", "capacity.spare_factor=0.05..0.3", "--set", "timing=none"]
    done = cli(*asked, "--out", "out", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {
        *("best.toml", "tune.json", "trials.parquet", "tune.html", "objective-1.svg"),
    }
    again = cli(*asked, "--json")
    assert json.loads(again.stdout) == json.loads((tmp_path / "out" / "tune.json").read_text())
    run = cli("run", TRACE, "--device", "out/best.toml", "--seed", "3", "--json")
    assert json.loads(run.stdout)["write_amplification"] == pytest.approx(
        json.loads(again.stdout)["trials"][json.loads(again.stdout)["front"][0]]["values"][0]
    )


def test_command_refuses_what_is_wrong(cli: Cli, tmp_path: Path) -> None:
    goal = ("--objective", "write_amplification")
    for arguments, words in (
        ((TRACE,), "--objective"),
        ((TRACE, *goal), "--vary"),
        ((TRACE, *goal, "--vary", "flash.page"), "KEY=VALUE"),
        ((TRACE, *goal, "--vary", "no.key=1..2"), "no.key"),
        ((TRACE, *goal, "--vary", "queue.depth=1..2", "--trials", "0"), "trials"),
    ):
        done = cli("tune", *arguments, "--out", "out")
        assert done.returncode == 2
        assert words in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_help_has_an_example(cli: Cli) -> None:
    done = cli("tune", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Example: floatgate tune" in done.stdout


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    found = fg.tune(
        TRACE,
        objective=["write_amplification", "wear.erases_max"],
        vary=VARY,
        set=SET,
        trials=6,
    )
    page, *pictures = write_tuned(found, tmp_path)
    assert [path.name for path in pictures] == ["pareto.svg", "objective-1.svg", "objective-2.svg"]
    with Seen(browser, page) as seen:
        assert seen.complaints == []
        assert seen.page.locator("#pareto-0 svg path").count() > 5
    with Seen(browser, page, width=360) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_out_of_range_is_shown_as_it_was_given() -> None:
    given: dict[str, Any] = {"objective": "write_amplification", "vary": VARY}
    with pytest.raises(fg.ConfigError, match=r"trials: 0 given; expected .* 1$"):
        fg.tune(TRACE, trials=0, **given)
    with pytest.raises(fg.ConfigError, match=r"seed: -1 given; expected .* 0$"):
        fg.tune(TRACE, seed=-1, **given)
