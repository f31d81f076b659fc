"""`floatgate calibrate`: the readers, the fit on a drive that is known, the file, the process."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli

import floatgate as fg
from floatgate import configs
from floatgate.calibrate import calibrate, fit, keys, measured, predict, scaled
from floatgate.calibrate.calibration import Calibration
from floatgate.calibrate.drive_file import drive_toml
from floatgate.calibrate.verdict import why_refused
from floatgate.calibrate.wa import WaStudy

HEADER = "run,namespace_gib,phase,host_volumes,wa"
GIB = 1 << 30

START = """\
timing = "none"

[flash]
page = "4KiB"
pages_per_block = 4096
blocks = 160        # 2.0 GiB for the host: 80 % of 2.5 GiB

[capacity]
spare_factor = 0.2
"""


def _table(path: Path, rows: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def _run(name: str = "d1-a", span: float = 2.0, phase: str = "uniform") -> list[str]:
    """A fill without cleaning at 1.1, and four volumes of twice that, after half a volume."""
    fill = [f"{name},{span},seq fill,{0.05 * (i + 0.5):.3f},1.1" for i in range(20)]
    waves = [
        f"{name},{span},{phase},{0.05 * (i + 0.5):.3f},{1.1 if i < 10 else 2.2}" for i in range(80)
    ]
    return fill + waves


def _start(tmp_path: Path) -> Path:
    path = tmp_path / "start.toml"
    path.write_text(START)
    return path


def test_a_run_is_read_over_its_base(tmp_path: Path) -> None:
    [run] = measured.read_wa(_table(tmp_path / "wa.csv", _run()))
    assert (run.name, run.drive, run.fill, run.load) == ("d1-a", "d1", "sequential", "uniform")
    assert run.span_bytes == 2 * GIB
    assert run.base == pytest.approx(1.1)
    assert run.total == pytest.approx(4.0)
    assert run.steady(run.wa) == pytest.approx(2.0)
    assert run.by_volume(run.wa) == pytest.approx([2.0, 2.0, 2.0])


def test_columns_are_found_by_their_names(tmp_path: Path) -> None:
    rows = [",".join(["x", *reversed(row.split(","))]) for row in _run()]
    header = "more," + ",".join(reversed(HEADER.split(",")))
    [run] = measured.read_wa(_table(tmp_path / "wa.csv", rows, header))
    assert run.base == pytest.approx(1.1)


def test_zones_and_runs_from_an_erased_drive(tmp_path: Path) -> None:
    header = f"{HEADER},zone_gib,active_zones"
    rows = [f"z-a,2,zones,{0.1 * i + 0.05:.2f},1.03,0.25,3" for i in range(20)]
    [run] = measured.read_wa(_table(tmp_path / "wa.csv", rows, header))
    assert (run.fill, run.zone_bytes, run.active_zones) == ("sequential", GIB // 4, 3)
    rows = [row.replace("zones", "uniform") for row in rows]
    [run] = measured.read_wa(_table(tmp_path / "wa.csv", [row[:-7] for row in rows]))
    assert (run.fill, run.zone_bytes) == ("none", None)


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
        measured.read_wa(_table(tmp_path / "wa.csv", rows, header))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(fg.ConfigError, match=r"no.csv: cannot be read: No such file"):
        measured.read_wa(tmp_path / "no.csv")


def test_calls_that_are_wrong(tmp_path: Path) -> None:
    start, data = _start(tmp_path), _table(tmp_path / "wa.csv", _run() + _run("d1-b"))
    mixed = _table(tmp_path / "mixed.csv", _run() + _run("d2-b"))
    other = _table(tmp_path / "other.csv", _run(phase="fiozipf"))
    large = _table(tmp_path / "large.csv", _run(span=3.0))
    again = _table(tmp_path / "again.csv", _run())
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
        found: dict[str, Any] = json.loads(configs.resolve("small-nvme", settings))
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
        # The config takes its own text.
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
    # Steps, as a simulation has: no derivative says where to go.
    stepped = _known(lambda s: [round(float(s["a"]) - 0.3, 2)], ["a"])
    assert stepped.fitted[0].value == pytest.approx(0.3, abs=0.006)


def test_two_keys_are_fitted_and_a_pair_without_a_difference_is_named() -> None:
    apart = _known(lambda s: [float(s["a"]) - 0.2, float(s["b"]) - 0.4], ["a", "b"])
    assert [one.value for one in apart.fitted] == pytest.approx([0.2, 0.4], abs=0.005)
    assert apart.indistinct == ()
    alike = _known(lambda s: [float(s["a"]) + float(s["b"]) - 0.6] * 2, ["a", "b"])
    assert alike.error < 0.005
    assert any(text.startswith("a and b: their effects are alike") for text in alike.indistinct)
    # Each of them can be anything, as long as the other makes up for it.
    assert all(at.high - at.low > 0.35 for at in map(_interval, alike.fitted))
    idle = _known(lambda s: [float(s["a"]) - 0.2], ["a", "b"])
    assert [one.is_idle for one in idle.fitted] == [False, True]
    assert any(text.startswith("b: every value") for text in idle.indistinct)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What calibrate is to find: a drive of spare factor 0.27, measured by the simulator."""
    folder = tmp_path_factory.mktemp("synthetic")
    config = json.loads(configs.resolve(_start(folder), {"capacity.spare_factor": "0.27"}))
    rows = []
    for name, span in (("s-a", 2.0), ("s-b", 1.6)):
        blank = _table(folder / "blank.csv", _run(name, span))
        [run] = measured.read_wa(blank)
        drive = scaled.drive(config, 2 * GIB)
        curve = scaled.simulate(drive, run, 8, seed=9)
        fill = [row for row in _run(name, span) if "seq fill" in row]
        load = zip(run.volumes, curve, strict=True)
        rows += fill + [f"{name},{span},uniform,{at:.3f},{1.1 * wa:.6f}" for at, wa in load]
    return _table(folder / "synthetic.csv", rows)


