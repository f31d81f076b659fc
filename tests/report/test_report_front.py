"""Parts of the first screen: pills, units, columns left out, axes, rows."""

from __future__ import annotations

from typing import Any

import pytest
import report_samples as samples

import floatgate as fg
from floatgate.report import palette, pills, scales, theme
from floatgate.report.constant import without_constant
from floatgate.report.front import Front, front
from floatgate.report.pills import AMBER, GOOD, PLAIN, RED
from floatgate.report.runs import combined_runs, label_runs
from floatgate.report.told import Told, spaced
from floatgate.report.units import LIVES, time_unit, units_of
from floatgate.results.causes import BLAME, CAUSES
from floatgate.results.tables import METRICS, Cell, Table
from floatgate.results.values import ABSENT

UNSTEADY = "not steady: write amplification was 1, 2, 3 and 4 in the quarters of the writes"


def _front(results: list[Any], title: str | None = None) -> Front:
    combined = combined_runs(results)
    return front(results, label_runs(results), combined, units_of(results), None, title)


def _result(**changes: Any) -> Any:
    document = samples.sample()
    document["write_amplification_last_quarter"] = document["write_amplification"]
    for name, value in changes.items():
        document[name] = document[name] | value if isinstance(value, dict) else value
    (result,) = samples.typed([document])
    return result


def test_a_pill_has_the_level_of_its_result() -> None:
    factor = samples.sample()["write_amplification"]
    assert pills.steady(_result()) == GOOD
    near = {"warnings": [UNSTEADY], "write_amplification_last_quarter": 1.05 * factor}
    assert pills.steady(_result(**near)) == AMBER
    far = near | {"write_amplification_last_quarter": 1.3 * factor}
    assert pills.steady(_result(**far)) == RED
    assert pills.steady(_result(warnings=["cleaning never ran: write amplification is"])) == RED
    assert pills.steady(_result(warnings=["the start state did not settle within"])) == AMBER
    assert pills.steady(_result(workload={"write_pages": 0})) == PLAIN
    for units, level in ((8192, GOOD), (127, AMBER), (31, RED)):
        assert pills.enough_units(_result(drive={"units": units})) == level
    assert pills.enough_units(_result(drive={"units_added": 2})) == AMBER
    assert pills.valid_latency(_result()) == GOOD
    backlog = "the drive does not keep up with the arrivals: 80 % of the latency is waiting"
    assert pills.valid_latency(_result(notes=[backlog])) == RED
    assert pills.valid_latency(samples.typed([samples.bare()])[0]) == PLAIN
    assert pills.doubtful(_result(**far)) and not pills.doubtful(_result(**near))
    assert pills.doubtful(_result(warnings=["the drive became read-only, as its spare"]))


def test_each_warning_is_behind_one_pill() -> None:
    texts = [UNSTEADY, "only 10 erase units: with fewer than 128 cleaning has few", "another one"]
    documents = [samples.sample(), samples.sample(scheme="tpftl")]
    documents[1]["warnings"] = texts
    documents[1]["drive"]["units"] = 10
    found = pills.pills(samples.runs(documents))
    assert [(pill.level, pill.text) for pill in found] == [
        (RED, "not steady, 1 of 2 runs"),
        (RED, "10 and 8\N{NARROW NO-BREAK SPACE}192 erase units, 1 of 2 runs"),
        (GOOD, "latency valid, closed loop"),
        (AMBER, "1 other warning"),
    ]
    behind = [told.text for pill in found for told in pill.warnings]
    assert sorted(behind) == sorted(texts)
    assert len({pill.symbol for pill in found}) == 3


def test_the_engine_words_its_warnings_as_the_pills_know_them() -> None:
    fresh = fg.run("uniform:span=2MiB,writes=100", set={"start.fill": "none"})
    steady, units, times = pills.pills(label_runs([fresh]))[:3]
    assert steady.level == RED and "never ran" in steady.warnings[0].text
    assert units.level in (AMBER, RED) and "erase units: with fewer" in units.warnings[0].text
    assert times.level == GOOD


def test_times_have_one_unit_that_shows_the_fastest_and_the_slowest() -> None:
    assert time_unit([50.0], [900.0]) == ("µs", 1.0)
    assert time_unit([50.0, 0.0, None], [2500.0]) == ("ms", 1e3)
    assert time_unit([5.0], [2500.0]) == ("µs", 1.0)
    assert time_unit([20e3], [9e6]) == ("s", 1e6)
    assert time_unit([], []) == ("µs", 1.0)
    units = units_of([_result(lifetime={"host_bytes": 2.5e12})])
    assert units.life == ("TB", 1e12)
    assert units.of(METRICS["p99_us"]).units == (units.time,)
    assert units.of(METRICS["lifetime_bytes"]).units == (units.life,)
    assert units.of(METRICS["iops"]) == METRICS["iops"]
    assert dict(LIVES)["GB"] == 1e9


def test_columns_in_which_nothing_differs_are_left_out_with_the_reason() -> None:
    titles = ["Run", "WA", "Data WA", "Map hits", "Mean", "Erases"]
    rows = [["a", "1.2", "1.2", "100%", ABSENT, "5"], ["b", "1.3", "1.3", "100%", ABSENT, "6"]]
    table = Table("T", titles, [[Cell(text, text) for text in row] for row in rows])
    kept, left = without_constant(table)
    assert kept.columns == ["Run", "WA", "Erases"] and kept.text_columns == {0}
    assert [cell.text for cell in kept.rows[1]] == ["b", "1.3", "6"]
    assert left == [
        ("Data WA", "equal to WA"),
        ("Map hits", "all 100%"),
        ("Mean", "not known of any run"),
    ]
    assert without_constant(table, frozenset({"Map hits"}))[0].columns[2] == "Map hits"
    single, left = without_constant(Table("T", titles, table.rows[:1]))
    assert single.columns == ["Run", "WA", "Map hits", "Erases"] or len(single.columns) == 5
    assert ("Mean", "not known of any run") in left


