"""Effect of a model's size: src2_0 at 1/32, at 1/8 and at the size of the paper's drive."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Column, Numbers, Row
from floatgate.papers.kit.numbers import mean_row
from floatgate.results.values import percent

from .domain import SIZE_NAMES, SIZES_SHOWN, SRC2_0, SRC2_0_WHOLE, STAND_IN
from .lines import LABELS, MBF, MHF
from .measures import ON_SRC2_0
from .points import PLACE, Values, by_seed, changed, place_of, with_interval
from .reduce import Point

RIVALS = (MBF[0], MHF[0])
SIZED = (SRC2_0, *(f"{SRC2_0}, {SIZE_NAMES[scale]}" for scale in SIZES_SHOWN[1:]))


def by_size(points: Sequence[Point]) -> Numbers:
    known = [p for p in place_of(points) if p.kind == STAND_IN]
    values, hot = by_seed(known), by_seed(known, "hot_share")
    rows: list[Row] = [
        {"size": f"{trace}, 1/{SIZES_SHOWN[0]}" if trace == SRC2_0 else trace}
        | _waste(values, trace, "single")
        | _waste(values, trace, "eti")
        | {"hot": percent(mean_row(hot[trace, "eti"].values())["value"])}
        | _against(values, trace)
        for trace in SIZED
        if (trace, "eti") in values
    ]
    return Numbers(
        key="sizes",
        title="What the size of a model changes",
        caption=f"ETI against its rivals. {PLACE}",
        rows=rows if len(rows) > 1 else [],
        columns=[
            Column("", "size"),
            *(Column(LABELS[line], line) for line in ("single", "eti")),
            Column("writes hot to ETI", "hot"),
            *(Column(f"against {LABELS[rival]}", f"to {rival}") for rival in RIVALS),
        ],
    )


def full_size(points: Sequence[Point]) -> Numbers:
    """Returns the paper's size next to the size of all other stand-ins, at every skew."""
    rows: list[Row] = []
    for skew in dict.fromkeys(p.skew for p in points if p.trace == SRC2_0_WHOLE):
        values = by_seed(place_of(points, skew=str(skew)))
        small = _against(values, SRC2_0)
        row: Row = {"skew": skew} | _against(values, SRC2_0_WHOLE)
        for line in ("eti", *RIVALS):
            row |= _waste(values, SRC2_0_WHOLE, line)
        rows.append(row | {f"{key}, small": text for key, text in small.items()})
    own = [
        (f"against {LABELS[rival]}{of}", f"to {rival}{key}")
        for rival in RIVALS
        for of, key in (("", ""), (f", 1/{SIZES_SHOWN[0]}", ", small"))
    ]
    return Numbers(
        key="full-size",
        title="src2_0 at the paper's size, by skew",
        caption="Write amplification, and what ETI changes against each rival, beside the same in "
        f"the models that all else is of. Cold data scattered, 95% intervals. Paper: "
        f"{change(ON_SRC2_0)} at most.",
        rows=sorted(rows, key=lambda row: float(row["skew"])),
        columns=[
            Column("skew", "skew"),
            *(Column(LABELS[line], line) for line in ("eti", *RIVALS)),
            *(Column(title, key) for title, key in own),
        ],
    )


def _waste(values: Values, trace: str, line: str) -> Row:
    seeds = values.get((trace, line))
    return {line: with_interval(mean_row(seeds.values()), "")} if seeds else {}


def _against(values: Values, trace: str) -> Row:
    return {
        f"to {rival}": with_interval(changed(values, trace, rival, "eti"), "change")
        for rival in RIVALS
    }
