"""Job files in all commands that take a trace, on the terminal, as JSON and in reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from command_line import Done
from job_text import written

import floatgate as fg

Cli = Callable[..., Done]

TWO = """
[global]
filename=/dev/x
ioengine=libaio
direct=1
bs=4k
size=2m
iodepth=4
[log]
rw=write
[cache]
rw=randrw
norandommap
offset=2m
io_size=8m
numjobs=2
"""

SMALL = {"flash.pages_per_block": 16, "capacity.spare_factor": 0.2}


@pytest.fixture
def job_path(tmp_path: Path) -> Path:
    return written(tmp_path, TWO)


def test_a_run_has_rows_for_its_jobs(job_path: Path) -> None:
    result = fg.run(job_path, set=SMALL)
    assert [(job.name, job.clone) for job in result.jobs] == [
        *(("log", 0), ("cache", 0), ("cache", 1))
    ]
    log, cache, _ = result.jobs
    assert (log.writes, log.reads) == (512, 0)
    assert cache.reads + cache.writes == 2048
    assert result.workload.name == "some.fio"
    assert result.workload.requests == 512 + 2 * 2048
    assert log.iops is not None and log.write.p99_us is not None and log.read.p99_us is None
    assert sum(time or 0 for time in vars(log.blame_us).values()) == pytest.approx(
        log.write.mean_us
    )
    assert any("ignored: direct" in note for note in result.notes)


def test_one_job_equals_a_generator_to_the_bit(tmp_path: Path) -> None:
    """The results of the engine are compared in its own tests; this compares the whole path."""
    random = "[a]\nrw=randwrite\nnorandommap\nsize=4m\nio_size=16m\niodepth=8\n"
    for text, spec in (
        (random, "uniform:span=4MiB,writes=4Ki"),
        (random.replace("randwrite", "write"), "sequential:span=4MiB,writes=4Ki"),
        (random.replace("norandommap", "randrepeat=0"), "shuffled:span=4MiB,writes=4Ki"),
    ):
        for seed in (1, 2):
            sets = {**SMALL, "queue.depth": 8}
            jobs = fg.run(written(tmp_path, text), set=sets, seed=seed)
            generator = fg.run(spec, set=sets, seed=seed)
            for part in ("flash", "latency", "throughput", "wear", "placement", "config"):
                assert getattr(jobs, part) == getattr(generator, part), (spec, part)
            assert jobs.timeline.equals(generator.timeline)


def test_runs_are_repeatable_and_seeds_differ(job_path: Path) -> None:
    first, second, other = (fg.run(job_path, set=SMALL, seed=seed) for seed in (3, 3, 4))
    assert first.jobs == second.jobs
    assert first.workload.hash == second.workload.hash != other.workload.hash
    assert first.jobs != other.jobs


def test_a_comparison_varies_the_drive_and_the_seed(job_path: Path) -> None:
    vary = {"cleaning.victim": ["greedy", "fifo"]}
    runs = fg.compare_results(job_path, vary=vary, set=SMALL, seeds=2)
    assert [run.seed for run in runs] == [1, 2, 1, 2]
    assert all(len(run.jobs) == 3 for run in runs)
    assert runs[0].jobs != runs[1].jobs
    assert runs.table().height == 4


def test_sizes_in_per_cent_are_shares_of_each_drive(tmp_path: Path) -> None:
    path = written(tmp_path, "[half]\nrw=write\nbs=16k\nfilename=/dev/x\nsize=50%\n")
    small, large = (
        fg.run(path, set={"flash.blocks": blocks, "flash.pages_per_block": 16})
        for blocks in (256, 512)
    )
    for result in (small, large):
        expected = result.drive.logical_bytes // 2
        assert result.jobs[0].write_bytes == pytest.approx(expected, abs=16384)
    assert large.jobs[0].writes > 1.9 * small.jobs[0].writes
    with pytest.raises(fg.ConfigError, match=r"size: 50%, and the drive has no size of its own"):
        fg.run(path)


def test_python_policies_see_the_requests_of_jobs(job_path: Path) -> None:
    class Counting(fg.Placement):  # type: ignore[misc]
        streams = 1
        seen = 0

        def stream(self, write: fg.HostWrite) -> int:
            Counting.seen += 1
            return 0

    result = fg.run(job_path, set={**SMALL, "placement.scheme": Counting()})
    assert Counting.seen >= result.workload.writes


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"repeat": 2}, "repeat: 2 given, but some.fio is a job file: its option loops"),
        ({"time_scale": 0.5}, "time_scale: 0.5 given, but some.fio is a job file: its options"),
        ({"streams": "device"}, "streams: 'device' given, but some.fio is a job file"),
        ({"close_gaps": "1h"}, "close_gaps: '1h' given, but some.fio is a job file"),
        ({"addresses": "span"}, "addresses: 'span' given, but some.fio is a job file"),
    ],
)
def test_options_of_traces_mean_nothing_for_jobs(
    job_path: Path, options: dict[str, object], error: str
) -> None:
    with pytest.raises(fg.ConfigError) as raised:
        fg.run(job_path, **options)  # type: ignore[arg-type]
    assert str(raised.value).startswith(error)


def test_a_limit_and_a_format_are_for_all_jobs(tmp_path: Path, job_path: Path) -> None:
    assert fg.run(job_path, limit=100).workload.requests == 100
    other = tmp_path / "jobs.ini"
    other.write_text(TWO)
    assert fg.run(other, format="fio-jobs", limit=100).workload.requests == 100


def test_handles_need_a_drive_that_has_them(tmp_path: Path) -> None:
    path = written(tmp_path, "[a]\nrw=write\nsize=1m\nfdp=1\nfdp_pli=1\n")
    with pytest.raises(fg.ConfigError, match=r"\[a\] fdp=1, fdp_pli=1: the drive has no placement"):
        fg.run(path)
    result = fg.run(path, set={"placement.scheme": "host", "placement.handles": 2})
    (handle,) = result.jobs[0].handles
    assert (handle.handle, handle.write_bytes) == (1, 1 << 20)


def test_time_needs_a_clock(tmp_path: Path) -> None:
    path = written(tmp_path, "[a]\nrw=write\nsize=1m\nruntime=1\n")
    with pytest.raises(fg.ConfigError, match=r"\[a\] runtime: the drive has no clock"):
        fg.run(path, set={"timing": "none"})


def test_time_based_jobs_run_for_their_time(tmp_path: Path) -> None:
    path = written(tmp_path, "[a]\nrw=write\nsize=1m\ntime_based\nruntime=100ms\nrate_iops=1000\n")
    result = fg.run(path)
    assert result.jobs[0].writes == 100
    assert result.workload.duration_s == pytest.approx(0.1, abs=0.01)


def test_the_terminal_has_a_row_for_each_kind_of_each_job(cli: Cli, job_path: Path) -> None:
    done = cli("run", job_path, "--set", "flash.pages_per_block=16", "--quiet")
    lines = done.stdout.splitlines()
    rows = [line for line in lines if line.startswith(("log", "cache."))]
    assert [row.split()[:2] for row in rows] == [
        *(["log", "write"], ["cache.0", "read"], ["cache.0", "write"]),
        *(["cache.1", "read"], ["cache.1", "write"]),
    ]
    assert "ignored: direct" in " ".join(done.stdout.split())


def test_the_document_and_the_report_have_the_jobs(
    cli: Cli, tmp_path: Path, job_path: Path
) -> None:
    done = cli("run", job_path, "--out", "kept", "--json", "--quiet")
    document = json.loads(done.stdout)
    assert [job["name"] for job in document["jobs"]] == ["log", "cache", "cache"]
    page = (tmp_path / "kept" / "report.html").read_text("utf-8")
    assert "clat p99" in page and "cache.1" in page
    again = fg.Result.from_json(done.stdout)
    assert again.jobs[1].reads == document["jobs"][1]["reads"]


def test_a_mistake_is_one_line(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, "[a]\nrw=write\nsize=1m\nnrfiles=4\n")
    assert (
        "some.fio, line 4: [a] nrfiles=4: not modelled: a job has one file"
        in cli("run", path).refused()
    )


def test_a_study_takes_job_files(tmp_path: Path, job_path: Path) -> None:
    spec = {"traces": [str(job_path)], "grid": {"cleaning.victim": ["greedy", "fifo"]}}
    spec |= {"set": SMALL, "seeds": 2}
    frame = fg.study(spec, out=tmp_path / "study").frame()
    assert frame.height == 4
    assert frame["write_amplification"].null_count() == 0


def test_a_change_of_an_included_file_is_another_workload(tmp_path: Path) -> None:
    path = written(tmp_path, "[a]\nsize=1m\ninclude part\n")
    digests = []
    for option in ("rw=write", "rw=randwrite"):
        (tmp_path / "part").write_text(option)
        digests.append(fg.run(path, limit=10).workload.hash)
    assert digests[0] != digests[1]


def test_analyses_take_the_requests_in_turn(cli: Cli, job_path: Path) -> None:
    info = json.loads(cli("trace", "info", job_path, "--json").stdout)
    assert info["requests"] == 512 + 2 * 2048
    assert any("take turns" in note for note in info["notes"])
    hot = fg.hotness(str(job_path), gb="4MiB")
    assert hot.to_dict()["name"] == "some.fio"
    assert fg.map_curve(str(job_path))["accesses"] > 0
    advice = fg.advise(str(job_path))
    assert advice.requests == 512 + 2 * 2048


def test_a_crash_test_takes_job_files(tmp_path: Path) -> None:
    path = written(tmp_path, "[a]\nrw=randwrite\nsize=64k\nio_size=256k\nfsync=4\n")
    document = fg.crash(str(path), set={"flash.pages_per_block": 8}, every=20)
    # As in fio, each of the three further passes begins with the flush of the last write before it.
    assert (document["lost"], document["requests"]) == (0, 64 + 18)


def test_a_search_needs_jobs_that_end(tmp_path: Path, job_path: Path) -> None:
    vary = {"cleaning.victim": ["greedy", "fifo"]}
    tried = fg.tune(job_path, objective="write_amplification", set=SMALL, vary=vary, trials=2)
    assert len(tried.trials) == 2
    endless = written(tmp_path, "[a]\nsize=1m\ntime_based\nruntime=1\n")
    with pytest.raises(fg.ConfigError, match="only a time ends its jobs"):
        fg.tune(endless, objective="write_amplification", vary=vary, trials=2)


def test_requests_of_jobs_are_a_frame(job_path: Path) -> None:
    from floatgate.simulation import sources
    from floatgate.simulation.options import RunOptions

    workload = sources.open_source(job_path, RunOptions()).load(None).workload
    frame = pl.concat([pl.DataFrame(batch) for batch in workload.batches(100)])
    assert frame.height == workload.requests == 512 + 2 * 2048
    assert frame["offset"].max() < workload.span_bytes
