"""Fitting to latency under load: reading rates, scaling the drive down, and the compared
numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from calibrate_kit import write_table
from paths import ROOT

import floatgate as fg
from floatgate.calibrate import calibrate, latency, loads, predict, scaled
from floatgate.calibrate.drive_file import drive_toml
from floatgate.calibrate.fit import rms
from floatgate.calibrate.work import Start, Work
from floatgate.simulation import configs

LATENCY_HEADER = ",".join(loads.NEEDED)
LATENCY_ROW = "h0,{group},30000,35000,5249,29758,104.6,66,397,10.4,10,13"


def test_rates_are_read(tmp_path: Path) -> None:
    rows = [LATENCY_ROW.format(group=group) for group in ("latency", "load", "all")]
    [load] = latency.read_loads(write_table(tmp_path / "l.csv", rows, LATENCY_HEADER))
    assert (load.name, load.offered, load.depth) == ("h0-30000", 35000, 448)
    assert load.is_served and load.measured["r_p99_us"] == 397
    assert load.read_share == pytest.approx(0.15, abs=0.001)
    requests = latency.requests(load, 1 << 30, seed=1)
    assert requests.height == pytest.approx(loads.READS_LEAST / load.read_share, abs=1)
    seconds = requests["at_ns"].max() / 1e9
    assert requests.height / seconds == pytest.approx(35000, rel=0.02)
    assert (requests["op"] == 0).mean() == pytest.approx(0.15, abs=0.005)
    with pytest.raises(fg.ConfigError, match='no rows of the group "all"'):
        latency.read_loads(write_table(tmp_path / "l.csv", rows[:1], LATENCY_HEADER))
    with pytest.raises(fg.ConfigError, match="line 2: w_p99_us is 'inf'"):
        wrong = [rows[2].replace(",13", ",inf")]
        latency.read_loads(write_table(tmp_path / "l.csv", wrong, LATENCY_HEADER))
    for wrong, words in (
        (rows[2].replace(",66,", ",0,"), "line 2: r_p50_us is 0; expected more"),
        (rows[2].replace(",35000,", ",9000,"), "offered_iops is 9000; expected more than the 100"),
    ):
        with pytest.raises(fg.ConfigError, match=words):
            latency.read_loads(write_table(tmp_path / "l.csv", [wrong], LATENCY_HEADER))
    with pytest.raises(fg.ConfigError, match="columns group, rate_iops"):
        latency.read_loads(write_table(tmp_path / "l.csv", rows, "drive,offered_iops"))


def _side(total: int, iops: float) -> dict[str, Any]:
    percentile = {"50.000000": 80_000, "99.000000": 400_000}
    return {
        "iops": iops,
        "total_ios": total,
        "lat_ns": {"mean": 101_000.0},
        "clat_ns": {"mean": 100_000.0, "percentile": percentile},
    }


def _job(
    name: str = "random-read", read: float = 7000.0, write: float = 0.0, **options: str
) -> dict[str, Any]:
    """Returns a job of fio that ran for a minute, with these reads and writes a second."""
    given = {"bs": "4k", "iodepth": "1", "rw": "randread", **options}
    sides = {"read": _side(int(60 * read), read), "write": _side(int(60 * write), write)}
    return {"jobname": name, "job options": given, **sides}


def _fio(path: Path, *jobs: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"jobs": jobs}))
    return path


def _simulated(file: Path, job: dict[str, Any], device: Any, scale: int) -> Path:
    """Writes the job with the latencies of reads that the simulator measures on a device."""
    config = configs.resolve(device, {}).table()
    study = latency.LatencyStudy([_fio(file, job)], config)
    told = study.tell(study.names[0], config, scale, 1).numbers
    times = {"50.000000": told["r_p50_us_simulated"] * 1e3}
    times["99.000000"] = told["r_p99_us_simulated"] * 1e3
    job["read"]["clat_ns"] = {"mean": told["r_mean_us_simulated"] * 1e3, "percentile": times}
    return _fio(file, job)


def test_fio_is_read(tmp_path: Path) -> None:
    how = {"rate_iops": "1000,3000", "iodepth": "16", "rate_process": "poisson"}
    job = _job("mixed", 995.0, 2985.0, **how)
    del job["job options"]["bs"]
    file = tmp_path / "fio.json"
    file.write_text(json.dumps({"global options": {"bs": "8k"}, "jobs": [job]}))
    [load] = latency.read_loads(file)
    assert (load.name, load.offered, load.size, load.depth) == ("fio-mixed", 4000, 8192, 16)
    assert load.read_share == 0.25 and not load.constant and load.is_served
    assert load.measured["r_mean_us"] == 100.0 and load.measured["w_p99_us"] == 400.0
    for text, words in (
        ("", "is no JSON of fio"),
        ("{}", "jobs is missing"),
        (json.dumps({"jobs": [{"jobname": "x"}]}), "job 0: has no read; expected a job of fio's"),
        (json.dumps({"jobs": [3]}), "job 0: AttributeError"),
    ):
        file.write_text(text)
        with pytest.raises(fg.ConfigError, match=words):
            latency.read_loads(file)


def test_latency_under_load_is_fitted(tmp_path: Path) -> None:
    """Finds a drive whose reads take 60 us, measured by the simulator as fio would measure it."""
    device = {
        "flash": {"blocks": 4096, "channels": 4, "dies": 2, "read": "60us", "bus": "1GB/s"},
        "capacity": {"spare_factor": 0.3},
    }
    job = _job("reads", 2000.0, rate_iops="2000", iodepth="4")
    file = _simulated(tmp_path / "fio.json", job, device, 8)
    found = calibrate(
        [file], device=device, fit_keys=["flash.read=20us..150us"], scale=8, noise=0.02
    )
    assert found.kind == "latency"
    [one] = found.fit.fitted
    assert one.value == pytest.approx(60_000, rel=0.02)
    assert found.on_fitted[0].numbers["below_knee"] == 1


PROGRAM_UNITS = {
    "flash": {
        "page": "16KiB",
        "program_pages": 3,
        "pages_per_block": 96,
        "blocks": 512,
        "channels": 2,
        "dies": 2,
        "planes": 2,
        "superblock": 8,
        "program": "600us",
        "erase": "4ms",
        "bus": "1200MB/s",
    },
    "mapping": {"scheme": "ideal", "unit": "4KiB"},
    "capacity": {"spare_factor": 0.2},
    "schedule": {"order": "read_first"},
    "cleaning": {"copies_per_write": 8},
}


def test_a_drive_with_a_clock_is_made_smaller() -> None:
    config = configs.resolve(PROGRAM_UNITS, {}).table()
    small = scaled.smaller(config, scaled.capacity_of(config), 4)
    shape = ("channels", "dies", "planes", "superblock", "program_pages", "page")
    assert all(small["flash"][key] == config["flash"][key] for key in shape)
    # 32 rows become 8, and the number of blocks stays. Erases take a quarter of the time.
    assert (small["flash"]["pages_per_block"], small["flash"]["blocks"]) == (24, 512)
    assert small["flash"]["erase"] == "1000000ns"
    # A block keeps at least 4 rows. Below that, the number of blocks falls.
    small = scaled.smaller(config, scaled.capacity_of(config), 16)
    assert (small["flash"]["pages_per_block"], small["flash"]["blocks"]) == (12, 256)
    assert small["flash"]["erase"] == "500000ns"
    # A unit keeps at least 32 map units.
    flash = {"pages_per_block": 64, "blocks": 4096}
    config = configs.resolve({"flash": flash}, {}).table()
    assert scaled.smaller(config, 1 << 30, 16)["flash"]["pages_per_block"] == 32


def test_rates_are_served_up_to_the_knee(tmp_path: Path) -> None:
    """At a rate beyond the knee, only the served throughput is compared."""
    served = ["h0,all,30000,35000,5249,29758,104.6,66,397,10.4,10,13"]
    at_knee = ["h0,all,80000,85000,5753,79208,3413,3890,6032,3862,4387,6863"]
    beyond = ["h0,all,90000,95000,5754,79387,4588,4779,6066,5120,5215,6888"]
    file = write_table(tmp_path / "l.csv", served + at_knee + beyond, LATENCY_HEADER)
    config = configs.resolve(PROGRAM_UNITS, {}).table()
    study = latency.LatencyStudy([file], config)
    assert study.knee == 5754 + 79387
    below = {name: study.below_knee(load) for name, load in study.loads.items()}
    assert below == {"h0-30000": True, "h0-80000": False, "h0-90000": False}
    assert study.loads["h0-80000"].is_served
    assert len(study.residuals("h0-30000", config, 4, 1)) == 4
    assert len(study.residuals("h0-90000", config, 4, 1)) == 1
    # Throughput times mean latency is the number of outstanding requests (Little's law).
    told = study.tell("h0-90000", config, 4, 1).numbers
    outstanding = told["iops_simulated"] * told["w_mean_us_simulated"] / 1e6
    assert outstanding == pytest.approx(loads.OUTSTANDING, rel=0.1)


def test_a_drive_that_programs_rows_is_fitted_to_latency(tmp_path: Path) -> None:
    how = {"rw": "randrw", "rate_iops": "2000,8000", "iodepth": "64", "rate_process": "poisson"}
    job = _job("mixed", 2000.0, 8000.0, **how)
    file = _simulated(tmp_path / "fio.json", job, PROGRAM_UNITS, 16)
    found = calibrate(
        [file],
        device=PROGRAM_UNITS,
        fit_keys=["flash.program=300us..1200us"],
        scale=16,
        noise=0.02,
    )
    [one] = found.fit.fitted
    assert one.value == pytest.approx(600_000, rel=0.05)


def _study(*files: Path, **tables: Any) -> latency.LatencyStudy:
    config = configs.resolve({**PROGRAM_UNITS, **tables}, {}).table()
    return latency.LatencyStudy(files, config)


def test_jobs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Names differ by depth and jobs, else by file, else by a number."""
    one, other = tmp_path / "a.json", tmp_path / "b,c.json"
    _fio(one, _job(iodepth="1"))
    _fio(other, _job(iodepth="16"))
    names = ["fio-random-read-qd1", "fio-random-read-qd16"]
    study = _study(one, other)
    assert study.names == names and study.groups["fio-random-read"] == names
    _fio(other, _job(iodepth="1", numjobs="4", group_reporting="1"))
    assert _study(one, other).names == ["fio-random-read-qd1", "fio-random-read-qd1x4"]
    _fio(other, _job(), _job("other"))
    assert _study(one, other).names == ["fio-random-read-a", "fio-random-read-b_c", "fio-other"]
    _fio(other, _job(rw="read"), _job(rw="randread"))
    apart = ["fio-random-read-a#1", "fio-random-read-b_c#2", "fio-random-read-b_c#3"]
    assert _study(one, other).names == apart
    assert _study(one).names == ["fio-random-read"]
    # The name of a job selects all its runs, and each file is read once.
    found = predict([one, other], device=PROGRAM_UNITS, scale=64, run=["fio-random-read"])
    assert [told.run for told in found.predicted] == apart
    with pytest.raises(fg.ConfigError, match=r"a.json is given twice"):
        predict([one, one], device=PROGRAM_UNITS)
    with pytest.raises(fg.ConfigError, match="'random' is not in the data; there is fio-random"):
        predict([one, other], device=PROGRAM_UNITS, run=["random"])


