"""Job files in every command that takes a trace, in terminals of several widths, and our own
example job files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Done
from job_text import written
from paths import ROOT

import floatgate as fg
from floatgate.simulation.fio_jobs.document import describe
from floatgate.simulation.fio_jobs.resolving import read_job_file

Cli = Callable[..., Done]

EXAMPLES = sorted((ROOT / "docs" / "fio").glob("*.fio"))

TWO = """
[global]
filename=/dev/x
size=1m
[log]
rw=write
bs=16k
fsync=4
[pages with a long name]
rw=randrw
offset=1m
iodepth=4
io_size=2m
numjobs=2
"""

VARY = ("--vary", "cleaning.victim=greedy,fifo")
SMALL = ("--set", "flash.pages_per_block=16", "--set", "capacity.spare_factor=0.2")
WA = ("--objective", "write_amplification")

COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "some.fio", *SMALL),
    "compare": ("compare", "some.fio", *SMALL, *VARY),
    "tune": ("tune", "some.fio", *SMALL, *VARY, *WA, "--trials", "2"),
    "advise": ("advise", "some.fio"),
    "crash": ("crash", "some.fio", "--every", "50", *SMALL),
    "info": ("trace", "info", "some.fio"),
    "hotness": ("trace", "info", "some.fio", "--hotness", "--gb", "2MiB"),
    "map curve": ("trace", "info", "some.fio", "--map-curve"),
    "csv": ("trace", "import", "some.fio", "-o", "out.csv"),
    "parquet": ("trace", "import", "some.fio", "-o", "out.parquet"),
}
"""Commands that take a trace."""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return written(tmp_path, TWO)


@pytest.mark.parametrize("columns", ["60", "100"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_a_job_file_in_narrow_and_wide_terminals(
    cli: Cli, two: Path, monkeypatch: pytest.MonkeyPatch, name: str, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = cli(*COMMANDS[name]).ok()
    assert max(map(len, done.stdout.splitlines()), default=0) <= int(columns)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("columns", ["60", "100"])
def test_the_rows_of_jobs_keep_their_first_columns(
    cli: Cli, two: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = cli(*COMMANDS["run"]).ok().stdout.splitlines()
    [head] = [line for line in lines if "IOPS" in line]
    assert "MB/s" in head
    assert sum(line.startswith(("log", "pages")) for line in lines) == 5


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_an_imported_job_file_has_the_requests_of_the_jobs(cli: Cli, two: Path, end: str) -> None:
    cli(*COMMANDS[end]).ok()
    imported = cli("trace", "info", f"out.{end}", "--json").document()
    own = cli("trace", "info", two, "--json").document()
    assert imported["requests"] == own["requests"] > 1000
    assert imported["footprint_pages"] == own["footprint_pages"]


def test_a_job_file_of_another_name_needs_its_format(cli: Cli, two: Path) -> None:
    two.rename(two.with_name("jobs.ini"))
    cli("run", "jobs.ini").refused()
    cli("run", "jobs.ini", "--format", "fio-jobs", *SMALL).ok()
    cli("compare", "jobs.ini", "--format", "fio-jobs", *SMALL, *VARY).ok()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[a]\nsize=1m\nzonemode=zbd\n", "some.fio, line 3: [a] zonemode=zbd: not modelled"),
        ("[a]\nsize=1m\niodepht=4\n", "[a] iodepht=4: unknown option; did you mean iodepth?"),
        ("[a]\nsize=1m\nbs=4q\n", "[a] bs=4q: expected a whole number with a unit"),
        ("[a]\nsize=1m\nrw=writ\n", "[a] rw=writ: expected one of read, write, trim"),
        ("[a]\nrw=write\n", "[a] size: not given, and the drive has no size of its own"),
        ("[a]\nsize=1m\ntime_based\n", "[a] time_based: no runtime"),
        ("[a]\nsize=1m\nwait_for=b\n", "[a] wait_for=b: no job above has this name"),
        ("\x00\x01\x02", "some.fio"),
        ("", "some.fio: no section; expected [NAME] of a job"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare", "advise", "crash", "info"])
def test_a_mistake_is_one_line_in_every_command(
    cli: Cli, tmp_path: Path, command: str, text: str, words: str
) -> None:
    written(tmp_path, text)
    assert words in cli(*COMMANDS[command]).refused()


def test_help_names_job_files(cli: Cli) -> None:
    for command in ("run", "compare", "advise"):
        assert ".fio" in cli(command, "--help").ok().stdout


def test_a_study_on_the_command_line_takes_a_job_file(cli: Cli, two: Path, tmp_path: Path) -> None:
    spec = 'traces = ["some.fio"]\n[set]\ncapacity.spare_factor = 0.2\nflash.pages_per_block = 16\n'
    (tmp_path / "study.toml").write_text(spec + '[grid]\ncleaning.victim = ["greedy", "fifo"]\n')
    cli("study", "study.toml", "--out", "kept").ok()
    cli("study", "export", "kept", "--out", "rows.json").ok()
    assert len(json.loads((tmp_path / "rows.json").read_text())) == 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    jobs = read_job_file(path).jobs
    sets = {"placement.scheme": "host", "placement.handles": 2}
    sets |= {"flash.blocks": 2048, "flash.pages_per_block": 96}
    result = fg.run(path, device="tlc-client", set=sets)
    assert [job.name for job in result.jobs] == [job.name for job in jobs]
    assert all(job.reads + job.writes > 0 for job in result.jobs)


def test_the_job_file_of_the_page_is_an_example(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "fio.md").read_text("utf-8")
    [block] = re.findall(r"^    \[global\]\n(?:(?:    .*)?\n)+", page, re.MULTILINE)
    example = ROOT / "docs" / "fio" / "database.fio"
    shown, whole = (read_job_file(path).jobs for path in (written(tmp_path, block), example))
    assert describe(shown, None) == describe(whole, None)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_fio_takes_an_example(path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    done = subprocess.run(["fio", "--parse-only", path], capture_output=True, text=True, timeout=60)
    if "Bad option <fdp" in done.stderr:
        pytest.skip("this fio has no placement handles: they came with 3.34")
    assert done.returncode == 0, done.stderr


QUESTIONS = re.findall(
    r"^\| (?:What|…).*$",
    (ROOT / "docs" / "handles.md").read_text("utf-8").partition("<!-- end of questions")[0],
    re.MULTILINE,
)
"""Rows of the table of questions: question, change, write amplification with one handle, with a
handle each, of the log and of the cache."""

EDITS = {
    "`rw=randwrite` in `[log]`": ("rw=write\n", "rw=randwrite\n"),
    "`rw=write` and `rate=1m` in `[cache]`": (
        "rw=randwrite\nbs=4k\niodepth=16\noffset=64m\nsize=64m\nrate=2m\n",
        "rw=write\nbs=4k\niodepth=16\noffset=64m\nsize=64m\nrate=1m\n",
    ),
}
"""Changes of the job file, with the text before and after."""


def _changed(folder: Path, change: str) -> tuple[Path, dict[str, str]]:
    """Returns the job file and the settings of a change in the table."""
    path = ROOT / "docs" / "fio" / "handles.fio"
    if change not in EDITS:
        isolated = {"placement.isolation": "persistently"} if "also" in change else {}
        return path, isolated | dict(re.findall(r"`(\S+)=(\S+)`", change))
    before, after = EDITS[change]
    text = path.read_text("utf-8")
    assert before in text
    return written(folder, text.replace(before, after)), {}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=() if "handles save" in row else pytest.mark.long)
        for row in QUESTIONS
    ],
)
def test_the_guide_shows_what_handles_save(tmp_path: Path, row: str) -> None:
    _, change, *printed = (cell.strip() for cell in row.strip("|").split("|"))
    path, sets = _changed(tmp_path, change)
    used = {
        "placement.scheme": "host",
        "start.fill": "steady",
        "capacity.spare_factor": "0.15",
        **sets,
    }
    mixed, apart = fg.compare_results(path, set=used, vary={"placement.handles": [1, 2]})
    runs = [mixed.write_amplification, apart.write_amplification]
    handles = [job.handles[0].write_amplification for job in apart.jobs]
    assert [f"{value:.2f}" for value in (*runs, *handles)] == printed


def test_the_guide_has_every_question() -> None:
    assert len(QUESTIONS) == 9


def test_the_json_of_a_comparison_has_the_jobs_of_each_run(cli: Cli, two: Path) -> None:
    document = cli("compare", two, *SMALL, *VARY, "--json", "--quiet").document()
    assert [len(run["jobs"]) for run in document["results"]] == [3, 3]
