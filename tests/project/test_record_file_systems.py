"""tools/record_file_systems.py: the virtual machine's script, and the captures between marks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest
import record_file_systems as tool

from floatgate.traces import Trace, read_trace
from floatgate.traces.model import READ, WRITE

NAMES = [f"{full}-{part}" for full in tool.FULL for part in tool.PARTS]


def recording(parts: int) -> Trace:
    """Returns a recording of parts with 1, 2, 3, ... writes, and a write outside them."""
    rows = [(WRITE, 0, 4096)]
    for number in range(1, parts + 1):
        writes = [(WRITE, number * 8192, 4096)] * number
        rows += [(READ, 512, tool.SECTOR), *writes, (READ, 1024, tool.SECTOR)]
    frame = pl.DataFrame(rows, schema=["op", "offset", "length"], orient="row")
    return read_trace(frame.with_columns(at_ns=pl.int_range(pl.len()) * 7_000))


@pytest.mark.parametrize("name", tool.MAKE)
def test_the_script_is_one_that_a_shell_reads(name: str) -> None:
    script = tool.job(name)
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert f"NAME='{name}'\nMAKE='{tool.MAKE[name]}'\nFULL='50 90'\nWRITES='8192'\n" in script


def test_each_part_is_a_capture_of_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "record", lambda name, folder: recording(len(NAMES)))
    monkeypatch.setattr("sys.argv", ["record", str(tmp_path), "--only", "f2fs"])
    tool.main()
    assert {path.name for path in tmp_path.iterdir()} == {f"f2fs-{n}.csv.xz" for n in NAMES}
    for number, name in enumerate(NAMES, 1):
        frame = read_trace(tmp_path / f"f2fs-{name}.csv.xz").frame
        assert frame["at_ns"].to_list() == [1000 * at for at in range(number)], name
        assert set(frame["offset"]) == {number * 8192}, name


def test_a_recording_without_a_mark_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "record", lambda name, folder: recording(len(NAMES) - 1))
    monkeypatch.setattr("sys.argv", ["record", str(tmp_path), "--only", "ext4"])
    with pytest.raises(ValueError, match="zip"):
        tool.main()
