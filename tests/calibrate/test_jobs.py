"""The recipe of fio jobs, its results, and the drives that they identify."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from hidden_drives import SIZE, Hidden, draw, measure

import floatgate as fg
from floatgate import ConfigError
from floatgate.calibrate.jobs import identify as identifying
from floatgate.calibrate.jobs import programs, reading, recorded
from floatgate.calibrate.jobs.device import Parameters
from floatgate.calibrate.jobs.estimate import known, unknown
from floatgate.calibrate.jobs.identify import Identified, identify
from floatgate.calibrate.jobs.recipe import DEPTHS, recipe, recipe_text
from floatgate.calibrate.jobs.times import read_times, requests_per_second
from floatgate.calibrate.jobs.written import drive_toml
from floatgate.simulation.fio_jobs.resolving import read_job_file
from floatgate.simulation.fio_output import fio_bins

SEED_SHORT, SEED_SMALL_PAGES = 1005, 104
HIDDEN = (
    *(((8, 16), seed) for seed in range(41, 51)),
    *(((4,), seed) for seed in range(141, 146)),
    *(((32,), seed) for seed in range(241, 244)),
)
"""Flash pages in KiB from which a drive is drawn, and the seed of the drive."""
DIES_FACTOR, TIME_ERROR, SPARE_ERROR, UNIT_ERROR = 1.25, 0.10, 0.01, 0.10

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the recipe on one drive."""
    folder = tmp_path_factory.mktemp("short")
    measure(draw(SEED_SHORT), folder, seed=7)
    return folder


def test_the_recipe_is_a_job_file_for_us(tmp_path: Path) -> None:
    path = tmp_path / "recipe.fio"
    path.write_text(recipe_text(SIZE), "utf-8")
    assert [job.name for job in read_job_file(path).jobs] == [job.name for job in recipe(SIZE)]


