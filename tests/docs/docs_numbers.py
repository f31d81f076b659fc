"""Compares the numbers that pages print next to their commands with what the commands print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"

Printed = dict[str, str]
"""Output of each command of a page, in page order."""


def _of(printed: Printed, part: str) -> str:
    """Returns the output of the only command that contains `part`, with line breaks and thousands
    separators removed."""
    [found] = [told for text, told in printed.items() if part in text]
    return " ".join(re.sub(rf"(?<=\d){NARROW_SPACE}(?=\d)", "", found).split())


def _number(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, f"{pattern}: {text}"
    return found[1].replace(",", "")


def _models(text: str, printed: Printed, _: Path) -> None:
    row = _number(r"\| `greedy` \| ([\d.]+) \|", text)
    assert f"write amplification {row} " in _of(printed, "span=4GiB")


def _drives(text: str, printed: Printed, folder: Path) -> None:
    """Checks the data sheet, and that the timeline shows the write cliff of a full SLC cache."""
    shown = [line.strip() for line in text.replace("\N{NO-BREAK SPACE}", " ").splitlines()]
    [sheet] = [told for command, told in printed.items() if "--measure" in command]
    lines = sheet.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    missing = [line for line in lines if line.strip() not in shown]
    assert not missing, sheet
    rate = pl.read_parquet(folder / "cliff" / "timeline.parquet")["write_mb_s"]
    cut = len(rate) // 4
    assert rate[:cut].median() > 2 * rate[-cut:].median()


def _comparing(text: str, printed: Printed, _: Path) -> None:
    """Checks the means, intervals and differences of the victim policies."""
    (told,) = printed.values()
    rows = re.findall(r"^    ((?:greedy|cost_benefit|cat|  difference) .*)$", text, re.MULTILINE)
    assert len(rows) == 5
    for row in rows:
        assert " ".join(row.split()) in " ".join(told.split()), told


def _design(text: str, printed: Printed, _: Path) -> None:
    """Checks the table below each command: the command prints a line with the row's names and
    numbers."""
    joined = re.sub(r" \\\n\s*", " ", text)
    rows = 0
    for command, output in printed.items():
        below = joined.partition(f"    {command}\n")[2].partition("    floatgate ")[0]
        # A label that is too long for its column has a line of its own.
        whole = re.sub(r"\n(?= +\d)", " ", output)
        lines = [set(re.split(r"[\s:,]+", line)) for line in whole.splitlines()]
        for row in re.findall(r"^\| (.*\d\.\d.*) \|$", below, re.MULTILINE):
            cells = [re.split(r"[\s:,]+", cell.strip(" `")) for cell in row.split("|")]
            words = {word for cell in cells for word in cell} - {"–"}
            assert any(words <= line for line in lines), f"{row}\n{output}"
            rows += 1
    assert rows == 34
    predicted = _number(r"this command prints ([\d.]+):", text)
    assert f"greedy {predicted} " in _of(printed, "predict")
    moments = _number(r"each of ([\d,]+) moments", text)
    crash = _of(printed, "floatgate crash").replace(",", "")
    assert f"at {moments} of the {moments} moments of" in crash
    assert "nothing was lost" in crash


def _faults(text: str, printed: Printed, _: Path) -> None:
    [(share, least)] = re.findall(r"By default (\d+) % of the units, at least (\d+), are", text)
    _spare_units(_of(printed, "faults.spare_units=200"), 200)
    for command, told in printed.items():
        if "faults.wear_out=true" in command:
            told = _of({command: told}, "")
            units = _spare_units(told, int(least))
            assert units * int(share) / 100 < int(least), "so the least number holds"
            _worn_out(text, told)


def _spare_units(told: str, expected: int) -> int:
    """Checks that `expected` erase units of 256 KiB are spare, and returns the number of units in
    service."""
    flash = float(_number(r"all flash ([\d.]+) MiB", told))
    part = float(_number(r"spare units ([\d.]+) %", told))
    assert round(flash * part / 100 / 0.25) == expected
    return int(_number(r"(\d+) erase units of 64 pages", told))


def _worn_out(text: str, told: str) -> None:
    """Checks that the drive became read-only, and that its units wore out within the page's
    limits."""
    spread = int(_number(r"after `flash.endurance` erases, plus or minus (\d+) %", text)) / 100
    assert "warning: the drive became read-only, as its spare erase units were used up" in told
    [(first, last)] = re.findall(r"erases per unit +(\d+) to (\d+)", told)
    assert 500 * (1 - spread) <= int(first) < int(last) <= 500 * (1 + spread)


def _fitting(text: str, printed: Printed, _: Path) -> None:
    """Checks each block of output against the command in front of it. A block may leave lines
    out."""
    blocks = re.findall(
        r"^    (floatgate .*?)\n\n```text\n(.*?)```", text, re.DOTALL | re.MULTILINE
    )
    assert len(blocks) == 4
    for command, shown in blocks:
        words = " ".join(command.replace("\\\n", " ").split())
        if words in printed:
            lines = printed[words].splitlines()
            missing = [line for line in shown.splitlines() if line not in lines]
            assert not missing, f"{words}: {missing}\n{printed[words]}"


def _trace_info(text: str, printed: Printed, _: Path) -> None:
    _map_curve(text, printed)
    row = re.search(r"^\| `writes=2250k` \| 871628800 \| (.*) \|$", text, re.MULTILINE)
    assert row
    *means, extents = row[1].split(" | ")
    told = _of(printed, "fitted:row=src2_0")
    assert re.search(rf"pages {' '.join(means)} Merged", told), told
    assert f"none merged {extents}.0 " in told, told


def _images(_: str, __: Printed, folder: Path) -> None:
    assert (folder / "copy.bin").read_bytes() == (folder / "boot.bin").read_bytes()


def _map_curve(text: str, printed: Printed) -> None:
    stated = float(_number(r"\| Zipf 0.99, 64 GiB \| 100 M \| 1 % \| ([\d.]+) \|", text))
    long = [told for command, told in printed.items() if "requests=100M" in command]
    for told in long:
        limit = _number(r"error is below ([\d.]+) %", " ".join(told.split()))
        assert stated == round(float(limit) / 100, 3)


def _policy(text: str, printed: Printed, _: Path) -> None:
    """Checks the table of placements, and the sentence about a recording where its long command
    was run."""
    rows = re.findall(r"^\| ([\w:]+) \| (\S+ ± \S+) \| ?(.*?) ?\|$", text, re.MULTILINE)
    assert len(rows) == 8
    told = _of(printed, "hotcold:span=64MiB")
    for name, mean, difference in rows:
        assert f"{name} {mean} " in told, told
        assert f" difference {difference}" in told or name == "single", told
    differences = re.findall(r"`([\w:]+)` (\S+ ± [\d.]+ %)", text)
    assert len(differences) >= 4
    for told in (_of({"": one}, "") for command, one in printed.items() if "capture" in command):
        for name, difference in differences:
            assert re.search(rf" {name} [^a-z]*difference {re.escape(difference)}", told), told


def _recovery(text: str, printed: Printed, folder: Path) -> None:
    _faults(text, printed, folder)
    every = int(_number(r"every (\d+)th continues with requests", text))
    most = int(_number(r"at most ([\d,]+) moments of the workload are explored", text))
    told = _of(printed, "floatgate crash")
    moments, all_moments = re.findall(r"at ([\d,]+) of the ([\d,]+) moments of 2,500", told)[0]
    recoveries, left = re.findall(r"at ([\d,]+) of the ([\d,]+) of recoveries", told)[0]
    counted = [int(number.replace(",", "")) for number in (moments, all_moments, recoveries, left)]
    assert counted[0] == counted[1] <= most and counted[2] <= most < counted[3]
    assert f"{counted[3] - counted[2]:,} of {left} moments of recoveries were left out" in told
    assert f"{counted[0] // every:,} of which continued the workload" in told
    assert "nothing was lost" in told


def _time(text: str, printed: Printed, _: Path) -> None:
    row = re.search(
        r"Request ([\d,]+), a read of one page, took ([\d.]+) ms: ([\d.]+) of cleaning", text
    )
    assert row
    told = _of(printed, "--lanes 12ms")
    found = re.search(
        r"Request (\d+), a read of 4 KiB .* took ([\d.]+) ms: cleaning ([\d.]+) ", told
    )
    assert found, told
    assert found[1] == row[1].replace(",", "")
    for said, measured in ((row[2], found[2]), (row[3], found[3])):
        assert said == f"{float(measured):.1f}"


def _log(text: str, printed: Printed, folder: Path) -> None:
    """Checks the numbers of the first lesson. They belong to fio's log."""
    info = _of(printed, "info my.log")
    for line in re.findall(r"^    ((?:requests|footprint|written) .*)$", text, re.MULTILINE):
        assert " ".join(re.sub(r"(?<=\d) (?=\d{3})", "", line).split()) in info, info
    _advised(text, folder)
    compared = _of(printed, "compare my.log")
    rows = re.findall(r"^    ((?:tlc|qlc)-\S+ +0\.\d+ +[\d.]+ +[\d.]+) ", text, re.MULTILINE)
    assert len(rows) == 4
    for row in rows:
        assert " ".join(row.split()) in compared, compared
    _lifetimes(text, folder)


