"""A trace that is a directory: all files below it are read, or an error names the unreadable
one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import HANGS_S, Done

from floatgate.traces import TraceError, open_trace, read_trace

DIRECTORY_OF_TWO = ("trace/a.parquet", "trace/below/b.parquet")


def _directory(folder: Path) -> Path:
    """Makes a directory of Parquet files, with one of them in a subdirectory."""
    text = "timestamp_us,op,offset_bytes,size_bytes\n0,w,0,512\n5,r,0,512\n"
    small = folder / "small.csv"
    small.write_text(text)
    requests = read_trace(small).frame
    for name in DIRECTORY_OF_TWO:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        requests.write_parquet(path)
    return folder / "trace"


def test_a_directory_is_read_with_those_below_it(tmp_path: Path) -> None:
    trace = _directory(tmp_path)
    (trace / "none.parquet").mkdir()
    (trace / "other.csv").write_text("no trace")
    assert read_trace(trace).frame.height == 4


def _with_rights(folder: Path, *arguments: object) -> Done:
    """Runs the command subject to file modes. Root loses the right to ignore them."""
    command = [sys.executable, "-m", "floatgate", *map(str, arguments)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may read everything, and setpriv is not installed (util-linux)")
        rights = "--bounding-set=-dac_override,-dac_read_search"
        command = ["setpriv", rights, *command]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANGS_S)


@pytest.mark.skipif(sys.platform != "linux", reason="the rights of Linux")
@pytest.mark.parametrize("call", [("run",), ("trace", "info")], ids=" ".join)
@pytest.mark.parametrize(
    ("closed", "asked"),
    [
        ("trace/below", "trace"),
        ("trace", "trace"),
        ("trace", "trace/a.parquet"),
        ("trace/a.parquet", "trace/a.parquet"),
    ],
)
def test_what_may_not_be_looked_into_is_told(
    call: tuple[str, ...], closed: str, asked: str, tmp_path: Path
) -> None:
    """Closes a directory, a subdirectory, the directory of a file, and the file: half a trace is an
    error."""
    _directory(tmp_path)
    path = tmp_path / closed
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        done = _with_rights(tmp_path, *call, asked)
    finally:
        path.chmod(mode)
    wrong = asked if asked.endswith(".parquet") else closed
    told = f"floatgate: {wrong}: cannot be read: Permission denied\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


@pytest.mark.parametrize("read", [read_trace, open_trace])
def test_a_directory_that_cannot_be_listed_is_told(
    read: Callable[[object], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing disk must have the same effect as missing permissions."""
    trace, listed = _directory(tmp_path), os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == "below":
            raise OSError(5, "Input/output error", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(TraceError, match="below: cannot be read: Input/output error"):
        read(trace)
