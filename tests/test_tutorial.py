"""The tutorial as its reader follows it: its commands run in order, its numbers come out."""

from __future__ import annotations

import random
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = (ROOT / "docs/tutorial.md").read_text("utf-8")
UNTESTED = {"sudo", "blkparse"}
"""Need root and a disk; a file that blkparse wrote stands in for theirs."""


def _commands() -> list[list[str]]:
    """All commands in indented blocks, as words."""
    text = re.sub(r"\\\n\s*", "", TUTORIAL)
    blocks = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    return [shlex.split(line) for line in blocks if not line.startswith("write amplification")]


def _record(command: list[str], log: Path) -> bool:
    """The log, by fio where it is installed; whether it was."""
    if shutil.which("fio"):
        done = subprocess.run(command, cwd=log.parent, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return True
    chosen = random.Random(1)
    lines = ["fio version 3 iolog", "0 file add", "0 file open"]
    for number in range(16384):
        page = min(int(chosen.paretovariate(0.3)), 16384) - 1
        operation = "read" if chosen.random() < 0.3 else "write"
        lines.append(f"{number * 30} file {operation} {page * 4096} 4096")
    log.write_text("\n".join(lines) + "\n", "utf-8")
    return False


def test_every_command_of_the_tutorial_runs_and_its_numbers_come_out(
    cli: Any, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "tests/data/traces/queue.blkparse", tmp_path / "disk.txt")
    recording, *commands = _commands()
    assert recording[0] == "fio"
    by_fio = _record(recording, tmp_path / "my.log")
    printed = {}
    for words in commands:
        if words[0] in UNTESTED:
            continue
        assert words[0] == "floatgate", words
        done = cli(*words[1:])
        assert done.returncode == 0, f"{shlex.join(words)}: {done.stderr}"
        printed[tuple(words[1:])] = done.stdout + done.stderr
    assert len(printed) == 7
    assert (tmp_path / "answer/report.html").is_file()
    if not by_fio:
        pytest.skip("fio is not installed: the commands ran, the numbers are of fio's log")
    _hold_the_numbers(list(printed.values()))


def _hold_the_numbers(printed: list[str]) -> None:
    """What the page says of each command's output, in the order of the commands."""
    _, _, fresh, aged, compared, curve, _ = printed
    rows = re.findall(r"^\| (0\.\d+) \| ([\d.]+) \|$", TUTORIAL, re.MULTILINE)
    assert len(rows) == 2
    for factor, value in rows:
        assert re.search(rf"^{factor}\s+{value}\s", compared, re.MULTILINE), compared
    (shown,) = re.findall(r"^    write amplification  (.*)$", TUTORIAL, re.MULTILINE)[:1]
    assert shown in fresh
    assert "warning: write amplification is not that of a drive in long use" in fresh
    assert "write amplification  9.456" in aged
    assert "warning" not in aged
    assert re.search(r"95 %\s+10\.\d+\sKiB\s+1\s292\s", curve), curve
