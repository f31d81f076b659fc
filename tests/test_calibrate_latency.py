"""Fitting to latency under load: reading rates, the smaller drive, what is compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from floatgate import configs
from floatgate.calibrate import calibrate, latency, scaled


def _table(path: Path, rows: list[str], header: str) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


LATENCY_HEADER = ",".join(latency.NEEDED)
LATENCY_ROW = "h0,{group},30000,35000,5249,29758,104.6,66,397,10.4,10,13"


def test_rates_are_read(tmp_path: Path) -> None:
    rows = [LATENCY_ROW.format(group=group) for group in ("latency", "load", "all")]
    [load] = latency.read_loads(_table(tmp_path / "l.csv", rows, LATENCY_HEADER))
    assert (load.name, load.offered, load.depth) == ("h0-30000", 35000, 448)
    assert load.is_served and load.measured["r_p99_us"] == 397
    assert load.read_share == pytest.approx(0.15, abs=0.001)
    requests = latency.requests(load, 1 << 30, seed=1)
    assert requests.height == pytest.approx(latency.READS_LEAST / load.read_share, abs=1)
    seconds = requests["at_ns"].max() / 1e9
    assert requests.height / seconds == pytest.approx(35000, rel=0.02)
    assert (requests["op"] == 0).mean() == pytest.approx(0.15, abs=0.005)
    with pytest.raises(fg.ConfigError, match='no rows of the group "all"'):
        latency.read_loads(_table(tmp_path / "l.csv", rows[:1], LATENCY_HEADER))
    with pytest.raises(fg.ConfigError, match="line 2: w_p99_us is 'inf'"):
        wrong = [rows[2].replace(",13", ",inf")]
        latency.read_loads(_table(tmp_path / "l.csv", wrong, LATENCY_HEADER))
    with pytest.raises(fg.ConfigError, match="columns group, rate_iops"):
        latency.read_loads(_table(tmp_path / "l.csv", rows, "drive,offered_iops"))


def _side(total: int, iops: float) -> dict[str, Any]:
    percentile = {"50.000000": 80_000, "99.000000": 400_000}
    return {
        "iops": iops,
        "total_ios": total,
        "lat_ns": {"mean": 101_000.0},
        "clat_ns": {"mean": 100_000.0, "percentile": percentile},
    }


def test_fio_is_read(tmp_path: Path) -> None:
    job = {
        "jobname": "mixed",
        "job options": {"rate_iops": "1000,3000", "iodepth": "16", "rate_process": "poisson"},
        "read": _side(1000, 995.0),
        "write": _side(3000, 2990.0),
    }
    file = tmp_path / "fio.json"
    file.write_text(json.dumps({"global options": {"bs": "8k"}, "jobs": [job]}))
    [load] = latency.read_loads(file)
    assert (load.name, load.offered, load.size, load.depth) == ("fio-mixed", 4000, 8192, 16)
    assert load.read_share == 0.25 and not load.constant and load.is_served
    assert load.measured["r_mean_us"] == 100.0 and load.measured["w_p99_us"] == 400.0
    for text, words in (
        ("", "is no JSON of fio"),
        ("{}", "jobs is missing"),
        (json.dumps({"jobs": [{"jobname": "x"}]}), "job 0: KeyError"),
    ):
        file.write_text(text)
        with pytest.raises(fg.ConfigError, match=words):
            latency.read_loads(file)


def test_latency_under_load_is_fitted(tmp_path: Path) -> None:
    """A drive whose reads take 60 us, measured by the simulator as fio would."""
    device = {
        "flash": {"blocks": 4096, "channels": 4, "dies": 2, "read": "60us", "bus": "1GB/s"},
        "capacity": {"spare_factor": 0.3},
    }
    study_start = json.loads(configs.resolve(device, {}))
    job = {
        "jobname": "reads",
        "job options": {"rate_iops": "2000", "iodepth": "4"},
        "read": _side(2000, 2000.0),
        "write": _side(0, 0.0),
    }
    file = tmp_path / "fio.json"
    file.write_text(json.dumps({"jobs": [job]}))
    study = latency.LatencyStudy([file], study_start)
    told = study.tell("fio-reads", study_start, 8, 1).numbers
    times = {"50.000000": told["r_p50_us_simulated"] * 1e3}
    times["99.000000"] = told["r_p99_us_simulated"] * 1e3
    job["read"]["clat_ns"] = {"mean": told["r_mean_us_simulated"] * 1e3, "percentile": times}
    file.write_text(json.dumps({"jobs": [job]}))
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
    config = json.loads(configs.resolve(PROGRAM_UNITS, {}))
    small = scaled.smaller(config, scaled.capacity_of(config), 4)
    shape = ("channels", "dies", "planes", "superblock", "program_pages", "page")
    assert all(small["flash"][key] == config["flash"][key] for key in shape)
    # 32 rows become 8, and the blocks are as many; erases take a quarter of the time.
    assert (small["flash"]["pages_per_block"], small["flash"]["blocks"]) == (24, 512)
    assert small["flash"]["erase"] == "1000000ns"
    # Not below 4 rows: then there are fewer blocks.
    small = scaled.smaller(config, scaled.capacity_of(config), 16)
    assert (small["flash"]["pages_per_block"], small["flash"]["blocks"]) == (12, 256)
    assert small["flash"]["erase"] == "500000ns"
    # And not below 32 pages of the map in a unit.
    flash = {"pages_per_block": 64, "blocks": 4096}
    config = json.loads(configs.resolve({"flash": flash}, {}))
    assert scaled.smaller(config, 1 << 30, 16)["flash"]["pages_per_block"] == 32


def test_rates_are_served_up_to_the_knee(tmp_path: Path) -> None:
    """Of a rate from the knee on, only what is served is compared."""
    served = ["h0,all,30000,35000,5249,29758,104.6,66,397,10.4,10,13"]
    at_knee = ["h0,all,80000,85000,5753,79208,3413,3890,6032,3862,4387,6863"]
    beyond = ["h0,all,90000,95000,5754,79387,4588,4779,6066,5120,5215,6888"]
    file = _table(tmp_path / "l.csv", served + at_knee + beyond, LATENCY_HEADER)
    config = json.loads(configs.resolve(PROGRAM_UNITS, {}))
    study = latency.LatencyStudy([file], config)
    assert study.knee == 5754 + 79387
    below = {name: study.below_knee(load) for name, load in study.loads.items()}
    assert below == {"h0-30000": True, "h0-80000": False, "h0-90000": False}
    assert study.loads["h0-80000"].is_served
    assert len(study.residuals("h0-30000", config, 4, 1)) == 4
    assert len(study.residuals("h0-90000", config, 4, 1)) == 1
    # With as many outstanding as were, writes take these over the rate.
    told = study.tell("h0-90000", config, 4, 1).numbers
    outstanding = told["iops_simulated"] * told["w_mean_us_simulated"] / 1e6
    assert outstanding == pytest.approx(latency.OUTSTANDING, rel=0.1)


def test_a_drive_that_programs_rows_is_fitted_to_latency(tmp_path: Path) -> None:
    job = {
        "jobname": "mixed",
        "job options": {"rate_iops": "2000,8000", "iodepth": "64", "rate_process": "poisson"},
        "read": _side(2000, 2000.0),
        "write": _side(8000, 8000.0),
    }
    file = tmp_path / "fio.json"
    file.write_text(json.dumps({"jobs": [job]}))
    study = latency.LatencyStudy([file], json.loads(configs.resolve(PROGRAM_UNITS, {})))
    told = study.tell("fio-mixed", json.loads(configs.resolve(PROGRAM_UNITS, {})), 16, 1).numbers
    times = {"50.000000": told["r_p50_us_simulated"] * 1e3}
    times["99.000000"] = told["r_p99_us_simulated"] * 1e3
    job["read"]["clat_ns"] = {"mean": told["r_mean_us_simulated"] * 1e3, "percentile": times}
    file.write_text(json.dumps({"jobs": [job]}))
    found = calibrate(
        [file],
        device=PROGRAM_UNITS,
        fit_keys=["flash.program=300us..1200us"],
        scale=16,
        noise=0.02,
    )
    [one] = found.fit.fitted
    assert one.value == pytest.approx(600_000, rel=0.05)
