"""`floatgate tune`: a known optimum, pruning, refusals before any run, the same answer twice."""

from __future__ import annotations

import html
import json
import re
import runpy
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import docs_reader
import polars as pl
import pytest
from browser import check_drawn
from conftest import Cli

import floatgate as fg
from floatgate.report import write_tuned
from floatgate.simulation import sources
from floatgate.tuning.outcome import front, told
from floatgate.tuning.ranges import ends
from floatgate.tuning.space import asked, config_text, metrics

BENCH = runpy.run_path(str(docs_reader.ROOT / "benches" / "tune.py"))
TEXT = (docs_reader.ROOT / "docs" / "sweeps.md").read_text("utf-8")

TRACE = "uniform:span=8MiB,writes=10k"
SET = {"timing": "none", "start.fill": "random"}
VARY = {"cleaning.victim": "random,fifo,greedy", "capacity.spare_factor": "0.05..0.3"}


@cache
def _tuned(sampler: str = "tpe", seed: int = 1) -> fg.Tuned:
    given: dict[str, Any] = {"trials": 20, "sampler": sampler, "seed": seed, "set": SET}
    return fg.tune(TRACE, objective="write_amplification", vary=VARY, **given)


def test_the_known_optimum_is_found() -> None:
    """The most spare space and greedy cleaning are best for uniform writes, in every closed
    form."""
    found = _tuned()
    (best,), (goal,) = found.best.values or (), found.goals
    assert found.best.settings["cleaning.victim"] in ("greedy", "fifo")
    assert float(found.best.settings["capacity.spare_factor"]) > 0.25
    assert best < 0.4 * goal.default
    assert goal.bound is not None and 1 <= goal.bound < best
    assert best == min(one.values[0] for one in found.trials if one.values)


