"""WARP on the paper kit: requests of its jobs, drives of its axes, and figures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from evidence.warp import EVIDENCE, point
from exhibits import cells

from floatgate.papers import PAPERS
from floatgate.papers.kit.experiment import Line
from floatgate.papers.kit.judging import runs_of
from floatgate.papers.kit.reproduce import reproduce
from floatgate.papers.warp import paper
from floatgate.papers.warp.claims import CLAIMS
from floatgate.papers.warp.domain import AXES, EXPERIMENT, LAWS, LINES, PAGES, UNITS, sized
from floatgate.papers.warp.figures import by_law, isolation, owners
from floatgate.papers.warp.streams import PAGE, Job, Jobs, uniform, zipf, zoned

DRAWS = 200_000
BY_KEY = {claim.key: claim for claim in CLAIMS}


def _shares(pages: np.ndarray) -> np.ndarray:
    """Returns the share of each page in the writes, the largest first."""
    _, writes = np.unique(pages, return_counts=True)
    shares: np.ndarray = np.sort(writes)[::-1] / len(pages)
    return shares


@pytest.mark.parametrize(("theta", "first", "second"), [(2.2, 0.671, 0.146), (1.2, 0.185, 0.081)])
def test_a_zipf_law_is_that_of_fio_if_a_page_is_a_page(
    theta: float, first: float, second: float
) -> None:
    """fio ends its sum after ten million ranks, so its law differs from an endless sum's."""
    drawn = _shares(zipf(theta)(np.random.default_rng(1), DRAWS, 50_000_000, 1.0))
    assert drawn[:2] == pytest.approx([first, second], abs=0.004)


def test_a_page_has_the_writes_of_all_ranks_that_it_stands_for() -> None:
    """90 % of the writes of zipf 1.2 go to 26,000 ranks: a page of that many has all of these."""
    drawn = _shares(zipf(1.2)(np.random.default_rng(1), DRAWS, 65_000, 26_000.0))
    assert drawn[0] == pytest.approx(0.9, abs=0.005)


def test_zones_have_their_shares_in_one_piece() -> None:
    pages = zoned(np.random.default_rng(1), DRAWS, 1000, 1.0)
    in_zone = [np.mean((low <= pages) & (pages < high)) for low, high in ((0, 200), (200, 400))]
    assert in_zone == pytest.approx([0.8, 0.1], abs=0.005)


JOBS = Jobs(
    8000,
    8e6,
    3.0,
    (Job(0.0, 0.9, 60), Job(0.9, 1.0, 20, uniform), Job(0.0, 0.9, 20, zipf(1.2), fills=False)),
    fill=True,
)


def test_the_fill_writes_a_volume_and_the_jobs_the_rest_by_their_shares() -> None:
    frame = JOBS(1)
    pages = frame["length"].to_numpy() // PAGE
    before = np.cumsum(pages) <= JOBS.pages
    assert pages[before].sum() == JOBS.pages
    assert pages.sum() == pytest.approx(3 * JOBS.pages, rel=0.01)
    later = frame["stream"].to_numpy()[~before], pages[~before]
    written = np.bincount(later[0], weights=later[1]) / later[1].sum()
    assert written == pytest.approx([0.6, 0.2, 0.2], abs=0.01)


def test_a_fill_at_random_leaves_pages_unwritten() -> None:
    """The random job fills with replacement, and the jumper does not fill."""
    frame = JOBS(1)
    pages = frame["length"].to_numpy() // PAGE
    filled = frame.filter(np.cumsum(pages) <= JOBS.pages)
    assert set(filled["stream"]) == {0, 1}
    of_random = filled.filter(stream=1)["offset"].n_unique() / (JOBS.pages / 10)
    assert of_random == pytest.approx(1 - np.exp(-1), abs=0.03)
    of_ordered = filled.filter(stream=0)["offset"].to_list()
    assert of_ordered == sorted(set(of_ordered))


def test_requests_depend_on_the_seed_alone() -> None:
    assert JOBS(3).equals(JOBS(3))
    assert not JOBS(3).equals(JOBS(4))


@pytest.mark.parametrize("line", LINES, ids=[line.key for line in LINES])
def test_units_that_stay_free_are_part_of_the_spare_space(line: Line) -> None:
    """A line with more open units has fewer units in service, not a larger drive."""
    asked = {"capacity.spare_factor": "0.125", "flash.pages_per_block": "128", **line.set}
    found = sized(PAGES, asked)
    assert 505 <= int(found["flash.blocks"]) <= 510 < PAGES / 0.875 / 128
    held = (1 - float(found["capacity.spare_factor"])) * int(found["flash.blocks"]) * 128
    assert int(held) == PAGES


def test_a_drive_without_room_gets_units_and_its_points_are_left_out() -> None:
    small = {**LINES[-1].set, "flash.pages_per_block": "512", "capacity.spare_factor": "0.02"}
    assert int(sized(PAGES, small)["flash.blocks"]) > PAGES / 0.98 / 512 - 3
    claim = replace(BY_KEY["isolation-8020"], axes=())
    points = {
        run: replace(point(run), added_units=1) for run in runs_of(EXPERIMENT, [claim], False)
    }
    assert EVIDENCE.judged(claim, points).counts.left_out == 1


def test_units_of_all_levels_divide_the_namespace() -> None:
    assert all(PAGES % units == 0 for units in UNITS)


def test_figures_have_a_row_for_each_law_and_line() -> None:
    points = [point(run) for run in runs_of(EXPERIMENT, CLAIMS, full=False)]
    laws = [(row["law"], row["line"]) for row in by_law(points).rows]
    assert {law for law, _ in laws} >= set(LAWS)
    assert len(laws) == len(set(laws))
    titles, *rows = cells(owners(points))
    assert titles[0] == "Jumper"
    assert [row[0] for row in rows] == list(LAWS)
    lines = isolation(points).rows
    assert {row["over"] for row in lines} == {7, 14, 28}
    assert {row["line"] for row in lines} >= {"fdp", "persistent-apart"}


def test_a_quick_reproduction_has_maps_and_runs() -> None:
    """With two claims, at one point each."""
    few = [replace(BY_KEY[key], axes=()) for key in ("zipf-fdp", "zipf-none", "isolation-8020")]
    some = replace(paper.PAPER, claims=few, shown=lambda *_: ())
    document = reproduce(some, PAPERS[0], False, None, None).document()
    json.dumps(document, allow_nan=False)
    assert {claim["id"] for claim in document["claims"]} >= {"zipf-fdp", "caches"}
    runs = document["runs"]
    assert len(runs) == 3 * (2 + 2), "three seeds of two lines of two workloads"
    for run in runs:
        assert run["config"]["placement"]["scheme"] == "host"
        assert run["added_units"] == 0
        assert run["copied_first"] + run["copied_second"] + run["copied_third"] == pytest.approx(1)
    handles = {run["line"]: run["write_amplification"] for run in runs}
    assert handles["fdp"] < handles["nofdp"]


def test_notes_name_the_level_that_was_chosen_after_results() -> None:
    shares = next(axis for axis in AXES if axis.key == "share")
    added = next(level.key for level in shares.levels if level.key.startswith("60 : 1"))
    assert added in paper.NOTES