@needs_fio
def test_the_recipe_is_a_job_file_for_fio(tmp_path: Path) -> None:
    path = tmp_path / "recipe.fio"
    path.write_text(recipe_text(1920 * 10**9), "utf-8")
    call = ["fio", "--parse-only", str(path)]
    done = subprocess.run(call, env={"DRIVE": "/dev/null"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_fio
def test_results_of_fio_itself_are_read(tmp_path: Path) -> None:
    cached = next(job for job in recipe(SIZE) if job.name == "cached")
    head = f"[global]\nfilename={tmp_path / 'drive'}\nioengine=libaio\nfilesize=1m\n"
    job_file, results = tmp_path / "cached.fio", tmp_path / "fio.json"
    job_file.write_text(head + cached.text.replace("io_size=64m", "io_size=1m"), "utf-8")
    call = ["fio", str(job_file), "--output-format=json+", f"--output={results}"]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"fio cannot use libaio here: {done.stderr[-200:]}")
    (job,) = recorded.read_jobs(results)
    assert job.options["bs"] == "4k"
    assert job.reads.count + job.writes.count == 256
    assert sum(count for _, count in job.reads.bins) == job.reads.count


def test_latencies_are_counted_in_fios_bins() -> None:
    # Bins that fio 3.33 printed.
    assert fio_bins([127, 505, 1190, 109_000], [1, 2, 3, 4]) == {127: 1, 506: 2, 1192: 3, 109056: 4}


@needs_fio
@pytest.mark.parametrize("size", [256 << 20, 261 << 20, 272 << 20])
def test_fio_plays_a_zone_job_once_like_the_simulation(size: int, tmp_path: Path) -> None:
    """A gap that ends exactly at the end of the drive makes fio begin again, without `io_size`."""
    jobs = [job.text for job in recipe(size) if job.name.startswith("zone-")]
    path, results = tmp_path / "zones.fio", tmp_path / "fio.json"
    path.write_text("\n".join([f"[global]\nsize={size}\n", *jobs]), "utf-8")
    call = ["fio", "--ioengine=null", "--output-format=json+", f"--output={results}", str(path)]
    subprocess.run(call, capture_output=True, check=True)
    simulated = fg.run(path, set={"timing": "none"}).jobs
    counts = {job.name: job.writes.count for job in recorded.read_jobs(results)}
    assert counts == {job.name: job.writes for job in simulated}


@pytest.mark.parametrize(("longer_ns", "link"), [(1000, 12_288e6), (50_000, 8e9)])
def test_the_link_is_at_least_as_fast_as_reads(
    short: Path, tmp_path: Path, longer_ns: int, link: float
) -> None:
    """If the reads of `cached-large` miss, they take much longer than reads of `cached`."""

    def change(document: dict[str, Any]) -> None:
        for name, ns in (("cached", 1000), ("cached-large", 1000 + longer_ns)):
            clat = _job(document, name)["read"]["clat_ns"]
            clat["bins"] = {str(ns): sum(clat["bins"].values())}
        _job(document, "large-128")["read"]["iops"] = 8e9 / (16 << 10)

    jobs = recorded.read_recording(_changed(short, tmp_path, change))
    assert read_times(jobs).link == pytest.approx(link, rel=0.01)


def test_reads_at_depth_show_requests_that_new_data_does_not(short: Path, tmp_path: Path) -> None:
    """A drive that programs every page at once reads most of the new data from flash."""

    def change(document: dict[str, Any]) -> None:
        for side in ("read", "write"):
            _job(document, "cached-deep")[side]["iops"] = 100

    jobs = recorded.read_recording(_changed(short, tmp_path, change))
    fastest = max(jobs.reads(f"read-{depth}").per_second for depth in DEPTHS)
    assert requests_per_second(jobs) == fastest


def test_one_longer_wait_does_not_lengthen_a_program(short: Path, tmp_path: Path) -> None:
    usual = round(recorded.read_recording(short).reads("read-1").quantile(0.5))

    def change(document: dict[str, Any]) -> None:
        flush = _job(document, "flush")["write"]
        flush["iops"] = 1e9 / flush["clat_ns"]["mean"]
        bins = {usual: 9_000, usual + 200_000: 300, usual + 300_000: 700, usual + 340_000: 1}
        _job(document, "tail")["read"]["clat_ns"]["bins"] = {f"{ns}": n for ns, n in bins.items()}

    jobs = recorded.read_recording(_changed(short, tmp_path, change))
    program = programs.program_time(jobs, read_times(jobs), known("dies", "", [4], "read-*"))
    assert program.jobs == "tail"
    assert program.number == pytest.approx(300_000, rel=0.01)


@pytest.mark.parametrize(
    ("used", "page", "is_known"),
    [("tail", 4 << 10, False), ("flush", 4 << 10, True), ("tail", 8 << 10, True)],
)
def test_reads_behind_programs_of_one_page_do_not_show_one_program(
    used: str, page: int, is_known: bool
) -> None:
    program = known("program", "ns", [400e3], used)
    drives = [_drive(), _drive(page=page, program_pages=1)]
    assert programs.of_drives(program, drives).is_known == is_known


def _changed(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    document = json.loads((source / "fio.json").read_text("utf-8"))
    change(document)
    (target / "fio.json").write_text(json.dumps(document), "utf-8")
    return target


def _job(document: dict[str, Any], name: str) -> dict[str, Any]:
    job: dict[str, Any] = next(job for job in document["jobs"] if job["jobname"] == name)
    return job


def _without_read_8(document: dict[str, Any]) -> None:
    document["jobs"].remove(_job(document, "read-8"))


def _other_block(document: dict[str, Any]) -> None:
    _job(document, "read-8")["job options"]["bs"] = "8k"


def _old_version(document: dict[str, Any]) -> None:
    document["fio version"] = "fio-2.21"


def _other_drive(document: dict[str, Any]) -> None:
    _job(document, "fill")["write"]["io_bytes"] //= 2


def _no_bins(document: dict[str, Any]) -> None:
    del _job(document, "burst")["write"]["clat_ns"]["bins"]


def _failed(document: dict[str, Any]) -> None:
    _job(document, "burst")["error"] = 5


def _no_rate(document: dict[str, Any]) -> None:
    _job(document, "cached-deep")["read"]["iops"] = 0


def _no_requests_in_a_bin(document: dict[str, Any]) -> None:
    _job(document, "zone-1b")["write"]["clat_ns"]["bins"]["1000"] = -1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_no_rate, ["fio.json", "above 0"]),
        (_no_requests_in_a_bin, ["-1 given", "above 0"]),
        (_without_read_8, ["read-8", "missing", "whole recipe"]),
        (_other_block, ["read-8", "bs=8k", "bs=4k"]),
        (_old_version, ["fio-2.21", "fio 3"]),
        (_other_drive, ["fill", "--size"]),
        (_no_bins, ["burst", "json+"]),
        (_failed, ["burst", "error 5"]),
    ],
)
def test_results_of_another_recipe_are_refused(
    short: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as error:
        recorded.read_recording(_changed(short, tmp_path, change))
    assert all(word in str(error.value) for word in words), error.value


def test_messages_of_fio_before_its_json_are_skipped(short: Path, tmp_path: Path) -> None:
    text = (short / "fio.json").read_text("utf-8")
    (tmp_path / "fio.json").write_text("fio: a message of {fio}\n" + text, "utf-8")
    assert recorded.read_recording(tmp_path) == recorded.read_recording(short)


def test_a_measurement_is_not_overwritten(cli: Cli, short: Path, tmp_path: Path) -> None:
    text = (short / "fio.json").read_text("utf-8")
    (tmp_path / "fio.json").write_text(text, "utf-8")
    done = cli("calibrate", "--from-jobs", ".", "-o", "fio.json", "--force")
    assert done.returncode == 2
    assert (tmp_path / "fio.json").read_text("utf-8") == text


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no JSON of fio"):
        recorded.read_recording(tmp_path)
    with pytest.raises(ConfigError, match="no directory"):
        recorded.read_recording(tmp_path / "none")


def test_times_and_dies_of_a_drive_are_recovered(short: Path) -> None:
    truth, jobs = draw(SEED_SHORT).truth, recorded.read_recording(short)
    times = read_times(jobs)
    dies = reading.dies(jobs, times, seed=1)
    program = programs.program_time(jobs, times, dies)
    assert times.read.number == pytest.approx(truth["read"], rel=TIME_ERROR)
    assert program.number == pytest.approx(truth["program"], rel=TIME_ERROR)
    assert abs(math.log(dies.number / truth["dies"])) < math.log(DIES_FACTOR)


def _drive(**changes: Any) -> Parameters:
    usual: dict[str, Any] = {
        **{"size": SIZE, "spare": 0.1, "rows": 40, "dies": 8, "page": 16 << 10, "planes": 2},
        **{"program_pages": 3, "read": 50e3, "transfer": 4e3, "channels": 4, "register": True},
        **{"program": 1.5e6, "way": 15e3, "command": 1e3, "link": 3.5e9, "paced": True},
        **{"write_memory": 8 << 20, "protected": True, "yields": False, "map_reach": None},
    }
    return Parameters(**{**usual, **changes})


PARAMETERS = {
    **{"way": "ns", "read": "ns", "dies": "", "write buffer": "B", "map cache reach": "B"},
    **{"flash page": "B", "channels": "", "transfer": "ns", "program": "ns"},
    **{"cleaning unit": "B", "spare factor": ""},
}


@pytest.mark.parametrize("changes", [{}, {"map_reach": 64 << 20}, {"yields": True, "dies": 7}])
def test_a_written_drive_can_be_simulated(changes: dict[str, Any], tmp_path: Path) -> None:
    changes = changes | ({"channels": 1} if "dies" in changes else {})
    drive = _drive(**changes)
    estimates = [unknown(name, unit, "fill", "a test") for name, unit in PARAMETERS.items()]
    estimates[1] = known("read", "ns", [54e3], "read-1", spread=0.01)
    path = tmp_path / "drive.toml"
    found = Identified(tmp_path, drive.size, tuple(estimates), drive, ())
    path.write_text(drive_toml(found), "utf-8")
    text = path.read_text("utf-8")
    assert "# From read-1: read 54 us, 53.46 us to 54.54 us.\nread = " in text
    assert "Assumed, as fill cannot tell the spare factor: a test." in text
    result = fg.run("sequential:span=1MiB,writes=64,size=16KiB", device=str(path))
    assert result.config["capacity"]["spare_factor"] == pytest.approx(0.1, abs=0.02)


def test_the_command_writes_the_recipe(cli: Cli, tmp_path: Path) -> None:
    cli("calibrate", "--recipe", "recipe.fio", "--size", "1.92TB").ok()
    assert read_job_file(tmp_path / "recipe.fio").jobs[0].name == "fill"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--recipe", "recipe.fio"], "--size"),
        (["--recipe", "recipe.fio", "--size", "1TB", "--fit", "flash.read"], "--fit"),
        (["--recipe", "recipe.fio", "--size", "1MiB"], "at least 268,435,456"),
        (["--from-jobs", "none", "--size", "1TB"], "--size"),
        (["--from-jobs", "none"], "no directory"),
        ([], "DATA"),
    ],
)
def test_wrong_calls_are_refused(cli: Cli, words: list[str], message: str) -> None:
    done = cli("calibrate", *words)
    assert done.returncode == 2
    assert message in done.stderr


