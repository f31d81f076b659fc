"""Parts of the first screen: pills, units, columns left out, axes, rows."""

from __future__ import annotations

from typing import Any

import pytest
import report_samples as samples

import floatgate as fg
from floatgate.report import palette, pills, scales, theme
from floatgate.report.constant import without_constant
from floatgate.report.figure import Figure
from floatgate.report.front import Front, front
from floatgate.report.page import left_out
from floatgate.report.pills import AMBER, GOOD, PLAIN, RED
from floatgate.report.runs import combined_runs, label_runs
from floatgate.report.told import Told, spaced
from floatgate.report.units import LIVES, time_unit, units_of
from floatgate.report.unlike import unlike_drives
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


def test_a_pill_counts_the_runs_that_are_not_steady_and_nearly_steady() -> None:
    factor = samples.sample()["write_amplification"]
    near = {"warnings": [UNSTEADY], "write_amplification_last_quarter": 1.05 * factor}
    far = near | {"write_amplification_last_quarter": 1.3 * factor}

    def text(*changes: dict[str, Any]) -> str:
        return pills.pills(label_runs([_result(**one) for one in changes]))[0].text

    assert text({}, near, far) == "not steady, 1 of 3 runs; nearly steady, 1"
    assert text({}, far, far) == "not steady, 2 of 3 runs"
    assert text({}, near, {}) == "nearly steady, 1 of 3 runs"


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
    assert pills.valid_latency(_result(warnings=[backlog])) == RED
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


def _drives(*changes: dict[str, Any]) -> list[Any]:
    """Returns runs of two schemes whose drives have the changes."""
    documents = [samples.sample(scheme=scheme) for scheme in ("dftl", "tpftl")]
    for document, change in zip(documents, changes, strict=True):
        notes = document.pop("notes") + change.pop("notes", [])
        capacity = document["config"].setdefault("capacity", {}) | change.pop("capacity", {})
        document |= {"notes": notes, "drive": document["drive"] | change}
        document["config"]["capacity"] = capacity
    return samples.runs(documents)


def test_a_pill_says_by_how_much_the_flash_of_compared_drives_differs() -> None:
    """TBW is the flash times its endurance, so another reserve alone changes it."""
    [pill] = unlike_drives(_drives({"physical_bytes": 35 << 20}, {"physical_bytes": 36 << 20}))
    assert (pill.level, pill.text) == (PLAIN, "flash differs by 2.86 %")
    thin = "\N{NARROW NO-BREAK SPACE}"
    [told] = pill.warnings
    assert told.each == [("dftl", f"35{thin}MiB"), ("tpftl", f"36{thin}MiB")]
    assert f"35{thin}MiB to 36{thin}MiB of flash for the same data" in told.text
    far = ({"physical_bytes": 30 << 20}, {"physical_bytes": 60 << 20})
    [pill] = unlike_drives(_drives(*far))
    assert (pill.level, pill.text) == (AMBER, "flash differs by a factor of 2.00")
    # A spare factor that the user varies explains the difference.
    spares = [
        {**one, "capacity": {"spare_factor": at}} for one, at in zip(far, (0.1, 0.5), strict=True)
    ]
    assert unlike_drives(_drives(*spares)) == []
    assert unlike_drives(_drives({}, {})) == []


def test_a_pill_says_that_scaled_units_have_different_sizes() -> None:
    scaled = ["scaled: erase units have 48 pages instead of 64"]
    sizes = ({"pages_per_unit": 192}, {"pages_per_unit": 48})
    [pill] = unlike_drives(_drives(*({**one, "notes": scaled} for one in sizes)))
    assert (pill.level, pill.text) == (AMBER, "sizes of erase units differ by a factor of 4.00")
    assert [size for _, size in pill.warnings[0].each] == [
        "768\N{NARROW NO-BREAK SPACE}KiB",
        "192\N{NARROW NO-BREAK SPACE}KiB",
    ]
    assert unlike_drives(_drives(*sizes)) == [], "units of a device are as its config states"


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
    # Numbers count, not their digits: equal ones may be printed with different digits, and others
    # alike.
    third = 1 / 3
    cells = [[("1.00", 1.0), ("0.33", third), ("2.0", 2.0)]]
    cells += [[("1.0", 1.0), ("0.33", third + 1e-4), ("2.0", 2.0 + 1e-13)]]
    rows = [[Cell("a", "a"), *(Cell(*cell) for cell in row)] for row in cells]
    kept, left = without_constant(Table("T", ["Run", "WA", "Share", "Erases"], rows))
    assert kept.columns == ["Run", "Share"]
    assert left == [("WA", "all 1.00"), ("Erases", "all 2.0")]
    single, left = without_constant(Table("T", titles, table.rows[:1]))
    assert single.columns == ["Run", "WA", "Map hits", "Erases"] or len(single.columns) == 5
    assert ("Mean", "not known of any run") in left


