"""Measures every number in docs/precondition.md again."""

from __future__ import annotations

import re
import shlex

import pytest
from paths import ROOT

import floatgate as fg
from floatgate import models
from floatgate.analysis.preconditioning import Preconditioned
from floatgate.cli import options

PAGE = ROOT / "docs" / "precondition.md"

NVME = "--device small-nvme --set flash.pages_per_block=64 --set flash.superblock=4"
DRIVES = {
    "classic": "",
    "small-nvme": f"{NVME} --set capacity.spare_factor=0.2",
    "separating": f"{NVME} --set capacity.spare_factor=0.2 --set placement.scheme=sepbit",
}
WORKLOADS = {
    "classic": ("uniform", "zipf:theta=0.8", "hotcold:r=0.9,f=0.1"),
    "small-nvme": ("uniform", "zipf:theta=0.8", "hotcold:r=0.9,f=0.1"),
    "separating": ("hotcold:r=0.9,f=0.1,span=1GiB",),
}


def measure(call: str) -> Preconditioned:
    """Runs `floatgate precondition` with these options, and returns the result."""
    words = shlex.split(call)
    given: dict[str, list[str]] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        given.setdefault(option.removeprefix("--"), []).append(value)
    sets = options.pairs("--set", given.pop("set", []))
    return fg.precondition(set=sets, **{key: value[0] for key, value in given.items()})


def lines(found: list[Preconditioned]) -> list[str]:
    """Returns the rows of a table: the steady state, and a row for each recipe."""
    states = [one.steady.write_amplification for one in found]
    levels = [f"{state.mean:.3f} ± {state.ci95:.3f}" for state in states if state and state.ci95]
    rows = [f"| steady state, WA | | {' | '.join(levels)} |"]
    for recipe in zip(*(one.recipes for one in found), strict=True):
        volumes = "" if recipe[0].name == "snia" else f"{recipe[0].volumes:g}"
        cells = []
        for one in recipe:
            assert one.distance is not None
            least = next((f"**{level}**" for level, ok in one.within.items() if ok), "-")
            own = f" ({one.volumes:.2f} volumes)" if one.name == "snia" else ""
            cells.append(f"{one.distance.mean:+.1f}, {one.farthest:.1f}: {least}{own}")
        rows.append(f"| {recipe[0].title} | {volumes} | {' | '.join(cells)} |")
    return rows


@pytest.mark.long
@pytest.mark.parametrize("drive", DRIVES)
def test_tables(drive: str) -> None:
    text = PAGE.read_text("utf-8")
    calls = [f"{DRIVES[drive]} --workload {one}".strip() for one in WORKLOADS[drive]]
    for call in calls:
        assert f"floatgate precondition {call}" in re.sub(r" *\\\n *", " ", text)
    found = [measure(call) for call in calls]
    rows = lines(found)
    missing = [row for row in rows if row not in text]
    assert not missing, "\n".join(rows)
    if drive == "classic":
        assert _law(found[0]) in " ".join(text.split())


def _law(found: Preconditioned) -> str:
    """Returns the page's sentence about the closed form."""
    state = found.steady.write_amplification
    assert state is not None
    pages = found.capacity_bytes // 4096
    law = models.greedy(found.units * 64 / pages, 64).write_amplification
    drive = f"{found.units:,} units of 64 pages for {pages:,} pages written"
    return f"{drive}, it is {law:.3f}. Found is {state.mean:.3f}."