def _misses(found: Identified, hidden: Hidden) -> list[str]:
    """Returns the known estimates outside of the accepted errors, or of their intervals."""
    accepted: dict[str, Callable[[float, float], bool]] = {
        "spare factor": lambda value, truth: abs(value - truth) <= SPARE_ERROR,
        "read": lambda value, truth: abs(value / truth - 1) <= TIME_ERROR,
        "program": lambda value, truth: abs(value / truth - 1) <= TIME_ERROR,
        "dies": lambda value, truth: abs(math.log(value / truth)) <= math.log(DIES_FACTOR),
        "cleaning unit": lambda value, truth: abs(value / truth - 1) <= UNIT_ERROR,
    }
    told = [one for one in found.estimates if one.is_known and one.name in hidden.truth]
    missed = []
    for one in told:
        truth, is_close = hidden.truth[one.name], accepted.get(one.name, lambda *_: True)
        if not (is_close(one.number, truth) and (one.low or 0) <= truth <= (one.high or 0)):
            missed.append(one.name)
    return missed


@pytest.fixture(scope="module")
def small_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the recipe on a drive with pages of 4 KiB."""
    folder = tmp_path_factory.mktemp("small-pages")
    measure(draw(SEED_SMALL_PAGES, pages=(4,)), folder, seed=100 + SEED_SMALL_PAGES)
    return folder


def _tried(monkeypatch: pytest.MonkeyPatch, pages: Sequence[int], planes: int) -> None:
    """Reduces the search to one number of planes and channels, for speed."""
    shapes = tuple(identifying.Shape(page << 10, planes, 3) for page in pages)
    monkeypatch.setattr(identifying, "SHAPES", shapes)
    monkeypatch.setattr(identifying, "TRANSFERS", (0.0,))
    monkeypatch.setattr(identifying, "CHANNELS", (4,))


def test_pages_of_4_kib_are_recovered(small_pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = draw(SEED_SMALL_PAGES, pages=(4,))
    _tried(monkeypatch, (4, 8, 16, 32), planes=4)
    found = identify(small_pages)
    assert found.named("flash page").value == hidden.truth["flash page"] == 4096
    assert _misses(found, hidden) == []


def test_without_the_right_page_all_that_needs_it_is_unknown(
    small_pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = draw(SEED_SMALL_PAGES, pages=(4,))
    _tried(monkeypatch, (8, 16, 32), planes=4)
    found = identify(small_pages)
    for name in ("flash page", "transfer", "channels", "cleaning unit", "spare factor"):
        assert not found.named(name).is_known
        assert "no tried page" in found.named(name).why
    assert found.named("read").is_known
    assert _misses(found, hidden) == []


@pytest.mark.long
@pytest.mark.parametrize(("pages", "seed"), HIDDEN)
def test_a_hidden_drive_is_recovered(pages: tuple[int, ...], seed: int, tmp_path: Path) -> None:
    hidden = draw(seed, pages)
    measure(hidden, tmp_path, seed=100 + seed)
    found = identify(tmp_path)
    assert _misses(found, hidden) == []