def _advised(text: str, folder: Path) -> None:
    """Checks write amplification and drive writes a day of the drives that advice names."""
    advice = json.loads((folder / "advice" / "advice.json").read_text("utf-8"))
    numbers = {
        f"{one['of']}: {one['name']}": one for line in advice["lines"] for one in line["numbers"]
    }
    rows = re.findall(
        r"^\| (TLC|QLC), (\d+) % spare \| ([\d.]+) ± ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE
    )
    assert len(rows) == 4
    for spare, words in ((7, r"([\d.]+) with 7 %, and"), (28, r"and ([\d.]+) with 28 %: the same")):
        mixed = numbers[f"filled at random: {spare}% spare, filled at random"]["value"]
        assert _number(words, text) == f"{mixed:.2f}"
    names = {"TLC": "tlc-enterprise", "QLC": "qlc-capacity"}
    for kind, spare, *shown in rows:
        drive = f"{names[kind]}, {spare}% spare"
        wa = numbers[f"{drive}: write amplification"]
        daily = numbers[f"{drive}: drive writes per day"]["value"]
        found = [wa["value"], (wa["high"] - wa["low"]) / 2, daily]
        assert shown == [f"{number:.2f}" for number in found], drive


def _lifetimes(text: str, folder: Path) -> None:
    """Checks the lifetimes of the two TLC drives, and that they follow from cleaning and spare."""
    results = json.loads((folder / "answer" / "results.json").read_text("utf-8"))["results"]
    small, large = results[:2]
    lives = [run["lifetime"]["host_bytes"] for run in (small, large)]
    saved = small["write_amplification"] / large["write_amplification"]
    flash = large["drive"]["physical_bytes"] / small["drive"]["physical_bytes"]
    assert _number(r"takes ([\d.]+) times as many bytes", text) == f"{lives[1] / lives[0]:.1f}"
    assert lives[1] / lives[0] == pytest.approx(saved * flash, rel=0.04)


def evictions(folder: Path) -> list[list[str]]:
    """Returns a trace's rows in docs/algorithms.md, 2.4, without its name: mean responses in ms."""
    batches = pl.read_csv(folder / "batches" / "table.csv")
    bounds = pl.read_csv(folder / "bounds" / "table.csv")
    none, ideal = _ms(bounds)
    means = _ms(batches)
    return [[none, "false", *means[::2], ideal], ["", "true", *means[1::2], ""]]


def _ms(table: pl.DataFrame) -> list[str]:
    return [f"{mean / 1000:.1f}" for mean in table["latency.all.mean_us"]]


HELD: dict[str, Callable[[str, Printed, Path], None]] = {
    "docs/comparing.md": _comparing,
    "docs/design.md": _design,
    "docs/drives.md": _drives,
    "docs/fitting.md": _fitting,
    "docs/learn/log.md": _log,
    "docs/learn/policy.md": _policy,
    "docs/live.md": _images,
    "docs/models.md": _models,
    "docs/recovery.md": _recovery,
    "docs/time.md": _time,
    "docs/trace-info.md": _trace_info,
}
"""Check of each page. Its arguments: the page, the output of its commands, the folder they ran
in."""