def test_an_axis_begins_at_nought_and_has_round_ticks() -> None:
    axis = scales.linear(9.46)
    assert [text for _, text in axis.ticks] == ["0", "2", "4", "6", "8"]
    assert axis.at(0) == 0 and 95 < axis.at(9.46) < 100
    assert [text for _, text in scales.of_times([7.0, 350.0]).ticks] == ["10", "30", "100", "300"]
    wide = scales.of_times([0.05, 120.0])
    assert [text for _, text in wide.ticks] == ["0.1", "1", "10", "100"]
    assert 0 < wide.at(0.05) < wide.at(1.0) < wide.at(120.0) < 100 and wide.at(0.0) == 0
    assert scales.of_times([20.0, 120.0]).ticks[0] == (0.0, "0")
    assert scales.of_times([0.0]).ticks and scales.linear(0.0).ticks


PIXELS, CHARACTER = 125, 7
"""Width of the narrowest column of bars or dots, and of a character of a tick, in pixels."""


def _ranges() -> list[tuple[float, float]]:
    """Returns the least and the greatest value of many axes, from 100 ns in ms to minutes in us.

    If the longest time has thousands of a unit, the shortest is too short for a larger unit.
    """
    tops = [10 ** (n / 7) for n in range(-10, 60)]
    pairs = [(top / 10 ** (n / 5), top) for top in tops for n in range(1, 50)]
    return [(least, top) for least, top in pairs if least >= 1e-4 and (top < 1000 or least < 10)]


def _clear(axis: scales.Scale) -> bool:
    """Returns whether no text of a tick touches another, or leaves the narrowest column."""
    ends = [0.0]
    for tick in axis.ticks:
        width = CHARACTER * len(tick.text)
        begin = tick.at / 100 * PIXELS - width * {"start": 0, "middle": 0.5, "end": 1}[tick.anchor]
        ends += [begin, begin + width]
    return ends == sorted(ends) and ends[-1] <= PIXELS


def test_ticks_of_every_axis_are_apart_and_at_least_two() -> None:
    for least, most in _ranges():
        for axis in (scales.of_times([least, most]), scales.linear(most)):
            ticks = [at for at, _ in axis.ticks]
            assert len(ticks) >= 2 and ticks == sorted(ticks), (least, most)
            assert ticks[0] >= 0 and ticks[-1] <= 100
            assert _clear(axis), (least, most, axis.ticks)
            texts = [float(text.replace("\N{NARROW NO-BREAK SPACE}", "")) for _, text in axis.ticks]
            assert [axis.at(value) for value in texts] == pytest.approx(ticks)
            if max(len(text) for _, text in axis.ticks) <= 2:
                assert len(ticks) >= 3, "short texts leave room for a third tick"


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


def test_what_is_left_out_is_listed_once() -> None:
    columns = [("Map hit ratio,\N{NO-BREAK SPACE}%", "all 100 ± 0"), ("p99, ms", "all 5.00")]
    columns += [("p99,\N{NO-BREAK SPACE}ms", "all 5.0"), ("Erases", "all 100 ± 0")]
    figure = Figure("timeline", "Over the run", "")
    figure.absent = [("Map hit ratio over the run", "all 100%"), ("Wear over the run", "none")]
    assert left_out(columns, [figure]) == [
        "Map hit ratio: all 100\N{NO-BREAK SPACE}%",
        "p99: all 5.00 ms",
        "Erases: all 100",
        "Wear over the run: none",
    ]


def test_runs_of_a_generator_are_named_by_their_seeds() -> None:
    """A digest names a trace only where nothing else does: two files of one name."""
    documents = [samples.sample(seed=seed) for seed in (1, 2)]
    for document in documents:
        document["workload"]["hash"] = f"{document['seed']}fff0000"
    assert [run.name for run in samples.runs(documents)] == ["seed 1", "seed 2"]
    again = samples.sample(seed=2)
    again["workload"]["hash"] = "2eee0000"
    names = [run.name for run in samples.runs([*documents, again])]
    assert names == [f"financial1 ({one}), seed {one[0]}" for one in ("1fff0000", "2fff0000")] + [
        "financial1 (2eee0000), seed 2"
    ]


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
