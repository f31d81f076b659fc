"""Outputs: existing files are safe, an input is never overwritten, devices stay devices. A sweep
removes the unfinished files of killed processes, and no others."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from command_line import in_process_bytes

from floatgate.files import parts
from floatgate.files.writing import write_whole
from floatgate.traces import read_trace

SMALL = "uniform:span=16MiB,writes=5k,reads=0.3,trim=0.1,flush=0.05,interarrival=100ns"
LINES = (
    "timestamp_us,op,offset_bytes,size_bytes\n1.5,R,0,512\n2.25,W,4096,8192\n3,T,0,4096\n4,F,0,0\n"
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="no devices, links or FIFOs")


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "x.csv"
    path.write_text(LINES)
    return path


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@posix
@pytest.mark.parametrize(
    ("source", "target"),
    [("x.csv", name) for name in ("x.csv", "hard.csv", "soft.csv", "dir/../x.csv")]
    + [("soft.csv", "x.csv")],
)
def test_an_input_is_never_the_output(
    cli, tmp_path: Path, csv: Path, source: str, target: str
) -> None:
    (tmp_path / "hard.csv").hardlink_to(csv)
    (tmp_path / "soft.csv").symlink_to("x.csv")
    (tmp_path / "dir").mkdir()
    cli("trace", "import", source, "-o", target, "--force").refused("is the input")
    assert csv.read_text() == LINES


def test_nothing_is_written_into_a_directory_of_inputs(cli, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "parts").mkdir()
    assert cli("trace", "import", "x.csv", "-o", "parts/1.parquet").returncode == 0
    cli("trace", "import", "parts", "-o", "parts/2.parquet").refused("lies in it")
    assert _names(tmp_path / "parts") == ["1.parquet"]


def test_a_report_does_not_replace_its_input(cli, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "out").mkdir()
    mine = tmp_path / "out" / "timeline.parquet"
    assert cli("trace", "import", "x.csv", "-o", mine).returncode == 0
    before = mine.read_bytes()
    done = cli("run", mine, "--out", "out", "--force")
    done.refused("is the input")
    assert mine.read_bytes() == before
    assert _names(tmp_path / "out") == ["timeline.parquet"]


def test_a_drive_and_a_study_are_inputs_too(cli, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "out").mkdir()
    drive = tmp_path / "out" / "report.html"
    drive.write_text("[flash]\npages_per_block = 32\n")
    (tmp_path / "out" / "table.csv").hardlink_to(drive)
    cli("run", csv, "--device", drive, "--out", "out", "--force").refused("is the input")
    vary = ("--vary", f"device={drive},classic")
    done = cli("compare", csv, *vary, "--out", "out", "--force")
    assert (done.returncode, "is the input" in done.stderr) == (2, True), done.stderr
    assert drive.read_text().startswith("[flash]")
    study = tmp_path / "s.toml"
    study.write_text(f'traces = ["{SMALL}"]\n[grid]\n"queue.depth" = [1, 2]\n')
    assert cli("study", study, "--out", "rows", "-q").returncode == 0
    head = (tmp_path / "rows" / "study.json").read_bytes()
    done = cli("study", "report", "rows", "--out", "rows/study.json", "--force")
    done.refused("is the input, or lies in it")
    assert (tmp_path / "rows" / "study.json").read_bytes() == head


@posix
def test_a_socket_is_no_output(cli, tmp_path: Path, csv: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s.csv"))
    cli("trace", "import", csv, "-o", "s.csv", "--force").refused("is a socket")
    assert (tmp_path / "s.csv").is_socket()


def test_what_exists_is_replaced_by_force_alone(cli, tmp_path: Path, csv: Path) -> None:
    target = tmp_path / "made.parquet"
    target.write_text("mine")
    cli("trace", "import", csv, "-o", target).refused("made.parquet: exists; --force")
    cli("trace", "generate", SMALL, "-o", target).refused("made.parquet: exists; --force")
    assert target.read_text() == "mine"
    assert cli("trace", "import", csv, "-o", target, "--force").returncode == 0
    assert pl.read_parquet(target).height == 4
    assert _names(tmp_path) == ["made.parquet", "x.csv"]


@pytest.mark.parametrize(
    "command", [("run",), ("compare", "x.csv"), ("trace", "info", "--hotness")]
)
def test_a_directory_in_use_needs_force(cli, tmp_path: Path, csv: Path, command) -> None:
    (tmp_path / "out").mkdir()
    other = tmp_path / "out" / "thesis.txt"
    other.write_text("mine")
    cli(*command, "x.csv", "--out", "out").refused("out: is not empty; --force")
    assert _names(tmp_path / "out") == ["thesis.txt"]
    assert cli(*command, "x.csv", "--out", "out", "--force").returncode == 0
    assert other.read_text() == "mine"
    again = cli(*command, "x.csv", "--out", "out", "--force").ok()
    note = "note: out: files of another run, or of yours, are still there: thesis.txt\n"
    assert note in again.stderr
    assert any(path.suffix == ".html" for path in (tmp_path / "out").iterdir())


def test_an_empty_directory_needs_no_force(cli, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "out").mkdir()
    assert cli("run", csv, "--out", "out").returncode == 0
    assert (tmp_path / "out" / "report.html").exists()


@posix
def test_a_symbolic_link_keeps_pointing(cli, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.parquet"
    link.symlink_to("there/data.parquet")
    assert cli("trace", "import", csv, "-o", link).returncode == 0
    assert link.is_symlink()
    assert pl.read_parquet(tmp_path / "there" / "data.parquet").height == 4
    cli("trace", "import", csv, "-o", link).refused("exists")


@posix
def test_a_fifo_is_written_to_and_stays(process, tmp_path: Path, csv: Path) -> None:
    """A process, because opening a FIFO blocks until the other end is open."""
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(fifo.read_bytes()), daemon=True)
    reader.start()
    assert process("trace", "import", csv, "-o", fifo).returncode == 0
    reader.join(10)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert heard[0][:4] == b"PAR1" == heard[0][-4:]


@posix
def test_a_device_is_written_to_and_stays(process, csv: Path) -> None:
    """A pseudo-terminal is the device, because no bug can replace it by a file. A process writes,
    because a write blocks while the terminal's buffer is full."""
    import pty
    import tty

    reader, device = pty.openpty()
    tty.setraw(device)
    name = os.ttyname(device)
    process("trace", "import", csv, "-o", name).ok()
    assert os.read(reader, 4) == b"PAR1"
    assert stat.S_ISCHR(Path(name).stat().st_mode)
    os.close(device)
    os.close(reader)