def test_clones_of_a_job_are_one_run(tmp_path: Path) -> None:
    """Without group_reporting fio's JSON has one job for each of `numjobs`, and all ran at once."""
    jobs = [_job(read=read, numjobs="2", iodepth="4", rate_iops="4000") for read in (1e3, 3e3)]
    jobs[1]["read"]["clat_ns"]["mean"] = 200_000.0
    [load] = latency.read_loads(_fio(tmp_path / "f.json", *jobs))
    assert (load.measured["iops"], load.depth, load.offered) == (4000, 8, 8000)
    assert load.measured["r_mean_us"] == pytest.approx((100 + 3 * 200) / 4)
    # Four jobs with numjobs = 2 are two runs. Three jobs cannot come from numjobs = 2, so each is a
    # run.
    assert len(latency.read_loads(_fio(tmp_path / "f.json", *jobs, *jobs))) == 2
    assert len(latency.read_loads(_fio(tmp_path / "f.json", *jobs, jobs[0]))) == 3
    grouped = [_job(numjobs="2", group_reporting="1")] * 2
    assert len(latency.read_loads(_fio(tmp_path / "f.json", *grouped))) == 2


def test_jobs_in_order_are_simulated_in_order(tmp_path: Path) -> None:
    """Sequential reads of 4 KiB must differ from random ones: four share a flash page, which is
    sensed once."""
    for rw, pattern in (
        ("read", "sequential"),
        ("write:8", "sequential"),
        ("randrw", "uniform"),
        ("randread:2", "uniform"),
    ):
        [load] = latency.read_loads(_fio(tmp_path / "f.json", _job(rw=rw)))
        assert load.pattern == pattern, rw
    file = _fio(tmp_path / "f.json", _job(rw="read"), _job("random"))
    in_order, random = predict([file], device=PROGRAM_UNITS, scale=64).predicted
    assert in_order.numbers["outstanding"] == 1 and "below_knee" not in in_order.numbers
    assert in_order.numbers["iops_simulated"] != random.numbers["iops_simulated"]