@pytest.fixture(scope="module")
def found(synthetic: Path) -> Calibration:
    start = synthetic.parent / "start.toml"
    spare = ["capacity.spare_factor=0.1..0.5"]
    return calibrate([synthetic], device=start, fit_keys=spare, run=["s-a"], scale=16, seed=3)


def test_a_known_drive_is_found(found: Calibration) -> None:
    [one] = found.fit.fitted
    # Another seed and another scale than those of the "measurement".
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
    # It does better than a drive that never cleans, at 1, where twice that and more was measured.
    assert found.refused is None
    assert found.null_error is not None and found.null_error > 0.5


def test_the_size_of_units_is_not_told_by_uniform_writes(synthetic: Path) -> None:
    start = synthetic.parent / "start.toml"
    unit = ["flash.pages_per_block=2048..8192"]
    config = json.loads(configs.resolve(start, {"capacity.spare_factor": "0.27"}))
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
    # It is a drive, of the capacity that it began with.
    file = tmp_path / "drive.toml"
    file.write_text(text)
    config = json.loads(configs.resolve(file, {}))
    assert config["capacity"]["spare_factor"] == pytest.approx(0.27, abs=0.01)
    assert scaled.capacity_of(config) == pytest.approx(2 * GIB, rel=0.01)
    assert config["flash"]["pages_per_block"] == 4096 and config["timing"] == "none"
    # What was fitted before is still said to have been.
    start = "[flash]\n# Fitted, to x.\npages_per_block = 4096\n"
    assert drive_toml(found, start).count("# Fitted, to") == 2