def test_a_dash_is_standard_output(tmp_path: Path, csv: Path) -> None:
    call = ("trace", "import", "x.csv", "-o")
    piped = in_process_bytes(tmp_path, *call, "-")
    assert piped.returncode == 0
    assert in_process_bytes(tmp_path, *call, "file.parquet", "-q").returncode == 0
    assert piped.stdout == (tmp_path / "file.parquet").read_bytes()
    assert b"wrote" in piped.stderr
    assert _names(tmp_path) == ["file.parquet", "x.csv"]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.zst", "csv.bz2", "csv.xz"])
def test_the_suffix_says_what_is_written(cli, tmp_path: Path, suffix: str) -> None:
    magic = {"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "xz": b"\xfd7zXZ"}
    magic |= {"csv": b"timestamp_us,op,", "parquet": b"PAR1"}
    assert cli("trace", "generate", SMALL, "-o", "whole.parquet").returncode == 0
    assert cli("trace", "generate", SMALL, "-o", f"made.{suffix}").returncode == 0
    assert cli("trace", "import", "whole.parquet", "-o", f"copy.{suffix}").returncode == 0
    expected = read_trace(tmp_path / "whole.parquet").frame
    assert set(expected["op"]) == {0, 1, 2, 3}
    for name in (f"made.{suffix}", f"copy.{suffix}"):
        assert (tmp_path / name).read_bytes().startswith(magic[suffix.rpartition(".")[2]])
        assert read_trace(tmp_path / name).frame.equals(expected)


def test_equal_requests_are_equal_files(cli, tmp_path: Path) -> None:
    digests = set()
    for name in ("a.csv.gz", "b.csv.gz"):
        assert cli("trace", "generate", SMALL, "-o", name).returncode == 0
        digests.add(hashlib.sha256((tmp_path / name).read_bytes()).digest())
    assert len(digests) == 1


@pytest.mark.parametrize("name", ["x", "x.csv.lz4", "x.parquet.gz"])
def test_an_unknown_suffix_is_refused_with_the_known(cli, tmp_path: Path, name: str) -> None:
    cli("trace", "generate", SMALL, "-o", name).refused(".parquet, .csv, .csv.gz, .csv.zst")
    assert list(tmp_path.iterdir()) == []


def test_csv_has_no_column_for_devices(cli, tmp_path: Path) -> None:
    (tmp_path / "two.disksim").write_text("0.5 0 8 8 0\n1.5 1 16 8 1\n")
    cli("trace", "import", "two.disksim", "-o", "two.csv").refused("2 devices")
    assert _names(tmp_path) == ["two.disksim"]


def test_a_directory_is_no_file(cli, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "d.parquet").mkdir()
    cli("trace", "import", csv, "-o", "d.parquet", "--force").refused("is a directory")
    cli("run", csv, "--out", "x.csv").refused("is the input")
    (tmp_path / "notes.txt").write_text("mine")
    cli("run", csv, "--out", "notes.txt").refused("cannot be written")


@posix
@pytest.mark.parametrize(
    "call",
    [
        ("trace", "generate", SMALL, "-o", "made.parquet"),
        ("trace", "generate", SMALL, "-o", "made.csv"),
        ("trace", "import", "x.csv", "-o", "made.parquet"),
        ("run", "x.csv", "--out", "made"),
        ("compare", "x.csv", "--vary", "queue.depth=1,2", "--out", "made"),
    ],
)
def test_a_full_disk_is_a_line_and_leaves_nothing(process, tmp_path: Path, csv: Path, call) -> None:
    """A limit on file size stands for the full disk: both fail in the middle of a write."""
    import resource

    done = process(
        *call,
        # The limit also applies to .pyc files: half a .pyc would break the next import.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("floatgate: made")
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert _names(tmp_path) == ["x.csv"]


@posix
def test_threads_that_write_at_once_leave_the_mode_of_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    umask = os.umask

    def slow(mask: int) -> int:
        before = umask(mask)
        time.sleep(0.001)
        return before

    monkeypatch.setattr(os, "umask", slow)
    (tmp_path / "before").touch()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda at: write_whole(tmp_path / str(at), b"x"), range(40)))
    (tmp_path / "after").touch()
    assert len({path.stat().st_mode for path in tmp_path.iterdir()}) == 1