CASE = ROOT.parent / "shared" / "cases" / "fio-json-same-jobname"


@pytest.mark.skipif(not CASE.is_dir(), reason="the case is no part of the repository")
def test_the_same_job_at_several_depths() -> None:
    files = sorted(CASE.glob("*.json"))
    found = predict(files, device=PROGRAM_UNITS, scale=64)
    runs = ["fio-random-read-qd1", "fio-random-read-qd16"]
    assert [told.run for told in found.predicted] == runs
    fitted = calibrate(
        files,
        device=PROGRAM_UNITS,
        fit_keys=["flash.read=20us..200us"],
        run=["fio-random-read-qd1"],
        scale=64,
        noise=0.02,
        intervals=False,
    )
    assert fitted.refused is None and fitted.fit.error < 0.01
    assert [told.run for told in fitted.held_out] == runs[1:]


def test_what_of_the_device_is_not_used_is_listed(tmp_path: Path) -> None:
    fio = _fio(tmp_path / "f.json", _job())
    row = LATENCY_ROW.format(group="all")
    table = write_table(tmp_path / "l.csv", [row], LATENCY_HEADER)
    queue = {"depth": 64, "arrivals": "closed"}
    notes = _study(table, queue=queue, start={"fill": "none"}, timing="none").notes
    assert notes[0].startswith('timing = "none" of the device is not used')
    assert notes[1].startswith('queue.depth = 64, queue.arrivals = "closed" of the device is not')
    assert notes[2].startswith('start.fill = "none" of the device is not used: SSD-iq filled')
    assert _study(table).notes == []
    # fio's JSON does not state the start. The device's start is kept, and without one a note says
    # so.
    [note] = _study(fio).notes
    assert note.startswith("fio's JSON does not state what was written before the job")
    assert _study(fio, start={"fill": "shuffled", "overwrites": 0.5}).notes == []
    for key in ("queue.depth=1..9", "start.overwrites=1..2"):
        with pytest.raises(fg.ConfigError, match="changes nothing"):
            calibrate([table], device=PROGRAM_UNITS, fit_keys=[key])
    at_once = [_job("a") | {"groupid": 0}, _job("b") | {"groupid": 0}, _job("c") | {"groupid": 1}]
    notes = _study(_fio(fio, *at_once)).notes
    assert notes[-1].startswith("fio-a and fio-b of f.json are jobs of one fio group")


