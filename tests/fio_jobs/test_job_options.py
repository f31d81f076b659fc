"""The table of options, and jobs of a file: clones, phases, groups, files and their positions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from job_text import described, job_file, only

from floatgate._core import ConfigError
from floatgate.simulation.fio_jobs.document import describe
from floatgate.simulation.fio_jobs.options import ALIASES, IGNORED_NAMES, MODELLED, REFUSED
from floatgate.simulation.fio_jobs.resolving import read_job_file

PUBLIC = "FLOATGATE_FIO_JOBS"
"""Environment variable with folders of public job files, separated as in PATH."""

EXAMPLES = "https://github.com/axboe/fio"
"""Repository whose folder `examples` has job files."""

FETCH_S = 120

NAMED = r".*, line \d+: (\[.*\] )?(include \S+|[\w-]+)(=.*)?: .*"
"""An error in one line with the file, the line, the section and the option."""

MIB, TIB = 1 << 20, 1 << 40


def test_each_option_is_in_one_table() -> None:
    tables = [set(MODELLED), set(IGNORED_NAMES), set(REFUSED), set(ALIASES)]
    names = [name for table in tables for name in table]
    assert len(names) == len({*names})
    assert {*ALIASES.values()} <= {*MODELLED, *IGNORED_NAMES, *REFUSED}


@pytest.mark.parametrize("option", sorted(IGNORED_NAMES))
def test_an_ignored_option_is_listed(tmp_path: Path, option: str) -> None:
    file = job_file(tmp_path, f"[job]\nsize=1m\n{option}=something\n")
    assert file.ignored == (option,)


@pytest.mark.parametrize("option", sorted(REFUSED))
def test_a_refused_option_is_an_error_unless_it_changes_nothing(
    tmp_path: Path, option: str
) -> None:
    with pytest.raises(ConfigError, match=rf"\[job\] {option}=x17: not modelled: "):
        only(tmp_path, f"{option}=x17")
    for value in REFUSED[option].neutral:
        assert only(tmp_path, f"{option}={value}") == only(tmp_path)


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_an_alias_is_its_option(tmp_path: Path, alias: str) -> None:
    def outcome(option: str) -> object:
        try:
            return job_file(tmp_path, f"[job]\nsize=1m\n{option}=3\nfdp=1\n")
        except ConfigError as error:
            return str(error).replace(f"{option}=3", "?")

    assert outcome(alias) == outcome(ALIASES[alias])


def test_an_unknown_option_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[job\] iodpth=4: unknown option; did you mean iodept"):
        only(tmp_path, "iodpth=4")
    with pytest.raises(ConfigError, match=r"\[global\] quux=4: unknown option$"):
        job_file(tmp_path, "[global]\nquux=4\n[a]\nsize=1m\n")


def test_every_option_of_the_installed_fio_is_known() -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    done = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, timeout=60)
    options = [line.partition(":")[0].strip() for line in done.stdout.splitlines()]
    assert len(options) > 200
    assert {*filter(None, options)} <= {*MODELLED, *IGNORED_NAMES, *REFUSED, *ALIASES}


def test_a_synchronous_engine_is_noted_with_a_depth(tmp_path: Path) -> None:
    assert only(tmp_path, "ioengine=libaio", "iodepth=8").notes == ()
    assert only(tmp_path, "ioengine=psync").notes == ()
    (note,) = only(tmp_path, "ioengine=psync", "iodepth=8").notes
    assert note.startswith("iodepth=8: fio keeps one request outstanding with ioengine=psync")


def test_clones_share_a_section_and_have_numbers(tmp_path: Path) -> None:
    jobs = job_file(tmp_path, "[a]\nsize=1m\nnumjobs=3\n[b]\nsize=1m\nname=other\n").jobs
    assert [(job.name, job.clone) for job in jobs] == [("a", 0), ("a", 1), ("a", 2), ("other", 0)]


def test_stonewall_begins_a_phase_for_all_jobs_below(tmp_path: Path) -> None:
    text = "[global]\nsize=1m\n[a]\nstonewall\n[b]\n[c]\nstonewall\n[d]\n[e]\nwait_for_previous\n"
    assert [job.phase for job in job_file(tmp_path, text).jobs] == [0, 0, 1, 1, 2]


def test_stonewall_and_new_group_begin_a_group(tmp_path: Path) -> None:
    text = "[global]\nsize=1m\n[a]\n[b]\nnew_group\n[c]\n[d]\nstonewall\n"
    assert [job.group for job in job_file(tmp_path, text).jobs] == [0, 1, 1, 2]


def test_wait_for_names_all_clones(tmp_path: Path) -> None:
    text = "[global]\nsize=1m\n[a]\nnumjobs=2\n[b]\n[c]\nwait_for=a\n"
    assert [job["waits_for"] for job in described(tmp_path, text)] == [[], [], [], [0, 1]]


def test_jobs_without_a_filename_have_a_file_each(tmp_path: Path) -> None:
    text = "[global]\nsize=1000000\n[a]\nnumjobs=2\n[b]\n"
    offsets = [job["offset"] for job in described(tmp_path, text)]
    # Files begin at multiples of 4 KiB.
    assert offsets == [0, 1_003_520, 2_007_040]


def test_jobs_with_one_filename_share_it(tmp_path: Path) -> None:
    text = (
        "[global]\nfilename=/dev/x\nsize=1m\n[a]\noffset=2m\n[b]\nnumjobs=2\n"
        "offset_increment=3m\n[c]\nfilename=/dev/y\n"
    )
    extents = [(job["offset"], job["size"]) for job in described(tmp_path, text)]
    # The shared file ends with the second clone of b, and the other file follows.
    assert extents == [(2 * MIB, MIB), (0, MIB), (3 * MIB, MIB), (4 * MIB, MIB)]


def test_a_format_of_names_has_the_job_and_the_clone(tmp_path: Path) -> None:
    text = "[global]\nsize=1m\nfilename_format=file.$jobnum\n[a]\nnumjobs=2\n[b]\nnumjobs=2\n"
    files = [job.region.file for job in job_file(tmp_path, text).jobs]
    assert files == ["file.0", "file.1", "file.0", "file.1"]
    job = only(tmp_path, "filename=$jobname.$jobnum", "directory=/mnt:/mnt2")
    assert job.region.file == "/mnt/job.0"


def test_shares_are_of_the_drive(tmp_path: Path) -> None:
    text = "[global]\nfilename=/dev/x\n[a]\nsize=30%\n[b]\noffset=30%\nsize=30%\n[c]\noffset=1m\n"
    extents = [(job["offset"], job["size"]) for job in described(tmp_path, text, 10 * MIB)]
    # An offset in per cent is rounded up to a whole request.
    third = -(-3 * MIB // 4096) * 4096
    assert extents == [(0, 3 * MIB), (third, 3 * MIB), (MIB, 9 * MIB)]
    aligned = described(tmp_path, "[a]\noffset=1%\noffset_align=64k\nsize=1m\n", 10 * MIB)
    assert aligned[0]["offset"] == 131_072


@pytest.mark.parametrize(
    ("text", "capacity", "error"),
    [
        ("[a]\nrw=write\n", None, "[a] size: not given, and the drive has no size of its own"),
        ("[a]\nsize=20%\n", None, "[a] size: 20%, and the drive has no size of its own"),
        ("[a]\nsize=1m\noffset=5%\n", None, "[a] offset: a percentage, and the drive has no size"),
        ("[a]\nnumjobs=2\n", MIB, "a share of the drive, but the jobs have 2 files"),
        ("[a]\nsize=1k\n", None, "[a] size: 1,024 bytes from offset 0 in a file of 1,024"),
        ("[a]\noffset=2m\n", MIB, "expected at least a request of 4,096"),
        ("[a]\nsize=1m\nnumjobs=3\noffset_increment=60%\n", MIB, "clone 2 begins at 120 per cent"),
        ("[a]\nsize=1m\nnumjobs=2\noffset=1m\noffset_increment=5%\n", MIB, "the unit of offset"),
    ],
)
def test_a_region_outside_its_file_is_an_error(
    tmp_path: Path, text: str, capacity: int | None, error: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        described(tmp_path, text, capacity)
    assert error in str(raised.value)


def test_filesize_is_the_file_and_size_the_amount(tmp_path: Path) -> None:
    (job,) = described(tmp_path, "[a]\nfilesize=4m\nsize=1m\n")
    assert (job["size"], job["io_bytes"], job["continues"]) == (MIB, MIB, False)
    (job,) = described(tmp_path, "[a]\nfilesize=4m\n")
    assert (job["size"], job["io_bytes"]) == (4 * MIB, 4 * MIB)


@pytest.fixture(scope="module")
def public_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Returns job files of others: those in the folders of `PUBLIC`, or fio's own examples."""
    if folders := os.environ.get(PUBLIC):
        roots = [Path(folder) for folder in folders.split(os.pathsep)]
    else:
        roots = [tmp_path_factory.mktemp("fio") / "fio"]
        _fetch(roots[0])
    return [path for root in roots for path in sorted(root.rglob("*.fio"))]


def _fetch(folder: Path) -> None:
    """Clones fio's examples, or skips the test without a network."""
    clone = ["git", "clone", "-q", "--depth=1", "--filter=blob:none", "--sparse", EXAMPLES, folder]
    for command in (clone, ["git", "-C", folder, "sparse-checkout", "set", "examples"]):
        environment = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=FETCH_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"{EXAMPLES} was not fetched, and {PUBLIC} names no folders: {error}")
        if done.returncode:
            pytest.skip(f"{EXAMPLES} was not fetched, and {PUBLIC} names no folders")


@pytest.mark.long
def test_public_job_files_parse_or_name_an_option(public_files: list[Path]) -> None:
    assert len(public_files) >= 20
    parsed = 0
    for path in public_files:
        try:
            parsed += bool(json.loads(describe(read_job_file(path).jobs, TIB))["jobs"])
        except ConfigError as error:
            assert re.fullmatch(rf"{NAMED}|.*: no job; expected .*", str(error)), error
    assert parsed >= 20