LONG = "uniform:span=64MiB,writes=200M"
SHORT = "uniform:span=16MiB,writes=2k"

HOLD = """
import sys, time
from pathlib import Path
from floatgate.files import parts
made = [parts.file(Path(".")), parts.folder(Path("."))]
(made[1].path / "result.json").touch()
print(flush=True)
time.sleep(600)
"""


def _parts(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.name.endswith(parts.SUFFIX)}


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Starts a process that makes an unfinished file and folder in the test's directory."""
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@posix
def test_parts_of_a_process_that_runs_stay_and_of_one_that_is_gone_go(
    tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    made = _parts(tmp_path)
    assert len(made) == 2
    parts.sweep(tmp_path)
    assert _parts(tmp_path) == made
    mine = parts.file(tmp_path)
    other.kill()
    other.wait()
    parts.sweep(tmp_path)
    assert _parts(tmp_path) == {mine.path}, "not even its owner removes a part that is in use"
    mine.end()
    assert _parts(tmp_path) == set()


@posix
def test_nothing_else_is_swept(tmp_path: Path) -> None:
    """The name alone does not mark a file as unfinished output: users may choose such names."""
    for name in ("x.part", ".x.part", ".floatgate-x", "floatgate-x.part"):
        (tmp_path / name).write_text("mine")
    os.mkfifo(tmp_path / ".floatgate-fifo.part")
    (tmp_path / ".floatgate-link.part").symlink_to(tmp_path / "x.part")
    before = sorted(tmp_path.iterdir())
    parts.sweep(tmp_path)
    parts.sweep(tmp_path / "no such folder")
    assert sorted(tmp_path.iterdir()) == before


@posix
def test_a_part_that_is_taken_for_a_left_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between creating and locking the file, another process may sweep it away."""
    made: list[Path] = []

    def swept(path: Path) -> None:
        path.touch()
        made.append(path)
        if len(made) == 1:
            parts.sweep(tmp_path)

    part = parts.Part(tmp_path, swept)
    assert (len(made), part.path.exists()) == (2, True)
    part.end()


@posix
def test_a_long_name_has_room_for_its_part(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 255), b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["x" * 255]


@posix
def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_whole(tmp_path / "no" / "x", b"")
    assert error.value.filename == str(tmp_path / "no" / "x")


def _killed(folder: Path, *words: str) -> None:
    """Runs a command until it has begun to write, and kills it."""
    command = [sys.executable, "-m", "floatgate", *words]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not _parts(folder) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
    assert _parts(folder)


@posix
@pytest.mark.parametrize(
    "words",
    [("trace", "generate", "-o", "x.parquet"), ("run", "--out", "new/x")],
    ids=["a file", "a folder"],
)
def test_a_later_run_takes_away_what_a_killed_one_left(
    cli, tmp_path: Path, words: tuple[str, ...]
) -> None:
    *command, option, out = words
    _killed(tmp_path, *command, LONG, option, out)
    cli(*command, SHORT, option, out).ok()
    assert _parts(tmp_path) == set()
    assert (tmp_path / out).exists()


@posix
def test_a_comparison_takes_away_parts_of_its_runs(cli, tmp_path: Path) -> None:
    runs = tmp_path / "out" / "runs"
    runs.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "out", runs):
        (folder / f"{parts.PREFIX}dead{parts.SUFFIX}").mkdir()
        (folder / f"{parts.PREFIX}gone{parts.SUFFIX}").touch()
    words = (SHORT, "--vary", "queue.depth=1,2", "--out", "out", "--resume")
    cli("compare", *words).ok()
    assert _parts(tmp_path) == set()
