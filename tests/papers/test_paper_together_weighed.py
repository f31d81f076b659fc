"""The five on one drive, weighed: the front, and the traces that are played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from evidence.together import TRACE, WHOLE, WORK, point
from exhibits import by_key, cells
from hypothesis import given
from hypothesis import strategies as st

from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.trace_files import Source
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES
from floatgate.papers.together import domain as together_runs
from floatgate.papers.together.domain import (
    BASE,
    BOUNDS,
    DFTL,
    ETI,
    LABELS,
    LINES,
    PAGE,
    RECORDED,
    SPAN,
    SPARE_28,
    blocks,
    experiment_of,
)
from floatgate.papers.together.figures import (
    BEATEN,
    FRONT,
    UNCLEAR,
    WEIGHED,
    beats,
    figures,
    summary,
    weigh,
)
from floatgate.papers.together.reduce import Point, amplified
from floatgate.papers.together.traces import LISTED, TRACES, Excerpt
from floatgate.simulation import configs

HERE = Path(__file__).resolve().parents[3] / "shared" / "traces"
SEEDS = (1, 2, 3)


def runs(line: str, work: str = WORK, levels: Any = None, **numbers: Any) -> list[Point]:
    """Three seeds; a number that is a tuple has one for each."""
    [middle] = WHOLE.points((), True)
    points = middle | (levels or {})
    found = []
    for seed in SEEDS:
        own = {k: v[seed - 1] if isinstance(v, tuple) else v for k, v in numbers.items()}
        run = WHOLE.run(WHOLE.workload(work), WHOLE.line(line), points, seed)
        found.append(point(run, **own))
    return found


# The front


def drives(memory: int, wa: Any, p99: Any) -> dict[str, Any]:
    return {"map_bytes": memory, "write_amplification": wa, "read_p99_us": p99}


def beaten(one: dict[str, Any], other: dict[str, Any]) -> str:
    ours, theirs = ({p.seed: p for p in runs(BASE, **each)} for each in (one, other))
    return beats(ours, theirs)


def test_who_beats_whom() -> None:
    one = drives(10, 2.0, 100.0)
    assert beaten(one, drives(10, 2.0, 101.0)) == AS_CLAIMED, "as much of two, and less of one"
    assert beaten(one, drives(10, 2.0, 100.0)) == LESS, "a tie beats nobody"
    assert beaten(one, drives(11, 2.0, 99.0)) == LESS, "more of one"
    assert beaten(one, drives(11, (2.1, 1.9, 2.0), 100.0)) == STRADDLES
    assert beaten(one, drives(9, (2.1, 1.9, 2.0), 100.0)) == LESS, "whatever else is so"


def test_differences_are_of_runs_with_the_same_seed() -> None:
    one, more = (1.0, 2.0, 3.0), (1.1, 2.1, 3.1)
    assert beaten(drives(10, one, 100.0), drives(10, more, 100.0)) == AS_CLAIMED
    assert beaten(drives(10, one, 100.0), drives(10, more[::-1], 100.0)) == STRADDLES


@given(st.lists(st.tuples(*[st.integers(0, 4) for _ in WEIGHED]), min_size=1, max_size=len(LINES)))
def test_where_nothing_scatters_it_is_the_front_of_numbers(
    numbers: list[tuple[int, int, int]],
) -> None:
    pairs = list(zip(LINES, numbers, strict=False))
    points = [p for line, each in pairs for p in runs(line.key, **drives(*each))]
    found = {row["line"]: row for row in weigh(summary(points), points)}
    rivals = {line.key: each for line, each in pairs if line.key not in (*BOUNDS, SPARE_28)}
    for key, own in rivals.items():
        by = [
            LABELS[other]
            for other, each in rivals.items()
            if each != own and all(a <= b for a, b in zip(each, own, strict=True))
        ]
        assert found[key][FRONT] == (BEATEN if by else FRONT)
        assert found[key]["by"] == ", ".join(by)
    left = {key for key, row in found.items() if row[FRONT] is None}
    assert left == found.keys() - rivals.keys(), "bounds, and more flash, are no rivals"


def test_what_is_not_told_apart_is_said() -> None:
    scattered = (2.1, 1.9, 2.0)
    points = [
        *runs(BASE, **drives(2, 2.0, 100.0)),
        *runs(ETI, **drives(1, scattered, 100.0)),
        *runs(DFTL, **drives(3, 3.0, 100.0)),
        *runs(BASE, TRACE, **drives(9, 9.0, 900.0)),
    ]
    rows = weigh(summary(points), points)
    assert [(row["line"], row[FRONT], row["by"]) for row in rows] == [
        (BASE, UNCLEAR, "ETI placement"),
        (ETI, FRONT, ""),
        (DFTL, BEATEN, "baseline, ETI placement"),
        (BASE, FRONT, ""),
    ], "another workload's lines are no rivals"
    found = by_key(figures(points, []))
    assert cells(found["front"])[1:] == [
        ["baseline", "not told apart", "front", "1"],
        ["ETI placement", "front", "\N{EN DASH}", "1"],
        ["DFTL", "beaten", "\N{EN DASH}", "0"],
    ]
    dots = {row["scheme"]: row for row in found["memory-write-amplification"].rows}
    assert dots[ETI]["half"] == pytest.approx(4.302652729911275 * 0.1 / 3**0.5)
    assert dots[DFTL]["line"] == "beaten in all three"


# Without the first volume


def test_amplified_from_a_page_on() -> None:
    timeline = pl.DataFrame(
        {"host_pages": [50, 90, 100], "page_write_amplification": [9.0, 2.0, None]}
    )
    assert amplified(timeline, 50) == pytest.approx(80 / 50)
    assert amplified(timeline, 40) == pytest.approx(170 / 60), "a window that is cut"
    assert amplified(timeline, 100) == amplified(timeline, 0), "no longer than a volume: all of it"


# The traces


def test_why_an_excerpt_is_left_out() -> None:
    fits = SPAN // PAGE
    first = Excerpt(TRACES[0], Played("x"), fits, 2.0)
    assert first.why_not == ""
    assert "more than the drive holds" in Excerpt(TRACES[0], Played("x"), fits + 1, 2.0).why_not
    assert Excerpt(TRACES[-1], Played("x"), fits + 1, 2.0).why_not == "", "its drive is as large"
    left = {source.name: Excerpt(source, Played("x"), fits, 1.99).why_not for source in TRACES}
    assert all("less than 2 times" in why for why in left.values())
    assert left["PC"].endswith("played as a whole")
    assert left["TPCC"].endswith("there is no more of it")


def test_all_traces_are_listed_and_quickly_two_are_played() -> None:
    known = [Excerpt(source, Played("x"), 1, 2.0) for source in TRACES]
    assert sum(one.is_played(full=False) for one in known) == 2
    assert all(one.is_played(full=True) for one in known)
    [table] = [one for one in figures([], known) if one.key == "traces"]
    assert [row["trace"] for row in table.rows] == [source.name for source in TRACES]
    assert [row["why"] for row in table.rows][:3] == ["played", "played", "played with --full"]


@pytest.mark.skipif(not HERE.is_dir(), reason="the traces are not here")
def test_why_wholes_are_left_out_is_so() -> None:
    bench = Bench(together_runs.DEVICE, None)
    for name, file, why in LISTED:
        words = why.split()
        if why.startswith("all of it writes a page"):
            played = Played(str(HERE / file), dense=True)
            assert f"{bench.overwrites(played):.2f}" == words[-2], name
        if why == "all of it has 4 writes":
            played = Played(str(HERE / file))
            assert bench.written_bytes(played) / bench.write_bytes(played) == 4


@pytest.mark.parametrize("line", ["dftl+ncq", "dftl+shrd", SPARE_28])
def test_a_whole_trace_is_on_a_drive_of_its_size_with_the_same_shares(line: str) -> None:
    pages = 3 * SPAN // PAGE + 1

    class Written:
        def written_bytes(self, played: Played) -> int:
            return pages * PAGE

    bench: Any = Written()
    work = Excerpt(Source("t", RECORDED, "t"), Played("t"), pages, 2.0).workload(bench)
    assert (work.played.repeat, work.played.windows) == (3, 100)
    experiment = experiment_of([work])
    [levels] = experiment.points((), True)
    settings = experiment.settings(experiment.run_of(levels, "t", line, 1), 1)
    assert settings["flash.blocks"] == str(blocks(0.28 if line == SPARE_28 else 0.15, pages))
    assert settings["mapping.cache"] == f"{3 * together_runs.CACHE + 1}B"
    assert settings.get("buffer.capacity", "3145728B") == f"{3 * together_runs.BUFFER}B"
    assert settings.get("host.log", "3145728B") == f"{3 * together_runs.LOG}B"
    assert configs.resolve(together_runs.DEVICE, settings).logical_bytes(0) >= pages * PAGE
