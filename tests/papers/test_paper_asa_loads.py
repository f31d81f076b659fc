"""Loads that ASA-FTL is compared on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from evidence.asa import WHOLE

from floatgate.papers.asa.domain import (
    ASA,
    DFTL,
    EXCERPTS,
    FINANCIAL1,
    MOVING,
    SYNTH5,
    synthetic,
    workload_of,
)
from floatgate.papers.kit.batch import Played

MIB = 1 << 20


def test_a_synthetic_load_has_the_skew_of_its_name() -> None:
    """x/10 of the writes go to (10 - x)/10 of the space, or as printed to (10 - x)/x of it."""
    specs = {work.name: work.played.spec for work in synthetic(full=True)}
    assert specs["synth9/10"] == (
        "hotcold:span=33554432B,size=2048B,r=0.9,f=0.100000,writes=81920,reads=0.0,"
        "arrivals=exponential,interarrival=26ms"
    ), "five volumes of 32 MiB"
    assert "span=134217728B" in specs["synth5/10, four times the span"]
    assert "writes=327680" in specs["synth5/10, four times the span"]
    assert "r=0.7,f=0.300000" in specs["synth7/10"]
    assert "reads=0.5" in specs["synth5/10, half reads"]
    assert "r=0.9,f=0.111111" in specs["synth9/10, by the letter"]
    assert "r=0.7,f=0.428571" in specs["synth7/10, by the letter"]
    letter = WHOLE.points((), True)[0] | {"synth": "by the letter"}
    assert WHOLE.run_of(letter, SYNTH5, DFTL, 1).workload == SYNTH5, "it is uniform in any case"
    moving = next(work.played for work in synthetic(full=True) if work.name == MOVING)
    assert (moving.spec, moving.moves) == (specs["synth9/10"], 4), "elsewhere in each volume"
    quick = [work.name for work in synthetic(full=False)]
    assert quick == ["synth9/10", MOVING, "synth7/10", "synth5/10"]


def test_an_excerpt_is_played_until_it_has_written_the_drive() -> None:
    bench: Any = SimpleNamespace(
        span_bytes=lambda played: 64 * MIB, written_bytes=lambda played: 10 * MIB
    )
    work = workload_of(EXCERPTS[0], Path("dir/file"), bench)
    assert work.played == Played("dir/file", repeat=32, dense=True, windows=100), "5 x 64 of 10"
    assert work.random, "windows lie in the order of the seed"
    loop = workload_of(EXCERPTS[1], Path("x"), bench)
    assert (loop.family, loop.random) == (FINANCIAL1, False)
    levels = WHOLE.points((), True)[0] | {"financial1": "10k in a loop"}
    seeds = {
        start: len({WHOLE.run_of(levels | {"start": start}, FINANCIAL1, ASA, s) for s in (1, 2, 3)})
        for start in ("aged", "fresh")
    }
    assert seeds == {"aged": 3, "fresh": 1}, "an aged drive was written over at random"