def test_the_start_of_the_device_is_kept_for_fio(tmp_path: Path) -> None:
    """Without the start, reads of an empty drive would take no time. queue.dispatch is kept as
    well."""
    fio = _fio(tmp_path / "f.json", _job())

    def numbers(**set: str) -> Mapping[str, float]:
        settings = {key.replace("__", "."): value for key, value in set.items()}
        found = predict([fio], device=PROGRAM_UNITS, set=settings, scale=64)
        return found.predicted[0].numbers

    full, empty = numbers(), numbers(start__fill="none")
    assert full["r_p50_us_simulated"] > 25 and "r_p50_us_simulated" not in empty
    assert numbers(queue__dispatch="serial")["iops_simulated"] > 0
    rated = _fio(tmp_path / "rated.json", _job(rate_iops="7000"))
    words = r"run fio-random-read: r_mean_us of the simulated drive is 0; expected a drive .* full"
    with pytest.raises(fg.ConfigError, match=words):
        calibrate(
            [rated],
            device=PROGRAM_UNITS,
            set={"start.fill": "none"},
            fit_keys=["flash.read=20us..50us"],
            scale=64,
        )


def test_a_list_of_times_becomes_one(tmp_path: Path) -> None:
    device = json.loads(json.dumps(PROGRAM_UNITS))
    device["flash"]["read"] = ["30us", "40us", "50us"]
    how: dict[str, Any] = {"fit_keys": ["flash.read=20us..150us"], "scale": 64, "noise": 0.02}
    file = _fio(tmp_path / "f.json", _job())
    found = calibrate([file], device=device, intervals=False, **how)
    assert any(note.startswith("flash.read of the device is a list") for note in found.notes)
    assert isinstance(found.config["flash"]["read"], str)
    # The fit runs with the clock, so the written drive has no `timing = "none"`.
    device["timing"] = "none"
    again = calibrate([file], device=device, intervals=False, **how)
    assert again.fit.fitted[0].value == found.fit.fitted[0].value
    assert 'timing = "none"' not in drive_toml(again)