def test_what_is_worse_than_the_best_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle places data with knowledge of the future but cleans with another policy. Without
    it, short traces of a full drive can have lower write amplification."""
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
    """The best drive for one objective may have less spare space than the best drive for write
    amplification."""
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
    # Blocks are not scaled, and 9 blocks have less spare space than the open units of many streams
    # need.
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
    """A varied key takes names only. A set policy is the same in all trials."""

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
    monkeypatch.setattr("floatgate.tuning.optimizer.find_spec", lambda _: None)
    with pytest.raises(fg.ConfigError, match=r"floatgate\[search\]"):
        fg.tune(TRACE, objective="write_amplification", vary=VARY, set=SET)


def test_metrics_are_those_of_a_comparison() -> None:
    table = fg.compare("uniform:span=4MiB,writes=100", vary={"queue.depth": [1]})
    known = {name for name in table.columns if name in metrics()}
    assert {"trace", "drive", "queue.depth", "warnings"} | known == {*table.columns}
    assert {*metrics()} <= {*table.columns}


def test_values_are_texts_of_a_config() -> None:
    given = {"a.b": "1..8", "a.c": "0.5..8", "a.d": "4KiB..1MiB", "a.e": "x,y", "a.f": [True, 2]}
    axes = asked(["write_amplification"], given, trials=1, seed=1, sampler="tpe", prune=True).axes
    texts = [[config_text(of, end) for end in ends(of)] for of in axes.values()]
    assert texts == [["1", "8"], ["0.5", "8"], ["4096B", "1048576B"], ["x", "y"], ["true", "2"]]


@pytest.mark.parametrize(
    ("given", "value", "text"),
    [
        ("0.05..0.3", 0.123456789, "0.123457"),
        ("0.10000001..0.10000002", 0.100000013, "0.100000013"),
        ("0.1..0.29999996", 0.29999996, "0.29999996"),
    ],
)
def test_a_value_is_not_rounded_out_of_its_range(given: str, value: float, text: str) -> None:
    axes = asked(
        ["write_amplification"], {"a.b": given}, trials=1, seed=1, sampler="tpe", prune=True
    ).axes
    assert config_text(axes["a.b"], value) == text


def test_command_writes_all_and_repeats(cli: Cli, process: Cli, tmp_path: Path) -> None:
    asked = ["tune", TRACE, "--objective", "write_amplification", "--trials", "8", "--seed", "3"]
    asked += ["--vary", "capacity.spare_factor=0.05..0.3", "--set", "timing=none"]
    done = cli(*asked, "--out", "out", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {
        *("best.toml", "tune.json", "trials.parquet", "tune.html", "objective-1.svg"),
    }
    # A process hashes texts with a secret of its own, and finds the same.
    again = process(*asked, "--json")
    assert json.loads(again.stdout) == json.loads((tmp_path / "out" / "tune.json").read_text())
    run = cli("run", TRACE, "--device", "out/best.toml", "--seed", "3", "--json")
    assert json.loads(run.stdout)["write_amplification"] == pytest.approx(
        json.loads(again.stdout)["trials"][json.loads(again.stdout)["front"][0]]["values"][0]
    )


LINES = [f"{10_000 * at},vol,1,Write,{at * 7919 % 500 * 4096},4096,100" for at in range(400)]


def _torn(folder: Path) -> Path:
    """Writes a trace with two unreadable lines."""
    path = folder / "torn.csv"
    lines = [*LINES[:100], "garbage", *LINES[100:300], "worse", *LINES[300:]]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


UNREAD = "2 lines of the trace could not be read, the first: line 101: 'garbage'"
ONE_STREAM = (
    'the placement put every page in one of its 16 streams, as "single" does '
    "(oracle for write_amplification)"
)


def test_what_is_said_of_the_runs_is_said_of_the_search(tmp_path: Path) -> None:
    """The notes cover the drive as given, the best drive and the bound, but no other trials."""
    trace = _torn(tmp_path)
    vary = {"capacity.spare_factor": [0.1, 0.3]}
    given: dict[str, Any] = {"format": "msr", "set": {"timing": "none"}}
    found = fg.tune(trace, objective="write_amplification", vary=vary, trials=8, **given)
    assert found.notes == (UNREAD, ONE_STREAM)
    best = {**given["set"], **found.best.settings}
    shown = {
        "as given": given["set"],
        f"trial {found.best.number}": best,
        "oracle for write_amplification": {**best, "placement.scheme": "oracle"},
    }
    said: dict[str, list[str]] = {}
    for name, drive in shown.items():
        for text in fg.run(trace, format="msr", set=drive).warnings:
            said.setdefault(_kind(text), []).append(name)
    assert {len(runs) for runs in said.values()} == {1, 2, 3}
    assert [_kind(text) for text in found.warnings] == [*said]
    for text, runs in zip(found.warnings, said.values(), strict=True):
        assert text.endswith(f" ({', '.join(runs)})") == (len(runs) < len(shown))


def _kind(text: str) -> str:
    """Returns the beginning of a warning, with N for each number."""
    return re.sub(r"\d+( to \d+)?", "N", text.partition(":")[0])


def test_many_runs_that_a_message_is_about_are_counted() -> None:
    said = {f"trial {at}": [f"{at} of these"] if at else [] for at in range(5)}
    assert told(said) == ("1 to 4 of these (4 of 5 runs)",)
    assert told({"as given": ["so"], "trial 1": ["so", "so"]}) == ("so",)
    assert told({"as given": []}) == ()


def test_command_shows_what_is_said_of_the_runs(cli: Cli, tmp_path: Path) -> None:
    asked = ("tune", _torn(tmp_path), "--objective", "write_amplification", "--trials", "2")
    done = cli(*asked, "--vary", "queue.depth=1,2", "--set", "timing=none", "--out", "out")
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    assert f"note: {UNREAD}" in shown
    assert "warning: write amplification is not that of a drive in long use" in shown
    document = json.loads((tmp_path / "out" / "tune.json").read_text("utf-8"))
    assert document["notes"] == [UNREAD, ONE_STREAM] and document["warnings"]
    page = html.unescape((tmp_path / "out" / "tune.html").read_text("utf-8"))
    for text in (*document["warnings"], *document["notes"]):
        assert text in page


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
    check_drawn(browser, page, {"pareto-0": 5})


def test_what_is_out_of_range_is_shown_as_it_was_given() -> None:
    given: dict[str, Any] = {"objective": "write_amplification", "vary": VARY}
    with pytest.raises(fg.ConfigError, match=r"trials: 0 given; expected .* 1$"):
        fg.tune(TRACE, trials=0, **given)
    with pytest.raises(fg.ConfigError, match=r"seed: -1 given; expected .* 0$"):
        fg.tune(TRACE, seed=-1, **given)


CAPTURES = {
    "pgbench": ("capture-pgbench-ext4-656k.csv.zst", "3.164"),
    "RocksDB": ("capture-rocksdb-ext4-905k.csv.zst", "2.06"),
}
"""The file of each capture, and the page's write amplification for the drive as given."""