def test_an_axis_begins_at_nought_and_has_round_ticks() -> None:
    axis = scales.linear(9.46)
    assert [text for _, text in axis.ticks] == ["0", "2", "4", "6", "8"]
    assert axis.at(0) == 0 and 95 < axis.at(9.46) < 100
    wide = scales.of_times([0.05, 120.0])
    assert [text for _, text in wide.ticks] == ["0.1", "1", "10", "100"]
    assert 0 < wide.at(0.05) < wide.at(1.0) < wide.at(120.0) < 100 and wide.at(0.0) == 0
    assert scales.of_times([20.0, 120.0]).ticks[0] == (0.0, "0")
    assert scales.of_times([0.0]).ticks and scales.linear(0.0).ticks


def test_a_row_has_its_bar_its_times_and_its_numbers() -> None:
    results = samples.typed([samples.sample(), samples.sample(scheme="tpftl")])
    screen = _front(results)
    assert screen.title == "mapping.scheme: dftl and tpftl"
    assert screen.about[:2] == ["financial1", screen.about[1]] and "QD 32 closed" in screen.about
    assert [row.name for row in screen.rows] == ["dftl", "tpftl"]
    assert screen.columns == ["WA", "against dftl", "p50, ms", "p99, ms", "IOPS", "TBW, TB"] or (
        screen.columns[:2] == ["WA", "against dftl"]
    )
    assert screen.amplification is not None and screen.times is not None
    for row, result in zip(screen.rows, results, strict=True):
        end = screen.amplification.at(result.write_amplification)
        assert row.bar[0].start == 0
        assert row.bar[-1].start + row.bar[-1].width == pytest.approx(end)
        base = dict(zip(("µs", "ms", "s"), (1, 1e3, 1e6), strict=True))[screen.unit]
        expected = [result.latency.all.p50_us / base, result.latency.all.p99_us / base]
        assert [dot.at for dot in row.times] == pytest.approx([*map(screen.times.at, expected)])
        assert row.whisker is None and row.seeds == []
    change = results[1].write_amplification / results[0].write_amplification - 1
    assert screen.rows[0].cells[1].text == ABSENT
    assert screen.rows[1].cells[1].order == pytest.approx(100 * change)
    assert _front(results, "Mine").title == "Mine"


def test_a_doubtful_row_has_no_third_digit() -> None:
    documents = [samples.sample(), samples.sample(scheme="tpftl")]
    documents[1]["warnings"] = ["cleaning never ran: write amplification is that of"]
    screen = _front(samples.typed(documents))
    assert [row.doubtful for row in screen.rows] == [False, True]
    sure, rough = (row.cells[0].text for row in screen.rows)
    assert (len(sure), len(rough)) == (4, 3)


def test_seeds_are_one_row_with_whiskers_and_dots() -> None:
    schemes = ("dftl", "tpftl")
    documents = [samples.sample(scheme=s, seed=seed) for s in schemes for seed in (1, 2, 3)]
    screen = _front(samples.typed(documents))
    assert [row.name for row in screen.rows] == [*schemes] and screen.seeds == 3
    assert screen.columns[0] == "WA ± 95 %" and "±" in screen.rows[0].cells[0].text
    for row in screen.rows:
        assert row.whisker is not None and len(row.seeds) == 3
        assert row.whisker.low < row.whisker.at < row.whisker.high


def test_rows_are_compared_with_the_first_of_their_trace() -> None:
    documents = [
        samples.sample(trace, scheme)
        for trace in ("financial1", "msr_prxy0")
        for scheme in ("dftl", "tpftl")
    ]
    screen = _front(samples.typed(documents))
    assert [row.cells[1].text == ABSENT for row in screen.rows] == [True, False, True, False]
    assert screen.columns[1] == "against baseline"
    traces = _front(samples.typed(documents[::2]))
    assert traces.title == "trace: financial1 and msr_prxy0"
    assert [row.cells[1].text == ABSENT for row in traces.rows] == [True, False]


@pytest.mark.parametrize("documents", [[{}], [{}, {}], [samples.bare()], [samples.hostile()]])
def test_a_screen_of_missing_numbers_is_still_one(documents: list[dict[str, Any]]) -> None:
    screen = _front(samples.typed(documents))
    assert len(screen.rows) == len(documents) and screen.answer and screen.pills


def test_a_colour_has_one_meaning() -> None:
    assert max(palette.SLOTS.values()) == theme.PARTS
    by_slot: dict[int, set[str]] = {}
    for cause, slot in palette.SLOTS.items():
        by_slot.setdefault(slot, set()).add(cause)
    assert [names for names in by_slot.values() if len(names) > 1] == [
        {"host", "die"},
        {"bus", "transfer"},
    ]
    for names in (CAUSES, BLAME):
        shown = palette.domain(names)
        for cause, name in names.items():
            assert shown.index(name) == palette.SLOTS[cause] == palette.slots(names)[name]
    assert "--cause-gc: var(--series-1);" in palette.css_variables()


def test_messages_have_their_thousands_separated_as_in_tables() -> None:
    told = spaced(Told("98,304 of 1,234,567 pages, 3,4", ["a"], [("a", "12,345")]))
    thin = "\N{NARROW NO-BREAK SPACE}"
    assert told.text == f"98{thin}304 of 1{thin}234{thin}567 pages, 3,4"
    assert told.each == [("a", f"12{thin}345")]