def test_the_knee_counts_as_much_as_a_rate(tmp_path: Path) -> None:
    """The scale is checked at the lowest rate, the highest rate below the knee, and the knee."""
    rows = [
        "h0,all,30000,35000,5249,29758,104.6,66,397,10.4,10,13",
        "h0,all,20000,25000,5148,19854,89.3,64,372,10.3,10,13",
        "h0,all,40000,45000,5351,39649,119.9,72,411,10.3,10,13",
        "h0,all,80000,85000,5753,79208,3413,3890,6032,3862,4387,6863",
        "h0,all,90000,95000,5754,79387,4588,4779,6066,5120,5215,6888",
    ]
    file = write_table(tmp_path / "l.csv", rows, LATENCY_HEADER)
    study = _study(file)
    assert study.extremes(study.names) == ["h0-20000", "h0-40000", "h0-90000"]
    runs = ["h0-30000", "h0-90000"]
    work = Work([file], Start(PROGRAM_UNITS, {}, None), scale=16, seed=1, progress=None)
    rate, knee = (study.residuals(run, work.config, 16, 1) for run in runs)
    assert (len(rate), len(knee)) == (4, 1)
    mean = (sum(one**2 for one in rate) / 4 + knee[0] ** 2) / 2
    assert rms(work.residuals(runs, {})) == pytest.approx(mean**0.5)
    at = [(one.told.run, one.scale) for one in work.scales(["h0-30000"], work.config)]
    assert at == [("h0-30000", 8), ("h0-30000", 32)]
    closed = _study(
        *(_fio(tmp_path / f"{n}.json", _job(iodepth=f"{n}")) for n in (4, 1, 16)),
    )
    assert closed.extremes(closed.names) == ["fio-random-read-qd1", "fio-random-read-qd16"]


def test_the_null_model_of_latency(tmp_path: Path) -> None:
    """The null model gives every load the same number. It has no error for one run, and for several
    runs their spread."""
    row = "h0,all,{rate},{offered},5000,{writes},{mean},100,400,10,10,10"
    rows = [
        row.format(rate=rate, offered=rate + 5000, writes=rate, mean=mean)
        for rate, mean in ((20000, 100), (40000, 400))
    ]
    study = _study(write_table(tmp_path / "l.csv", rows, LATENCY_HEADER))
    assert study.null(["h0-20000"]) is None
    # One of four numbers is off by a factor of two, above and below the mean.
    assert study.null(study.names) == pytest.approx((0.6931**2 / 4) ** 0.5, rel=0.001)
