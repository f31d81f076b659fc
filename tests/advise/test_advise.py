"""`floatgate advise`: known answers, questions a trace cannot answer, the document, the process."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import docs_reader
import jsonschema
import polars as pl
import pytest
from advice_kit import UNIFORM, advice, values_of
from conftest import Cli, printed
from pydantic import TypeAdapter

import floatgate as fg
from floatgate.advising.advice import SOLD, SPARES
from floatgate.advising.answers import amplification, years_text
from floatgate.advising.calls import Calls
from floatgate.advising.lines import FOUND, Advice
from floatgate.advising.sampled import (
    COUNTED,
    SAMPLED_UNITS,
    UNITS,
    Requests,
    ends,
    last_loops,
    loops_of,
    of_samples,
    requests_of,
    sample,
    steady_states,
)
from floatgate.advising.streams import ONE, known_streams, named
from floatgate.analysis import map_curve
from floatgate.models import greedy
from floatgate.simulation.options import RunOptions

TRACES = docs_reader.DATA
BENCH = runpy.run_path(str(docs_reader.ROOT / "benches" / "advise.py"))
KEYS = ["footprint", "amplification", "separation", "map", "life", "latency", "streams"]


def _trace(spec: str) -> fg.Trace:
    return map_curve.read_source(spec, seed=1)[1]


def _frame(rows: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["at_ns", "op", "offset", "length"], orient="row")


@pytest.mark.parametrize(("every", "samples"), [(1, 1), (2, 3), (15, 3), (16, 8), (17, 8)])
def test_sparse_samples_are_more(every: int, samples: int) -> None:
    """In samples of one page in 16 or fewer a few hot pages matter, so there are more samples."""
    pages = every * SAMPLED_UNITS[1] * UNITS
    writes = Requests("a trace", pl.DataFrame(), pages, 4096, 1, 1, 4096)
    assert (writes.every, writes.samples) == (every, samples)


def test_uniform_writes_come_to_the_closed_form_from_a_sample() -> None:
    whole = requests_of(_trace("uniform:span=1GiB,writes=1M"))
    assert (whole.unit_pages, whole.every) == (256, 2)
    for state in steady_states(whole, [0.28]):
        law = greedy(1 / (1 - state.spare_factor), whole.unit_pages).write_amplification
        assert state.write_amplification == pytest.approx(law, rel=0.015)
        assert 0 < state.half_width < 0.05 * law
        assert state.is_steady


def test_hot_and_cold_writes_come_to_the_full_simulation() -> None:
    spec = "hotcold:span=1GiB,r=0.9,f=0.1,writes=1M"
    whole = requests_of(_trace(spec))
    assert whole.every == 2
    (found,) = steady_states(whole, [0.28])
    sets = {**COUNTED, "flash.pages_per_block": whole.unit_pages, "capacity.spare_factor": 0.28}
    full, _ = ends(loops_of(fg.run(spec, set=sets, repeat=whole.loops), whole.loops))
    assert found.write_amplification == pytest.approx(full, rel=0.05)
    law = greedy(1 / 0.72, whole.unit_pages).write_amplification
    assert found.write_amplification > 1.1 * law, "one stream pays for the skew"


def test_what_a_small_unit_changes_is_followed_as_far_as_it_is_no_chance() -> None:
    """`step` extends the line through the differences between large and small samples."""
    sure = of_samples(0.1, [(2.0, 2.0), (2.002, 2.0), (1.998, 2.0)], [(1.9, 1.9)] * 3, 1.0)
    assert sure.write_amplification == pytest.approx(2.1, rel=0.001)
    assert sure.half_width == pytest.approx(0.1 + 0.01, abs=0.002), "to the larger samples"
    # Here the means differ by as much, but no more than the samples differ from each other.
    large, small = [(wa, wa) for wa in (1.8, 2.0, 2.2)], [(wa, wa) for wa in (2.1, 1.9, 1.7)]
    chance = of_samples(0.1, large, small, 1.0)
    assert chance.write_amplification == pytest.approx(1.95)
    assert chance.half_width > 2.1 - 1.95, "the line's end is in the interval"
    # Small units lower the estimate. Where small units cost more, the line does not apply, and the
    # interval widens.
    against = of_samples(0.1, [(1.9, 1.9)] * 3, [(2.0, 2.0)] * 3, 1.0)
    assert against.write_amplification == pytest.approx(1.95)
    assert against.half_width == pytest.approx(0.15)


def test_three_loops_are_measured_at_least_and_the_first_never() -> None:
    for writes, loops, measured in ((120_000, 5, 3), (45_000, 7, 3), (25_000, 12, 4)):
        whole = requests_of(_trace(f"uniform:span=96MiB,writes={writes}"))
        assert (whole.loops, last_loops(whole.loops)) == (loops, measured)
    assert ends([9.0, 2.0, 1.0, 3.0, 5.0]) == (3.0, 2.0)
    assert ends([9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == (5.0, 2.0)


def test_where_all_pages_are_played_the_interval_is_over_the_loops() -> None:
    """The interval contains the mean of later loops; lines that rest on it have intervals."""
    spec = "hotcold:span=96MiB,r=0.9,f=0.1,writes=80k,interarrival=1us"
    trace = _trace(spec)
    whole = requests_of(trace)
    assert whole.every == 1
    loops = BENCH["full_loops"](trace, whole, 0.07, 3 * whole.loops)[whole.loops :]
    (state,) = steady_states(whole, [0.07])
    assert 0 < state.half_width < 0.1 * state.write_amplification
    assert abs(sum(loops) / len(loops) - state.write_amplification) < state.half_width
    found = advice(spec)
    for key in ("amplification", "separation", "streams"):
        if found[key].numbers:
            assert found[key].found == "simulated"
            assert "95 % over the measured loops" in " ".join(found[key].method)
        assert "samples" not in " ".join(found[key].method)
    for key in ("amplification", "separation", "life"):
        assert found[key].numbers
        for number in found[key].numbers:
            assert number.low is not None and number.high is not None
            assert number.low <= number.value <= number.high


def test_sequential_writes_cost_nothing() -> None:
    found = advice("sequential:span=96MiB,writes=4k,size=128KiB,interarrival=1ms")
    for number in found["amplification"].numbers:
        assert number.value == pytest.approx(1, abs=0.01)
    assert "None of the schemes helps" in found["separation"].answer


def test_a_uniform_trace_has_known_answers() -> None:
    found = advice(UNIFORM)
    assert [line.key for line in found.lines] == KEYS
    values = values_of(*found.lines)
    # The drive has 384 units of 64 pages. So small a drive deviates from the formula by up to 3 %.
    assert values["15% spare"] == pytest.approx(greedy(1 / 0.85, 64).write_amplification, rel=0.03)
    assert values["oracle"] < 0.75 * values["one stream"]
    pages = (96 << 20) // 4096
    whole = values["for all pages that are accessed"]
    assert whole == pytest.approx(8 * pages, rel=0.01)
    # The sizes are a little below nine tenths of the map: the trace ends before the longest reuses.
    for hits, least in ((90, 0.8), (99, 0.93)):
        assert least < values[f"for {hits} % of the hits"] / whole < hits / 100
    tlc = "tlc-enterprise, 15% spare"
    endured = 7000 / values[f"{tlc}: write amplification"] / (1 - 0.1536)
    assert values[f"{tlc}: drive writes per day"] == pytest.approx(endured / 1826.25)
    daily = 120_000 * 4096 / 12 * 86400 / found.span_bytes
    years = values[f"{tlc}: life, size of the trace"]
    assert years * daily * 365.25 == pytest.approx(endured, rel=0.001)
    assert values["written a day"] == pytest.approx(120_000 * 4096 / 12 * 86400, rel=0.001)
    assert 10 < values["p99 of writes"] < 1000


def test_lives_are_told_at_the_spare_factors_that_one_chooses_from() -> None:
    """Each drive has its write amplification and lifetime at three spare factors."""
    life = advice("hotcold:span=768MiB,r=0.9,f=0.1,writes=600k,interarrival=10us")["life"]
    values = values_of(life)
    for drive, cycles in (("tlc-enterprise", 7000), ("qlc-capacity", 1500)):
        factors = []
        for spare in (0.07, 0.28):
            row = f"{drive}, {spare:.0%} spare"
            factors.append(values[f"{row}: write amplification"])
            daily = values[f"{row}: drive writes per day"]
            assert daily == pytest.approx(cycles / factors[-1] / (1 - spare) / 1826.25)
        [own] = [value for name, value in values.items() if re.match(rf"{drive}, 1\d%.*tion", name)]
        assert factors[0] > own > factors[1] > 1
    # Each write of 4 KiB programs at least 64 KiB.
    assert values["qlc-capacity, 28% spare: write amplification"] > 16


def test_steady_states_are_of_bytes() -> None:
    """A write of 512 B programs a page."""
    small, large = (
        advice(f"uniform:span=96MiB,size={size},writes=120k,interarrival=100us")
        for size in ("512B", "4KiB")
    )
    numbers = (small["amplification"].numbers, large["amplification"].numbers)
    for one, other in zip(*numbers, strict=True):
        assert one.value == pytest.approx(8 * other.value, rel=0.1)


def test_pages_that_are_never_written_are_mixed_with_others_too() -> None:
    """A fill in order keeps them in erase units that cleaning never chooses."""
    found = advice("hotcold:span=768MiB,r=0.9,f=0.1,writes=600k,interarrival=10us")
    numbers = found["amplification"].numbers
    in_order = [one.value for one in numbers if not one.of]
    mixed = [one.value for one in numbers if one.of == "filled at random"]
    assert len(in_order) == len(mixed) == 3
    assert mixed[-1] > 1.1 * in_order[-1]
    assert (
        found["amplification"].doubts[0].startswith("64\N{NO-BREAK SPACE}% of the drive is never")
    )
    assert any("times shorter" in doubt for doubt in found["life"].doubts)
    written = advice(UNIFORM)["amplification"]
    assert not any(one.of for one in written.numbers) and not written.doubts


def test_at_the_size_that_is_sold_a_drive_bears_as_many_volumes() -> None:
    life = advice(UNIFORM)["life"]
    values, row = values_of(life), "tlc-enterprise, 15% spare"
    bytes = SOLD["tlc-enterprise"]
    borne = values[f"{row}: TBW as sold"]
    daily = values[f"{row}: drive writes per day"]
    assert borne == pytest.approx(daily * 5 * 365.25 * bytes / 1e12)
    rate = 120_000 * 4096 / 12 * 86400 / 1e12
    years = values[f"{row}: life, as sold"]
    assert years == pytest.approx(borne / rate / 365.25, rel=0.001)
    assert f"tlc-enterprise of 1.92 TB lasts {years_text(years)}" in life.answer
    assert any("at its own size" in doubt for doubt in life.doubts)


def test_presets_are_as_large_as_their_summaries_say() -> None:
    told = {}
    for preset in fg.devices():
        if found := re.search(r" of ([\d.]+) ([TG])B\b", preset["summary"]):
            told[preset["name"]] = float(found[1]) * {"T": 1e12, "G": 1e9}[found[2]]
    assert told == pytest.approx(SOLD)


def test_a_drive_of_given_blocks_has_their_size() -> None:
    drive = {"flash": {"blocks": 40_000, "endurance": 1000}, "capacity": {"spare_factor": 0.2}}
    life = fg.advise(UNIFORM, device=drive)["life"]
    values, flash = values_of(life), 40_000 * 64 * 4096
    factor = values["config, 20% spare: write amplification"]
    borne = values["config, 20% spare: TBW as sold"]
    assert borne == pytest.approx(1000 * flash / factor / 1e12, rel=1e-4)


def test_the_commands_of_an_advice_measure_what_it_tells(cli: Cli) -> None:
    """A small trace is played with all its pages, so the numbers are equal."""
    spec = "hotcold:span=96MiB,r=0.9,f=0.1,writes=80k"
    whole = requests_of(_trace(spec))
    assert whole.every == 1
    states = steady_states(whole, SPARES[1:])
    found = amplification(whole, states, [], Calls.of(spec, RunOptions()))
    full, before = (printed(cli, command) for command in found.commands)
    shown = re.search(r"is \((\d+) A - (\d+) B\) / (\d+)", found.next)
    assert shown
    last = (int(shown[1]) * full - int(shown[2]) * before) / int(shown[3])
    assert last == pytest.approx(states[0].write_amplification, rel=0.01)
    assert abs(full - last) > 0.03 * last, "it is not what the first command prints"


def test_the_other_commands_of_an_advice_run(cli: Cli) -> None:
    pytest.importorskip("optuna", reason="Optuna is not installed")
    found = advice(UNIFORM)
    (tune,), (run,) = found["separation"].commands, found["latency"].commands
    for command in (f"{tune} --trials 2", f"{run} --limit 2000"):
        cli(*shlex.split(command)[1:], "-q").ok()


def test_commands_have_the_trace_as_it_was_given() -> None:
    whole = requests_of(_trace("uniform:span=64MiB,writes=60k"))
    how = RunOptions(seed=7, format="csv", limit=100, close_gaps="1h")
    calls = Calls.of(Path("my traces") / "a.csv", how)
    begins = "floatgate run 'my traces/a.csv' --format csv --limit 100 --seed 7 "
    timed = f"{begins}--close-gaps 1h --device tlc-client --latencies full"
    assert calls.timed("tlc-client", {"start.fill": "random"}) == (
        f"{timed} --set start.fill=random"
    )
    assert calls.full(whole, 0.15, 2).startswith(f"{begins}--repeat 2 --set timing=none ")
    assert calls.full(whole, 0.15, 2).endswith(" --set capacity.spare_factor=0.15")
    assert Calls.of(whole.frame, RunOptions()).timed({}, {}) == (
        "floatgate run TRACE --device DEVICE --latencies full"
    )


def test_a_sample_keeps_requests_in_one_piece_and_one_page_of_each_group() -> None:
    whole = requests_of(_trace("uniform:span=1GiB,writes=20k,size=64KiB,trim=0.1"))
    for seed in (1, 2):
        small = sample(whole, 4, seed)
        assert small.pages == whole.pages / 4
        lengths = (small.frame["end"] - small.frame["first"]).unique().sort().to_list()
        assert lengths == [4] or lengths == [3, 4, 5]
        assert small.frame["end"].max() <= small.pages
        assert small.page_writes == pytest.approx(whole.page_writes / 4, rel=0.001)
    each = requests_of(_trace("sequential:span=64MiB,writes=16384"))
    drawn = [sample(each, 4, seed).frame["offset"] // 4096 for seed in (1, 2)]
    for pages in drawn:
        assert (pages // 4).to_list() == list(range(4096))
        assert {*(pages % 4)} == {0, 1, 2, 3}
    assert 0.2 < (drawn[0] == drawn[1]).mean() < 0.3


def test_streams_by_size_part_writes_that_die_together() -> None:
    # Small writes overwrite the upper half again and again. Long writes cycle through the lower
    # half.
    span = 128 << 20
    rows = []
    for at in range(60_000):
        small = at % 12
        offset = (at * 7919 * 4096) % (span // 2) + span // 2 if small else at // 12 * 131072
        length = 4096 if small else 131072
        rows.append((at * 1000, 1, offset % span if small else offset % (span // 2), length))
    whole = requests_of(fg.read_trace(_frame(rows)))
    ways, refused = known_streams(whole)
    assert [way.name for way in ways] == ["by size, to 16 KiB and larger"]
    assert refused == ["by device: one device is written"]
    small, settings = named(sample(whole, 1, 1), ways[0])
    assert settings == {"placement.scheme": "host", "placement.handles": 2}
    assert (small.frame["stream"] == (small.frame["length"] > 16384)).all()
    single, parted = (
        steady_states(whole, [0.15], arrange=how)[0].write_amplification
        for how in (lambda one: (one, ONE), lambda one: named(one, ways[0]))
    )
    assert parted < 0.9 * single


def test_each_device_has_a_stream() -> None:
    rows = [(at * 1000, 1, (at * 7919 * 4096) % (8 << 20), 4096, 0) for at in range(30_000)] + [
        (at * 1000 + 1, 1, at * 4096 % (64 << 20), 4096, 1) for at in range(40_000)
    ]
    frame = pl.DataFrame(
        rows, schema=["at_ns", "op", "offset", "length", "device"], orient="row"
    ).sort("at_ns")
    ways, _ = known_streams(requests_of(fg.read_trace(frame)))
    assert [way.name for way in ways] == ["by device, 2 of them"]
    assert ways[0].share == pytest.approx(3 / 7)


def test_handles_of_the_trace_are_streams() -> None:
    frame = _frame([(at * 1000, 1, at * 7919 % 4096 * 4096, 4096) for at in range(9000)])
    for handles, known in ((3, True), (1, False)):
        stream = (pl.int_range(9000, eager=True) % handles).cast(pl.UInt16).alias("stream")
        ways, refused = known_streams(requests_of(fg.read_trace(frame.with_columns(stream))))
        assert ([way.name for way in ways] == ["by the handles of the trace"]) == known
        assert any("nearly all writes have the same" in why for why in refused) != known
    assert not ways


def test_a_trace_without_writes_says_so_in_each_line() -> None:
    found = fg.advise(_frame([(at * 1000, 0, at * 4096, 4096) for at in range(1000)]))
    for key in ("amplification", "separation", "life", "streams"):
        assert found[key].found == "not known" and not found[key].numbers
        assert "the trace has no writes" in found[key].answer
        # A longer trace of the same kind has no writes either.
        assert found[key].next == "A trace of the same host that has its writes, too."
    assert "nothing is written" in found["footprint"].answer
    assert "no page is accessed twice" in found["map"].answer
    assert found["latency"].found == "simulated"


def test_lines_that_could_not_be_read_are_told(cli: Cli, tmp_path: Path) -> None:
    lines = [
        f"{at},host,0,{'Wirte' if at == 70 else 'Write'},{at % 9 * 4096},4096,0"
        for at in range(200)
    ]
    (tmp_path / "torn.csv").write_text("\n".join(lines), "utf-8")
    told = "1 line of the trace could not be read, the first: line 71: "
    assert any(told in note for note in fg.advise(tmp_path / "torn.csv").notes)
    done = cli("advise", str(tmp_path / "torn.csv"))
    assert told in " ".join(done.stdout.split())


def test_a_trace_that_overwrites_nothing_is_too_short() -> None:
    found = advice("sequential:span=64MiB,writes=512,size=128KiB,interarrival=1ms")
    for key in ("amplification", "separation", "life", "streams"):
        assert "too short: it writes a page 1.00 times" in found[key].answer


def test_without_time_stamps_life_and_tail_are_not_known() -> None:
    found = advice("uniform:span=64MiB,writes=60k")
    assert found["latency"].answer == "not known: the trace has no time stamps"
    assert found["latency"].next == "A trace with its times."
    units = {number.unit for number in found["life"].numbers}
    assert "DWPD" in units and "years" not in units
    assert any("no time stamps" in doubt for doubt in found["life"].doubts)


def test_a_tail_of_few_requests_or_one_excerpt_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(at * 100_000, int(at % 1500 == 7), at % 999 * 4096, 4096) for at in range(3000)]
    one = fg.advise(_frame(rows))["latency"]
    doubts = "; ".join(one.doubts)
    assert "p99 of writes rests on 2 writes: it is the slowest" in doubts
    assert "p99 of reads rests" not in doubts, "of 2,998"
    assert "p99 of reads and of writes is from one excerpt, and has no interval" in doubts
    method = " ".join(one.method)
    assert "Middle" not in method and "1 excerpt of" in method
    assert {number.low for number in one.numbers} == {None}
    monkeypatch.setattr("floatgate.advising.excerpts.REQUESTS", 900)
    three = fg.advise(_frame(rows))["latency"]
    doubts = "; ".join(three.doubts)
    assert "Middle, least and most of the excerpts" in " ".join(three.method)
    assert re.search(r"p99 of reads rests on 89\d reads in one of the excerpts: 8 of them", doubts)
    assert "p99 of writes rests on 1 write in one of the excerpts: it is the slowest" in doubts
    assert "no interval" not in doubts
    assert all(number.low is not None for number in three.numbers)


def test_command_prints_one_document_of_its_schema(cli: Cli) -> None:
    document = cli("advise", UNIFORM, "--json").document()
    jsonschema.validate(document, TypeAdapter(Advice).json_schema())
    assert fg.Advice.from_dict(document) == advice(UNIFORM), "the same in every process"
    for line in document["lines"]:
        assert line["found"] in FOUND and line["next"]
        for number in line["numbers"]:
            if number["low"] is not None:
                assert number["low"] <= number["value"] <= number["high"]
    del document["lines"][0]["found"]
    with pytest.raises(ValueError, match="advice"):
        fg.Advice.from_dict(document)


def test_command_writes_a_page(cli: Cli, tmp_path: Path) -> None:
    done = cli("advise", UNIFORM, "--out", "out", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("next") >= len(KEYS)
    for line in advice(UNIFORM).lines:
        for command in line.commands:
            assert f"$ {command}\n" in done.stdout, "in one line, to be copied"
    assert "docs/" not in done.stdout, "a wheel has no such files"
    assert {file.name for file in (tmp_path / "out").iterdir()} >= {
        *("advice.html", "advice.json", "numbers.parquet", "separation.svg", "map.svg"),
    }
    frame = pl.read_parquet(tmp_path / "out" / "numbers.parquet")
    assert {"question", "found", "value", "low", "high"} <= {*frame.columns}
    assert cli("advise", UNIFORM, "--out", "out").returncode == 2, "the directory is not empty"