def _table() -> dict[tuple[str, str], list[str]]:
    """Returns the cells of the page's table of random search, by trace and sampler."""
    found: dict[tuple[str, str], list[str]] = {}
    trace = ""
    rows = re.findall(r"^\| (.*), `(tpe|random)` \| (.*) \|$", TEXT, re.MULTILINE)
    for name, sampler, cells in rows:
        trace = trace if name == "the same" else name.partition(",")[0]
        found[trace, sampler] = cells.split(" | ")
    return found


def test_what_the_page_says_of_its_table() -> None:
    rows = _table()
    values = {row: [*map(float, cells[:5])] for row, cells in rows.items()}
    middles = {row: median(found) for row, found in values.items()}
    wins = {}
    for trace in CAPTURES:
        tpe, chance = (trace, "tpe"), (trace, "random")
        for row in (tpe, chance):
            is_best = middles[row] == min(middles[tpe], middles[chance])
            told = f"{middles[row]:.3f}"
            assert rows[row][5] == (f"**{told}**" if is_best else told)
        pairs = [*zip(values[tpe], values[chance], strict=True)]
        wins[trace] = [sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)]
    assert wins["pgbench"] == [4, 1] and "better in four of five searches, and by 5 %" in TEXT
    assert round(1 - middles["pgbench", "tpe"] / middles["pgbench", "random"], 2) == 0.05
    assert wins["RocksDB"] == [0, 1] and "four searches end alike, in one chance finds" in TEXT
    named = ", ".join(f"{trace} has {given}" for trace, (_, given) in CAPTURES.items())
    assert named.replace(", RocksDB has", " and RocksDB") in TEXT
    for limit in ("LIMIT", "AGED_LIMIT"):
        assert f"first {BENCH[limit]:,} requests" in TEXT


@pytest.mark.long
@pytest.mark.parametrize("name", CAPTURES)
def test_the_searches_of_the_page_find_what_it_says(name: str) -> None:
    """Repeats the whole table, with the benchmark's code."""
    file, given = CAPTURES[name]
    path = docs_reader.SHARED / file
    if not path.exists():
        pytest.skip(f"{file} is no part of the repository, and not in {docs_reader.SHARED}")
    kind = {"is_aged": name == "RocksDB"}
    trace = BENCH["read"](path, **kind)
    for sampler in BENCH["SAMPLERS"]:
        made = [BENCH["search"](trace, sampler=sampler, seed=at, **kind) for at in BENCH["SEEDS"]]
        found = [(one.best.values or ())[0] for one in made]
        pruned = sum(one.state == "pruned" for each in made for one in each.trials)
        cells = [cell.strip("*") for cell in _table()[name, sampler]]
        assert cells == [*(f"{value:.3f}" for value in (*found, median(found))), str(pruned)]
        assert {f"{one.goals[0].default:.{len(given) - 2}f}" for one in made} == {given}