def test_repeated_runs_say_what_noise_is(tmp_path: Path) -> None:
    config = json.loads(configs.resolve(_start(tmp_path), {}))
    louder = [row[:-3] + "2.266" if row.endswith(",2.2") else row for row in _run("d1-b")]
    study = WaStudy([_table(tmp_path / "wa.csv", _run() + louder)], config)
    assert study.noise == pytest.approx(math.log(1.03))
    assert study.noise_from == "d1-a and d1-b, which are alike"


def test_workloads_are_those_of_the_data(tmp_path: Path) -> None:
    config = json.loads(configs.resolve(_start(tmp_path), {}))
    drive = scaled.drive(config, 2 * GIB)
    names = ["uniform", "zipf", "zipf-noshuffle", "two-zone s0.2 f0.8 s0.8 f0.2"]
    rows = [row for i, name in enumerate(names) for row in _run(f"d-{i}", 1.9, name)]
    rows += [row.replace("seq fill", "shuffled fill") for row in _run("d-5", 1.9)]
    for run in measured.read_wa(_table(tmp_path / "wa.csv", rows)):
        assert scaled.why_not(run) is None
        curve = scaled.simulate(drive, run, 32, seed=1)
        assert len(curve) == 80 and curve[0] == pytest.approx(1.0)
        assert 1.5 < run.steady(curve) < 4
    [run] = measured.read_wa(_table(tmp_path / "x.csv", _run(phase="two-zone s1 f1")))
    assert (scaled.why_not(run) or "").startswith("its workload 'two-zone s1 f1' is not known")
    for load in ("two-zone s0.2 f0.8 s0.2 f0.2", "two-zone s0.2 f0.8 s0.8 f0.8", "zipfian"):
        [run] = measured.read_wa(_table(tmp_path / "x.csv", _run(phase=load)))
        assert "is not known" in (scaled.why_not(run) or ""), load


def test_zones_of_a_two_zone_run_lie_all_over_the_span(tmp_path: Path) -> None:
    """As in SSD-iq, which permutes the pages: contiguous zones share no unit after the fill."""
    config = json.loads(configs.resolve(_start(tmp_path), {}))
    drive = scaled.drive(config, 2 * GIB)
    load = "two-zone s0.05 f0.95 s0.95 f0.05"
    [run] = measured.read_wa(_table(tmp_path / "x.csv", _run(phase=load)))
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
    """As a drive that programs page by page, with as many pages in a unit."""
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
    config = json.loads(configs.resolve(rows_of_pages, {}))
    rows = scaled.drive(config, scaled.capacity_of(config))
    flash = {"pages_per_block": 96 * 4, "blocks": 512, "superblock": 8, "planes": 8}
    others = {key: rows_of_pages[key] for key in ("capacity", "cleaning")}
    config = json.loads(configs.resolve({"flash": flash, **others}, {}))
    pages = scaled.drive(config, scaled.capacity_of(config))
    assert (rows.page, rows.unit_pages, rows.units) == (4096, 3072, 64)
    assert (rows.unit_pages, rows.units) == (pages.unit_pages, pages.units)
    span = rows.capacity_bytes / GIB
    [run] = measured.read_wa(_table(tmp_path / "wa.csv", _run(span=span)))
    assert scaled.simulate(rows, run, 32, 1)[:20] == scaled.simulate(pages, run, 32, 1)[:20]


def test_the_command_writes_the_drive_and_tells_what_it_did(
    cli: Cli, synthetic: Path, tmp_path: Path
) -> None:
    common = ["calibrate", synthetic, "--device", synthetic.parent / "start.toml"]
    common += ["--fit", "capacity.spare_factor=0.2..0.35", "--run", "s-a", "--scale", "1/32"]
    done = cli(*common, "-o", "drive.toml")
    assert done.returncode == 0, done.stderr
    assert "capacity.spare_factor = 0.2" in done.stdout and "held out" in done.stdout
    assert "# Fitted, to s-a" in (tmp_path / "drive.toml").read_text()
    again = cli(*common, "-o", "drive.toml")
    assert again.returncode == 2 and "exists; --force replaces it" in again.stderr
    told = cli(*common, "-o", "drive.toml", "--force", "--json", "--holdout", "s-b", "-q")
    document = json.loads(told.stdout)
    assert document["runs"] == ["s-a"] and document["fitted"][0]["fixed_by_data"]
    assert document["held_out"][0]["run"] == "s-b"
    assert {"steady_error", "curve_mean", "curve_worst"} <= {*document["held_out"][0]["numbers"]}
    assert len(document["on_fitted"][0]["simulated"]) == 80


