"""The tour as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from floatgate.analysis.tour.measured import (
    HARMS,
    HELPS,
    Change,
    Picture,
    Shown,
    change_text,
    verdict,
)
from floatgate.analysis.tour.stops import SEEDS, Row, Stop
from floatgate.files.writing import write_whole
from floatgate.results.values import interval

from .templates import filled


def write_tour(shown: Sequence[Shown], path: Path) -> None:
    """Writes the page to `path`, completely or not at all."""
    ways = {"bars": bars, "level": level, "change_text": change_text}
    page = filled(__package__ or "", "tour.html.jinja", shown=shown, seeds=SEEDS, **ways)
    write_whole(path, page.encode("utf-8"))


def bars(stop: Stop, picture: Picture) -> Iterator[dict[str, object]]:
    """Yields the bars of a picture: label, role, number, and width and whisker in per cent of the
    longest."""
    longest = max(bar.mean + bar.half for bar in picture.bars) or 1.0
    for bar in picture.bars:
        yield {
            "label": bar.row.label,
            "role": _role(stop, bar.row),
            "number": interval(bar.mean, bar.half),
            "width": 100 * bar.mean / longest,
            "low": 100 * max(bar.mean - bar.half, 0.0) / longest,
            "span": 100 * (bar.half + min(bar.half, bar.mean)) / longest,
        }


def level(change: Change) -> str:
    """Returns the class of a change: "good", "bad", or nothing for a change that hardly counts."""
    return {HELPS: "good", HARMS: "bad"}.get(verdict(change), "")


def _role(stop: Stop, row: Row) -> str:
    if row == stop.own:
        return "own"
    return "bound" if row == stop.bound else "other"
