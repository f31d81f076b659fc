"""`calibrate`: the readers, the fit on a drive with known parameters, the file it writes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from calibrate_kit import GIB, HEADER, synthetic_in, wa_rows, write_start, write_table

import floatgate as fg
from floatgate.calibrate import calibrate, fit, keys, measured, predict, scaled
from floatgate.calibrate.calibration import Calibration
from floatgate.calibrate.drive_file import drive_toml
from floatgate.calibrate.verdict import why_refused
from floatgate.calibrate.wa import WaStudy
from floatgate.simulation import configs


def test_a_run_is_read_over_its_base(tmp_path: Path) -> None:
    [run] = measured.read_wa(write_table(tmp_path / "wa.csv", wa_rows()))
    assert (run.name, run.drive, run.fill, run.load) == ("d1-a", "d1", "sequential", "uniform")
    assert run.span_bytes == 2 * GIB
    assert run.base == pytest.approx(1.1)
    assert run.total == pytest.approx(4.0)
    assert run.steady(run.wa) == pytest.approx(2.0)
    assert run.by_volume(run.wa) == pytest.approx([2.0, 2.0, 2.0])


def test_columns_are_found_by_their_names(tmp_path: Path) -> None:
    rows = [",".join(["x", *reversed(row.split(","))]) for row in wa_rows()]
    header = "more," + ",".join(reversed(HEADER.split(",")))
    [run] = measured.read_wa(write_table(tmp_path / "wa.csv", rows, header))
    assert run.base == pytest.approx(1.1)


def test_zones_and_runs_from_an_erased_drive(tmp_path: Path) -> None:
    header = f"{HEADER},zone_gib,active_zones"
    rows = [f"z-a,2,zones,{0.1 * i + 0.05:.2f},1.03,0.25,3" for i in range(20)]
    [run] = measured.read_wa(write_table(tmp_path / "wa.csv", rows, header))
    assert (run.fill, run.zone_bytes, run.active_zones) == ("sequential", GIB // 4, 3)
    rows = [row.replace("zones", "uniform") for row in rows]
    [run] = measured.read_wa(write_table(tmp_path / "wa.csv", [row[:-7] for row in rows]))
    assert (run.fill, run.zone_bytes) == ("none", None)


RATES = "drive,pattern,detail,uniform_over_this"


def test_skewed_writes_have_two_runs_and_the_rates_of_drives(tmp_path: Path) -> None:
    runs = [*wa_rows("i1-seq-zipf"), *wa_rows("i1-seq-uniform")]
    amplified = write_table(tmp_path / "wa.csv", runs)
    rows = ["h0,zipf,theta=0.8,1.06", "h0,zipf,theta=0.9,", "h0,two-zone,s0.95,2"]
    rates = write_table(tmp_path / "rates.csv", rows, RATES)
    found = measured.read_skews(amplified, rates)
    assert (found.zipf, found.uniform) == pytest.approx((2.0, 2.0))
    assert found.ratios == {"h0": {0.8: 1.06}}, "a rate without a ratio and other loads are no rows"


def test_a_wrong_table_of_skewed_writes_names_what_is_wrong(tmp_path: Path) -> None:
    amplified = write_table(tmp_path / "wa.csv", wa_rows("i1-seq-zipf"))
    rates = write_table(tmp_path / "rates.csv", ["h0,zipf,theta=x,1.06"], RATES)
    with pytest.raises(fg.ConfigError, match="run i1-seq-uniform missing; there is i1-seq-zipf"):
        measured.read_skews(amplified, rates)
    amplified = write_table(
        tmp_path / "wa.csv", [*wa_rows("i1-seq-zipf"), *wa_rows("i1-seq-uniform")]
    )
    with pytest.raises(fg.ConfigError, match="line 2: theta is 'x'"):
        measured.read_skews(amplified, rates)


BAD = {
    "empty": ([], "", "columns run, namespace_gib, phase, host_volumes, wa missing"),
    "no rows": ([], HEADER, "has a header and no rows"),
    "a column": (["a,1,uniform,1"], "run,namespace_gib,phase,wa", "column host_volumes missing"),
    "NaN": (["a,1,uniform,0.05,nan"], HEADER, "line 2: wa is 'nan'; expected a finite number"),
    "no number": (["a,1,uniform,x,1"], HEADER, "line 2: host_volumes is 'x'"),
    "short row": (["a,1,uniform,0.05"], HEADER, "line 2: wa is ''"),
    "zero": (["a,1,uniform,0.05,0"], HEADER, "line 2: wa is 0; expected more"),
    "few windows": (["a,1,uniform,0.05,1"], HEADER, "expected at least 5 windows"),
    "two spans": (["a,1,uniform,0.05,1", "a,2,uniform,0.1,1"], HEADER, "several namespace_gib"),
    "only a fill": (["a,1,seq fill,0.05,1"], HEADER, "has the phases seq fill; expected"),
    "out of order": (
        [f"a,1,uniform,{1 - 0.1 * i:.1f},1" for i in range(6)],
        HEADER,
        "windows of equal size, in order",
    ),
    "no base": (
        [f"a,1,uniform,{0.1 * i:.1f},{1 + i}" for i in range(1, 8)],
        HEADER,
        "the base without cleaning cannot be known",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_table_is_said(case: str, tmp_path: Path) -> None:
    rows, header, words = BAD[case]
    with pytest.raises(fg.ConfigError, match=words):
        measured.read_wa(write_table(tmp_path / "wa.csv", rows, header))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(fg.ConfigError, match=r"no.csv: cannot be read: No such file"):
        measured.read_wa(tmp_path / "no.csv")


def test_calls_that_are_wrong(tmp_path: Path) -> None:
    start, data = (
        write_start(tmp_path),
        write_table(tmp_path / "wa.csv", wa_rows() + wa_rows("d1-b")),
    )
    mixed = write_table(tmp_path / "mixed.csv", wa_rows() + wa_rows("d2-b"))
    other = write_table(tmp_path / "other.csv", wa_rows(phase="fiozipf"))
    large = write_table(tmp_path / "large.csv", wa_rows(span=3.0))
    again = write_table(tmp_path / "again.csv", wa_rows())
    spare = "capacity.spare_factor"
    for options, words in (
        ({"data": [mixed]}, "runs of several drives, d1, d2"),
        ({"data": [data, data]}, "wa.csv is given twice"),
        ({"data": [data, again]}, "d1-a is there twice in wa.csv, again.csv"),
        ({"data": [other]}, "no run can be simulated: a trace of fio"),
        ({"data": [large], "run": None}, "run d1-a writes 3.0 GiB; the device has 2.0"),
        ({"run": None}, "run: not given, and there is d1-a, d1-b"),
        ({"run": ["d1-c"]}, "'d1-c' is not in the data; there is d1-a, d1-b"),
        ({"holdout": ["d1-a"]}, "holdout: d1-a is also fitted to"),
        ({"fit_keys": [spare, spare]}, "expected different keys"),
        ({"fit_keys": ["flash.endurance"]}, "fit: flash.endurance has no usual range"),
        ({"fit_keys": ["flash.blocks=64..128"]}, "fit: flash.blocks follows from the capacity"),
        ({"fit_keys": ["flash.bloks=1..2"]}, "bloks"),
        ({"fit_keys": [f"{spare}=0.3"]}, "expected KEY or KEY=LOW..HIGH"),
        ({"fit_keys": [f"{spare}=0.3..0.2"]}, "expected LOW to be below HIGH"),
        ({"fit_keys": ["cleaning.victim=greedy..fifo"]}, "expected a key with a number"),
        ({"device": "classic"}, "expected size (--size), the capacity of the drive"),
        ({"size": "2 pounds"}, "size"),
        ({"size": "1GiB"}, "run d1-a writes 2.0 GiB; the device has 1.0"),
        ({"size": "2GiB", "set": {"flash.blocks": "160"}}, "size: flash.blocks is also set"),
        ({"set": {spare: "0.1"}}, "fit: capacity.spare_factor is also set, to 0.1"),
        ({"set": {"capacity.spare": "0.1"}}, "capacity.spare"),
        ({"fit_keys": ["flash.read=1us..2us"]}, "fit: flash.read changes nothing: write ampli"),
        ({"fit_keys": ["start.overwrites=1..2"]}, "fit: start.overwrites changes nothing"),
        ({"scale": 1000.0}, "pages in an erase unit; expected at least 32"),
        ({"noise": 2.0}, "noise: 2.0 given"),
    ):
        call: dict[str, Any] = {"data": [data], "device": start, "run": ["d1-a"], "scale": 16.0}
        call |= {"fit_keys": [spare], **options}
        with pytest.raises(fg.ConfigError) as raised:
            calibrate(call.pop("data"), **call)
        assert words in str(raised.value)


def test_keys_are_numbers_in_the_unit_of_the_config() -> None:
    def resolve(settings: Mapping[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = configs.resolve("small-nvme", settings).table()
        return found

    for text, kind, low, high, middle in (
        ("flash.read=10us..90us", "time", 1e4, 9e4, "30000ns"),
        ("buffer.capacity=1MiB..4MiB", "size", 2**20, 2**22, "2621440B"),
        ("flash.bus=1GB/s..4GB/s", "rate", 1e9, 4e9, "2500000000B/s"),
        ("capacity.spare_factor=0.1..0.3", "number", 0.1, 0.3, "0.2"),
        ("flash.pages_per_block=64..128", "integer", 64, 128, "96"),
    ):
        key = keys.parse(text, resolve)
        assert (key.kind, key.low, key.high) == (kind, low, high)
        assert key.text(key.at(0.5)) == middle
        assert key.at(key.share(key.at(0.3))) == pytest.approx(key.at(0.3))
        # The config accepts the text that the key prints.
        assert keys.value_of(resolve({key.name: middle}), key.name)[1] > 0


def _interval(one: fit.Fitted) -> fit.Interval:
    assert one.interval is not None
    return one.interval


def _known(residuals: fit.Residuals, names: list[str], noise: float = 0.01) -> fit.Fit:
    found = [keys.Key(name, "number", 0.1, 0.5) for name in names]
    return fit.fit(found, residuals, lambda _: noise)


def test_the_fit_finds_a_known_minimum_and_its_interval() -> None:
    found = _known(lambda s: [float(s["a"]) - 0.3, 0.1 * (float(s["a"]) - 0.3)], ["a"])
    [one] = found.fitted
    assert one.value == pytest.approx(0.3, abs=0.001)
    width = 0.01 / math.sqrt((1 + 0.01) / 2)
    assert _interval(one).low == pytest.approx(0.3 - width, abs=0.002)
    assert _interval(one).high == pytest.approx(0.3 + width, abs=0.002)
    assert not one.is_idle and not found.indistinct
    # Errors that no value of the key removes widen the interval, as independent errors add up.
    rest = _known(lambda s: [float(s["a"]) - 0.3, 0.02], ["a"], noise=0.03)
    [one] = rest.fitted
    least = 0.02 / math.sqrt(2)
    width = math.sqrt(2 * (least**2 + 0.03**2) - 0.02**2)
    assert rest.error == pytest.approx(least, abs=1e-4)
    assert _interval(one).high - _interval(one).low == pytest.approx(2 * width, rel=0.02)
    # Steps, as in a simulation: no derivative points to the minimum.
    stepped = _known(lambda s: [round(float(s["a"]) - 0.3, 2)], ["a"])
    assert stepped.fitted[0].value == pytest.approx(0.3, abs=0.006)


def test_two_keys_are_fitted_and_a_pair_without_a_difference_is_named() -> None:
    apart = _known(lambda s: [float(s["a"]) - 0.2, float(s["b"]) - 0.4], ["a", "b"])
    assert [one.value for one in apart.fitted] == pytest.approx([0.2, 0.4], abs=0.005)
    assert apart.indistinct == ()
    alike = _known(lambda s: [float(s["a"]) + float(s["b"]) - 0.6] * 2, ["a", "b"])
    assert alike.error < 0.005
    assert any(text.startswith("a and b: their effects are alike") for text in alike.indistinct)
    # Each of the two keys can have any value, as long as the other one compensates.
    assert all(at.high - at.low > 0.35 for at in map(_interval, alike.fitted))
    idle = _known(lambda s: [float(s["a"]) - 0.2], ["a", "b"])
    assert [one.is_idle for one in idle.fitted] == [False, True]
    assert any(text.startswith("b: every value") for text in idle.indistinct)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_in(tmp_path_factory.mktemp("synthetic"))


@pytest.fixture(scope="module")
def found(synthetic: Path) -> Calibration:
    start = synthetic.parent / "start.toml"
    spare = ["capacity.spare_factor=0.1..0.5"]
    return calibrate([synthetic], device=start, fit_keys=spare, run=["s-a"], scale=16, seed=3)


def test_a_known_drive_is_found(found: Calibration) -> None:
    [one] = found.fit.fitted
    # The fit uses another seed and another scale than the "measurement".
    assert one.value == pytest.approx(0.27, abs=0.01)
    assert _interval(one).low <= 0.275 and _interval(one).high >= 0.265
    assert found.bases["s-a"] == pytest.approx(1.1, rel=0.01)
    [held] = found.held_out
    assert held.run == "s-b"
    assert abs(held.numbers["steady_error"]) < 0.02
    # The runs with the least and the most cleaning.
    at = [(one.told.run, one.scale) for one in found.scales]
    assert at == [("s-b", 8), ("s-b", 32), ("s-a", 8), ("s-a", 32)]
    for scaled_run in found.scales:
        assert abs(scaled_run.told.numbers["steady_error"]) < 0.03
    # The fit beats a drive that never cleans: it predicts 1, and more than twice that was measured.
    assert found.refused is None
    assert found.null_error is not None and found.null_error > 0.5


def test_the_size_of_units_is_not_told_by_uniform_writes(synthetic: Path) -> None:
    start = synthetic.parent / "start.toml"
    unit = ["flash.pages_per_block=2048..8192"]
    config = configs.resolve(start, {"capacity.spare_factor": "0.27"}).table()
    config = scaled.full_size(config, 2 * GIB)
    again = calibrate([synthetic], device=config, fit_keys=unit, run=["s-a"], scale=16, noise=0.03)
    [one] = again.fit.fitted
    assert one.is_idle
    assert again.refused is not None
    assert again.refused.startswith("the data do not fix flash.pages_per_block: every value")
    with pytest.raises(fg.RunError, match="no drive is written: the data do not fix"):
        drive_toml(again)
    assert again.fit.indistinct[0].startswith("flash.pages_per_block: every value from 2048")


def test_the_file_says_of_fitted_numbers_that_they_are(found: Calibration, tmp_path: Path) -> None:
    text = drive_toml(found)
    lines = text.splitlines()
    [at] = [i for i, line in enumerate(lines) if line.startswith("spare_factor")]
    assert lines[at - 2].startswith("# Fitted, to s-a: error ")
    assert lines[at - 1].startswith("# Searched from 0.1 to 0.5; 0.2")
    assert "no fact of a product" in text and "no data sheet of any product" in text
    # The file is a valid drive, with the capacity of the starting drive.
    file = tmp_path / "drive.toml"
    file.write_text(text)
    config = configs.resolve(file, {}).table()
    assert config["capacity"]["spare_factor"] == pytest.approx(0.27, abs=0.01)
    assert scaled.capacity_of(config) == pytest.approx(2 * GIB, rel=0.01)
    assert config["flash"]["pages_per_block"] == 4096 and config["timing"] == "none"
    # The file keeps the marks of keys that an earlier fit set.
    start = "[flash]\n# Fitted, to x.\npages_per_block = 4096\n"
    assert drive_toml(found, start).count("# Fitted, to") == 2


def test_repeated_runs_say_what_noise_is(tmp_path: Path) -> None:
    config = configs.resolve(write_start(tmp_path), {}).table()
    louder = [row[:-3] + "2.266" if row.endswith(",2.2") else row for row in wa_rows("d1-b")]
    study = WaStudy([write_table(tmp_path / "wa.csv", wa_rows() + louder)], config)
    assert study.noise == pytest.approx(math.log(1.03))
    assert study.noise_from == "d1-a and d1-b, which are alike"


def test_workloads_are_those_of_the_data(tmp_path: Path) -> None:
    config = configs.resolve(write_start(tmp_path), {}).table()
    drive = scaled.drive(config, 2 * GIB)
    names = ["uniform", "zipf", "zipf-noshuffle", "two-zone s0.2 f0.8 s0.8 f0.2"]
    rows = [row for i, name in enumerate(names) for row in wa_rows(f"d-{i}", 1.9, name)]
    rows += [row.replace("seq fill", "shuffled fill") for row in wa_rows("d-5", 1.9)]
    for run in measured.read_wa(write_table(tmp_path / "wa.csv", rows)):
        assert scaled.why_not(run) is None
        curve = scaled.simulate(drive, run, 32, seed=1)
        assert len(curve) == 80 and curve[0] == pytest.approx(1.0)
        assert 1.5 < run.steady(curve) < 4
    [run] = measured.read_wa(write_table(tmp_path / "x.csv", wa_rows(phase="two-zone s1 f1")))
    assert (scaled.why_not(run) or "").startswith("its workload 'two-zone s1 f1' is not known")
    for load in ("two-zone s0.2 f0.8 s0.2 f0.2", "two-zone s0.2 f0.8 s0.8 f0.8", "zipfian"):
        [run] = measured.read_wa(write_table(tmp_path / "x.csv", wa_rows(phase=load)))
        assert "is not known" in (scaled.why_not(run) or ""), load


def test_zones_of_a_two_zone_run_lie_all_over_the_span(tmp_path: Path) -> None:
    """SSD-iq permutes the pages: contiguous zones would share no unit after the fill."""
    config = configs.resolve(write_start(tmp_path), {}).table()
    drive = scaled.drive(config, 2 * GIB)
    load = "two-zone s0.05 f0.95 s0.95 f0.05"
    [run] = measured.read_wa(write_table(tmp_path / "x.csv", wa_rows(phase=load)))
    ours = run.steady(scaled.simulate(drive, run, 32, seed=1))
    unit_pages = drive.unit_pages // 32
    pages = round(drive.units * unit_pages * run.span_bytes / drive.page / drive.flash_pages)
    rng = random.Random(1)
    places = list(range(pages))
    hot = pages // 20

    def steady() -> float:
        writes = [
            rng.randrange(hot) if rng.random() < 0.95 else rng.randrange(hot, pages)
            for _ in range(4 * pages)
        ]
        offsets = [places[at] * 4096 for at in writes]
        trace = pl.DataFrame({"at_ns": 0, "op": 1, "offset": offsets, "length": 4096})
        flash = {"pages_per_block": unit_pages, "blocks": drive.units}
        spare = 1 - (pages + 0.5) / (drive.units * unit_pages)
        device = {"timing": "none", "flash": flash, "capacity": {"spare_factor": spare}}
        result = fg.run(trace, device=device, addresses="span")
        return run.steady(scaled.windows(result, run))

    contiguous = steady()
    rng.shuffle(places)
    assert ours == pytest.approx(steady(), rel=0.05)
    assert ours > 1.2 * contiguous


def test_a_drive_that_programs_rows_is_scaled(tmp_path: Path) -> None:
    """The scaled drive equals one that programs single pages and has the same pages per unit."""
    rows_of_pages: dict[str, Any] = {
        "flash": {
            "page": "16KiB",
            "program_pages": 3,
            "pages_per_block": 96,
            "blocks": 512,
            "planes": 2,
            "dies": 4,
            "superblock": 8,
        },
        "mapping": {"unit": "4KiB"},
        "capacity": {"spare_factor": 0.2},
        "cleaning": {"copies_per_write": 8},
    }
    config = configs.resolve(rows_of_pages, {}).table()
    rows = scaled.drive(config, scaled.capacity_of(config))
    flash = {"pages_per_block": 96 * 4, "blocks": 512, "superblock": 8, "planes": 8}
    others = {key: rows_of_pages[key] for key in ("capacity", "cleaning")}
    config = configs.resolve({"flash": flash, **others}, {}).table()
    pages = scaled.drive(config, scaled.capacity_of(config))
    assert (rows.page, rows.unit_pages, rows.units) == (4096, 3072, 64)
    assert (rows.unit_pages, rows.units) == (pages.unit_pages, pages.units)
    span = rows.capacity_bytes / GIB
    [run] = measured.read_wa(write_table(tmp_path / "wa.csv", wa_rows(span=span)))
    assert scaled.simulate(rows, run, 32, 1)[:20] == scaled.simulate(pages, run, 32, 1)[:20]


def _fit_of(error: float, value: float, noise: float = 0.01) -> fit.Fit:
    interval = fit.Interval(value - 0.01, value + 0.01, False, False)
    one = fit.Fitted(keys.Key("a", "number", 0.1, 0.5), value, interval)
    return fit.Fit((one,), error, noise, (), 1)


def test_the_rules_of_refusing() -> None:
    for found, null, words in (
        (_fit_of(0.2, 0.3), None, None),
        (_fit_of(0.26, 0.3), None, "differs from the data by 26.0 % (rms), more than 25.0 %"),
        # Repeated runs differ by a tenth. An error of 0.26 is within three times that.
        (_fit_of(0.26, 0.3, noise=0.1), None, None),
        (_fit_of(0.11, 0.5), None, "a = 0.5 is an end of its range, 0.1..0.5; search further"),
        (_fit_of(0.11, 0.1), None, "a = 0.1 is an end of its range"),
        (_fit_of(0.09, 0.5), None, None),
        (_fit_of(0.11, 0.3), 0.1, "nothing does as well, with 10.0 %"),
        (_fit_of(0.09, 0.3), 0.08, None),
    ):
        why = why_refused(found, null, "nothing")
        assert why is None if words is None else words in (why or ""), (found, why)
    # No value lies below 0, so the search cannot continue there.
    zero = replace(_fit_of(0.11, 0.0).fitted[0], key=keys.Key("a", "number", 0.0, 0.5))
    assert not zero.is_at_end


def test_runs_count_alike_whatever_is_compared_of_them() -> None:
    one_of_four, one = [0.1, 0.1, 0.1, 0.1], [0.3]
    mean = math.sqrt((0.1**2 + 0.3**2) / 2)
    assert fit.rms(fit.weighted([one_of_four, one])) == pytest.approx(mean)
    assert fit.weighted([one_of_four, one_of_four]) == one_of_four * 2


def test_a_preset_gets_its_blocks_from_the_size(synthetic: Path) -> None:
    call: dict[str, Any] = {"device": "small-nvme", "scale": 32, "run": ["s-a"]}
    found = predict([synthetic], size="2GiB", set={"capacity.spare_factor": 0.27}, **call)
    [one] = found.predicted
    assert abs(one.numbers["steady_error"]) < 0.03
    with pytest.raises(fg.ConfigError, match=r"flash.blocks is not set"):
        predict([synthetic], **call)


def test_intervals_are_sought_only_if_they_are_to_be(synthetic: Path, tmp_path: Path) -> None:
    start = synthetic.parent / "start.toml"
    call: dict[str, Any] = {"device": start, "fit_keys": ["capacity.spare_factor=0.2..0.4"]}
    call |= {"run": ["s-a"], "holdout": [], "scale": 64}
    quick, slow = (calibrate([synthetic], intervals=one, **call) for one in (False, True))
    assert quick.fit.evaluations < slow.fit.evaluations
    assert quick.fit.fitted[0].value == slow.fit.fitted[0].value
    assert quick.fit.fitted[0].interval is None and quick.refused is None
    [document] = quick.document()["fitted"]
    assert document["as_good"] is None and document["fixed_by_data"] is None
    assert "what explains the data as well was not sought" in drive_toml(quick)


def test_what_the_data_take_the_place_of_is_listed(synthetic: Path) -> None:
    more = {"start.fill": "random", "buffer.scheme": "lru", "flash.page": "16KiB"}
    more |= {"flash.pages_per_block": "1024"}
    start = synthetic.parent / "start.toml"
    call: dict[str, Any] = {"device": start, "run": ["s-a"], "scale": 16}
    notes = predict([synthetic], set=more, **call).notes
    assert 'start.fill = "random" of the device is not used' in notes[0]
    assert 'buffer.scheme = "lru" of the device is not used' in notes[1]
    assert notes[2].startswith("the device maps 16384 bytes a unit, and the data are of writes of")
    assert predict([synthetic], **call).notes == ()
