"""Errors of the models of five measured drives: the first table of docs/measured-drives.md.

`tools/trust.py` and `tools/trust_latency.py` write the other tables of the page, and then this one
from them. `tools/pictures_evidence.py` draws the errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured-drives.md"

AMPLIFICATION = {"mp0": "Micron 7450 MAX 800 GB (mp0)", "i1": "Solidigm D7-P5520 1.92 TB (i1)"}
LATENCY = {
    "h0": "SK Hynix PE8110 960 GB (h0)",
    "k4": "Kioxia CM7-R 3.84 TB (k4)",
    "k5": "another CM7-R 3.84 TB (k5)",
}
STEADY = "steady write amplification"
READS = {"read mean": 7, "read p50": 10, "read p99": 13}
"""Columns of errors in a table of rates."""
KNEE = "highest rate"
HEAD = ["drive", "runs", "predicted", STEADY, *READS, KNEE]


class Point(NamedTuple):
    """Error of one number of one run."""

    drive: str
    quantity: str
    run: str
    role: str
    percent: float


def table(text: str, name: str) -> list[list[str]]:
    """Returns the rows of a table of the page, below its head."""
    lines = text.partition(f"<!-- {name} -->\n")[2].partition("\n<!-- end of")[0].split("\n")[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def points(text: str) -> Iterator[Point]:
    """Yields the errors of all runs of write amplification, and of all rates below the knee. The
    last rate of a drive, which it cannot serve, has the error of the highest rate."""
    for run, role, _, _, _, steady, *_ in table(text, "runs"):
        name = run.strip("`").partition("-")[0]
        yield Point(AMPLIFICATION[name], STEADY, run.strip("`"), _role(role), _number(steady))
    for name, drive in LATENCY.items():
        rates = table(text, f"latency {name}")
        for row in rates:
            for quantity, column in READS.items():
                if row[column]:
                    yield Point(drive, quantity, row[0], row[1], _number(row[column]))
        yield Point(drive, KNEE, rates[-1][0], rates[-1][1], _number(rates[-1][4]))


def _role(text: str) -> str:
    """Returns the role without the fitted parameter."""
    return text.partition(":")[0]


def _number(cell: str) -> float:
    return float(cell.rstrip(" %"))


def rows(text: str) -> list[list[str]]:
    """Returns a row for each drive: its runs, and the range of each error."""
    found = list(points(text))
    return [_row(drive, [one for one in found if one.drive == drive]) for drive in _drives()]


def _drives() -> list[str]:
    return [*AMPLIFICATION.values(), *LATENCY.values()]


def _row(drive: str, found: Sequence[Point]) -> list[str]:
    below = {one.run: one.role for one in found if one.quantity != KNEE}
    kind = "runs" if any(one.quantity == STEADY for one in found) else "rates"
    predicted = sum(role == "predicted" for role in below.values())
    ranges = [_range([one.percent for one in found if one.quantity == name]) for name in HEAD[3:]]
    return [drive, f"{len(below)} {kind}", f"{predicted}", *ranges]


def _range(percents: Sequence[float]) -> str:
    if not percents:
        return ""
    low, high = min(percents), max(percents)
    return f"{low:+.1f} %" if low == high else f"{low:+.1f} to {high:+.1f} %"