def test_a_call_that_fails_leaves_no_file(cli: Cli, synthetic: Path, tmp_path: Path) -> None:
    start = synthetic.parent / "start.toml"
    spare = "capacity.spare_factor"
    for arguments, words in (
        ((synthetic, "--fit", spare, "--run", "s-z"), "'s-z' is not in the data"),
        ((synthetic, "--fit", "x=1..2", "--run", "s-a"), "x"),
        ((synthetic, "--fit", spare, "--run", "s-a", "--scale", "2"), "expected 1/N"),
        ((synthetic, "--fit", spare, "--run", "s-a,"), "expected names between commas"),
        (("no.csv", "--fit", spare), "no.csv: cannot be read"),
        ((synthetic,), "'--fit': missing; expected keys to fit, or --predict"),
        ((synthetic, "--predict"), "'--out': is of a fit"),
        ((synthetic, "--fit", spare, "--size", "2GiB", "--set", "flash.blocks=3"), "size"),
        ((synthetic, "--fit", spare, "--set", "flash.blocks"), "expected KEY=VALUE"),
    ):
        done = cli("calibrate", *arguments, "--device", start, "-o", "drive.toml")
        assert done.returncode == 2, arguments
        assert words in done.stderr and done.stderr.count("\n") == 1
        assert not list(tmp_path.glob("*drive.toml*"))
    done = cli("calibrate", synthetic, "--fit", spare, "--device", start, "-o", synthetic)
    assert done.returncode == 2 and "is the input" in done.stderr


def test_a_fit_that_explains_nothing_is_refused(cli: Cli, tmp_path: Path) -> None:
    """It is printed all the same; the process fails, and writes no drive."""
    rows = [row[:-3] + "9.9" if row.endswith(",2.2") else row for row in _run()]
    data, start = _table(tmp_path / "wa.csv", rows), _start(tmp_path)
    call = ["calibrate", data, "--device", start, "--scale", "1/64", "-o", "drive.toml"]
    done = cli(*call, "--fit", "capacity.spare_factor=0.2..0.3", "--no-intervals")
    assert done.returncode == 1
    assert "capacity.spare_factor = 0.2" in done.stdout and "steady" in done.stdout
    assert "floatgate: no drive is written: the drive differs from the data by" in done.stderr
    assert not (tmp_path / "drive.toml").exists()
    # The data do not fix the unit: uniform writes do not tell it.
    done = cli(
        *(*call[:-2], "-o", "-", "--fit", "flash.pages_per_block=2048..8192", "--json", "-q"),
        *("--noise", "0.5", "--force"),
    )
    assert done.returncode == 1
    assert "do not fix flash.pages_per_block" in json.loads(done.stdout)["refused"]


def _fit_of(error: float, value: float, noise: float = 0.01) -> fit.Fit:
    interval = fit.Interval(value - 0.01, value + 0.01, False, False)
    one = fit.Fitted(keys.Key("a", "number", 0.1, 0.5), value, interval)
    return fit.Fit((one,), error, noise, (), 1)


