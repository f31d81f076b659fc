"""Log of nbdkit: a file that stays small, and few lines on standard error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from floatgate.live import log
from floatgate.live.log import FILE_MAX, KINDS_MAX, LINE_MAX, WAIT_MAX_S, WAIT_S, Log, Repeats

if os.name == "nt":
    pytest.skip("nothing is served", allow_module_level=True)

REFUSED = "nbdkit: floatgate[7]: error: invalid request: offset 4096 and count 512"


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(log.time, "monotonic", lambda: self.now)


def test_lines_come_whole_in_order_and_once(tmp_path: Path) -> None:
    file = Log(tmp_path / "log")
    os.write(file.sink, b"one\ntw")
    assert list(file.lines()) == ["one"]
    os.write(file.sink, b"o\n\xff\n")
    assert list(file.lines()) == ["two", "�"]
    assert list(file.lines()) == []
    assert list(file.last) == ["one", "two", "�"]


def test_the_file_is_cut_and_is_read_on(tmp_path: Path) -> None:
    file = Log(tmp_path / "log")
    for number in range(40):
        os.write(file.sink, (f"line {number} ".encode() + b"x" * 99_990 + b"\n"))
        assert all(len(line) <= LINE_MAX + 3 for line in file.lines())
        assert (tmp_path / "log").stat().st_size <= FILE_MAX + 100_000
    os.write(file.sink, b"the last\n")
    assert list(file.lines()) == ["the last"]


def test_a_file_that_is_removed_is_read_on(tmp_path: Path) -> None:
    """Some services remove old files from the folder for temporary files."""
    file = Log(tmp_path / "log")
    (tmp_path / "log").unlink()
    os.write(file.sink, b"still here\n")
    assert list(file.lines()) == ["still here"]


def test_a_line_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    file = Log(tmp_path / "log")
    os.write(file.sink, b"export \x1b[31m\x07\tevil\n")
    assert list(file.lines()) == ["export \\x1b[31m\\x07\\tevil"]


def test_lines_that_differ_in_numbers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, heard = Clock(monkeypatch), list[str]()
    repeats = Repeats(heard.append)
    for number in range(40_000):
        repeats.add(REFUSED.replace("4096", str(number)))
    repeats.look()
    assert len(heard) == 1
    clock.now = WAIT_S
    repeats.look()
    assert heard[1:] == [REFUSED.replace("4096", "39999") + " (the last of 39,999 such lines)"]
    repeats.add(REFUSED)
    repeats.look()
    assert len(heard) == 2, "the next count comes after twice the time"
    repeats.look(is_end=True)
    assert heard[2:] == [REFUSED]


def test_a_day_of_errors_is_a_page_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients choose the text of some errors, such as export names."""
    clock, heard = Clock(monkeypatch), list[str]()
    repeats = Repeats(heard.append)
    for second in range(24 * 3600):
        clock.now = float(second)
        repeats.add(REFUSED)
        repeats.look()
    assert 24 <= len(heard) <= 24 * 3600 / WAIT_MAX_S + 12
    heard.clear()
    for number in range(10 * KINDS_MAX):
        repeats.add("export " + "x" * number)
    assert len(heard) <= KINDS_MAX + 1