def test_the_rules_of_refusing() -> None:
    for found, null, words in (
        (_fit_of(0.2, 0.3), None, None),
        (_fit_of(0.26, 0.3), None, "differs from the data by 26.0 % (rms), more than 25.0 %"),
        # Repeated runs differ by a tenth: three times that is within them.
        (_fit_of(0.26, 0.3, noise=0.1), None, None),
        (_fit_of(0.11, 0.5), None, "a = 0.5 is an end of its range, 0.1..0.5; search further"),
        (_fit_of(0.11, 0.1), None, "a = 0.1 is an end of its range"),
        (_fit_of(0.09, 0.5), None, None),
        (_fit_of(0.11, 0.3), 0.1, "nothing does as well, with 10.0 %"),
        (_fit_of(0.09, 0.3), 0.08, None),
    ):
        why = why_refused(found, null, "nothing")
        assert why is None if words is None else words in (why or ""), (found, why)
    # Nothing is below 0, so a search cannot go further there.
    zero = replace(_fit_of(0.11, 0.0).fitted[0], key=keys.Key("a", "number", 0.0, 0.5))
    assert not zero.is_at_end


def test_runs_count_alike_whatever_is_compared_of_them() -> None:
    one_of_four, one = [0.1, 0.1, 0.1, 0.1], [0.3]
    mean = math.sqrt((0.1**2 + 0.3**2) / 2)
    assert fit.rms(fit.weighted([one_of_four, one])) == pytest.approx(mean)
    assert fit.weighted([one_of_four, one_of_four]) == one_of_four * 2


def test_predictions_without_a_fit(cli: Cli, synthetic: Path, tmp_path: Path) -> None:
    """The drive that was measured, by a preset's size and keys: no fit, and no file."""
    call = ["calibrate", synthetic, "--device", synthetic.parent / "start.toml", "--predict"]
    call += ["--set", "capacity.spare_factor=0.27", "--size", "2GiB", "--scale", "1/16"]
    before = sorted(tmp_path.iterdir())
    done = cli(*call)
    assert done.returncode == 0, done.stderr
    assert "nothing fitted" in done.stdout and "predicted" in done.stdout
    assert sorted(tmp_path.iterdir()) == before
    document = json.loads(cli(*call, "--json", "--run", "s-b", "-q").stdout)
    [run] = document["predicted"]
    assert run["run"] == "s-b" and abs(run["numbers"]["steady_error"]) < 0.02
    assert document["left_out"] == {"s-a": "not asked for"}
    assert [(one["run"], one["scale"]) for one in document["scales"]] == [("s-b", 8), ("s-b", 32)]
    for option in (("--fit", "x"), ("--out", "d.toml"), ("--holdout", "rest"), ("--noise", "0.1")):
        done = cli(*call, *option)
        assert done.returncode == 2 and f"'{option[0]}': is of a fit" in done.stderr
    assert cli(*call, "--no-intervals").returncode == 2


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


def test_labels_and_numbers_are_whole_at_every_width(
    cli: Cli, synthetic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "s-a-run-of-which-the-name-is-long"
    data = tmp_path / "long.csv"
    data.write_text(synthetic.read_text().replace("s-a,", f"{name},"))
    call = ["calibrate", data, "--device", synthetic.parent / "start.toml", "--predict"]
    call += ["--size", "2GiB", "--run", name, "--scale", "1/64"]
    numbers = json.loads(cli(*call, "--json").stdout)["predicted"][0]["numbers"]
    for columns in ("40", "72", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        done = cli(*call, "-q")
        lines = done.stdout.splitlines()
        assert any(line.startswith(f"{name}  predicted") for line in lines)
        words = done.stdout.split()
        for key in ("steady_measured", "steady_simulated"):
            assert f"{numbers[key]:.4g}" in words, (columns, done.stdout)
        assert "…" not in done.stdout
        if int(columns) >= 72:
            assert max(map(len, lines)) <= int(columns)


def test_progress_is_lines_where_there_is_no_terminal(cli: Cli, synthetic: Path) -> None:
    call = ["calibrate", synthetic, "--device", synthetic.parent / "start.toml", "--predict"]
    call += ["--scale", "1/64"]
    assert cli(*call).stderr.startswith("simulating runs: 0 of 6 done\n")
    assert cli(*call, "-q").stderr == ""


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
