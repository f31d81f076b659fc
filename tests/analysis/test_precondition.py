"""`floatgate precondition`: recipes, the rules of steadiness, the answer, the command, and the
numbers of docs/drives.md."""

from __future__ import annotations

import json
import math
import random
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from browser import check_drawn
from conftest import Cli
from paths import ROOT

import floatgate as fg
from floatgate import _core, models
from floatgate.analysis import steady
from floatgate.analysis.preconditioning import Preconditioned
from floatgate.analysis.recipes import all_recipes, worn_evenly
from floatgate.cli import options
from floatgate.cli.summary import print_summary
from floatgate.report import overview, write_precondition

CAPACITY = 8 << 20
PAGES = CAPACITY // 4096
SMALL = {"workload": "uniform:span=32MiB", "repeat": 2, "budget": 16}


def _writes(play: str) -> list[list[int]]:
    """Returns the pages that each generator writes, in order."""
    found = []
    for text in filter(None, map(str.strip, play.split(";"))):
        pages: list[int] = []
        for batch in _core.Workload.generator(text, 3).batches(1 << 12):
            for _, op, offset, length in pl.DataFrame(batch).iter_rows():
                assert op == 1
                pages += range(offset // 4096, (offset + length) // 4096)
        found.append(pages)
    return found


def test_recipes_write_what_they_say() -> None:
    every = [*range(PAGES)]
    for recipe in all_recipes(CAPACITY, 4096):
        written = _writes(recipe.play)
        assert sum(map(len, written)) == recipe.volumes * PAGES, recipe.name
        if recipe.name.startswith("fill") or recipe.name == "snia":
            assert written[0] == every, "in order, every page once"
        if recipe.name in ("fill-twice", "snia"):
            assert written == [every, every]
        if recipe.name == "shuffled":
            assert written[0] != every
            assert sorted(written[0]) == every
        if "random" in recipe.name:
            assert 0.6 < len({*written[1][:PAGES]}) / PAGES < 0.66, "1 - 1/e of the pages"


def test_a_worn_drive_has_lost_its_spare_evenly() -> None:
    fill, single = _writes(worn_evenly(CAPACITY, 4096, 0.07))
    assert fill == [*range(PAGES)]
    assert single == [13 * at for at in range(PAGES // 13)]
    assert len(single) == pytest.approx(PAGES * 0.07 / 0.93, rel=0.03)
    assert _writes(worn_evenly(CAPACITY, 4096, 0.6))[1] == [*range(0, PAGES, 2)]


def test_a_drive_counts_what_a_recipe_writes(capsys: pytest.CaptureFixture[str]) -> None:
    for recipe in all_recipes(CAPACITY, 4096):
        sets = {"start.fill": "none", "start.play": recipe.play}
        result = fg.run(f"uniform:span={CAPACITY},writes=1", set={**sets, "timing": "none"})
        print_summary(result, "classic")
        is_played = bool(recipe.play)
        text = "".join(capsys.readouterr().out.split())
        assert (f"volumesof{''.join(recipe.play.split())}" in text) == is_played
        assert (f"of {recipe.play} written before the run" in overview.start(result)) == is_played
        pages = result.start.played_volumes * result.drive.logical_pages
        assert pages == pytest.approx(recipe.volumes * PAGES, abs=1e-6)


def _noise(scale: float, count: int = 32) -> list[float]:
    generator = random.Random(7)
    return [scale * generator.uniform(-1, 1) for _ in range(count)]


def test_a_level_series_is_steady_from_its_level_on() -> None:
    rising = [5 - 4 * math.exp(-volume) for volume in range(32)]
    noisy = [value * (1 + noise) for value, noise in zip(rising, _noise(0.004), strict=True)]
    assert steady.steady_from([3.0] * 32) == 0
    # 4 e^-n is below 1 % of 5 from n = 5 on. With noise, a mean over ten volumes is nearer to the
    # first of them.
    assert steady.steady_from(rising) == 5
    assert steady.steady_from(noisy) in (4, 5)
    assert steady.steady_from(rising[:14]) is None, "too short"


@pytest.mark.parametrize(
    "series",
    [
        [4 * (1 + 0.001 * volume) for volume in range(64)],
        [5 - 4 * math.exp(-volume / 60) for volume in range(64)],
        [4 + 0.1 * math.sin(2 * math.pi * volume / 5) for volume in range(64)],
        [4 + 0.1 * math.sin(2 * math.pi * volume / 40) for volume in range(64)],
        [4.0] * 26 + [4.1] * 6,
        [4 * (1 + noise) for noise in _noise(0.03)],
    ],
    ids=["drifts", "slow", "short wave", "long wave", "steps", "noisy"],
)
def test_a_series_that_moves_is_not_steady(series: list[float]) -> None:
    assert steady.steady_from(series) is None


def test_snia_is_content_with_five_rounds() -> None:
    assert steady.snia_rounds([1.0] * 4) is None
    assert steady.snia_rounds([1.0] * 5) == 5
    # Over five rounds, a slope of 10 % of the mean is flat enough, and 11 % is not.
    falling = [[1 - share / 4 * (at - 2) for at in range(5)] for share in (0.0999, 0.11)]
    assert [steady.snia_rounds(rounds) for rounds in falling] == [5, None]
    # Without a slope, a range of 20 % is narrow enough.
    ranges = [[1, 1 + width / 2, 1, 1 - width / 2, 1] for width in (0.199, 0.21)]
    ranges = [[*rounds[:1], rounds[1], rounds[3], rounds[1], 1.0] for rounds in ranges]
    assert [steady.snia_rounds(rounds) for rounds in ranges] == [5, None]
    assert steady.snia_rounds([9, 5, 1, 1, 1, 1, 1]) == 7


def test_uniform_writes_come_to_the_closed_form() -> None:
    found = fg.precondition(repeat=2, budget=16, workers=2)
    alpha = found.units * 64 / (found.capacity_bytes // 4096)
    state = found.steady.write_amplification
    assert state is not None
    law = models.greedy(alpha, 64).write_amplification
    assert state.mean == pytest.approx(law, rel=0.005)
    assert [start.volumes for start in found.steady.starts] != [None, None]
    by_name = {one.name: one for one in found.recipes}
    # An erased drive cleans nothing until its spare units are used up.
    assert by_name["erased"].write_amplification.mean == 1
    assert by_name["erased"].volumes == 0
    assert by_name["fill-random-1"].within["3"]
    assert not by_name["fill"].within["5"]
    assert found.shortest["5"] == "fill-random-1"
    # After a fill, the workload's curve is the same curve with a later start.
    quarters = 4
    assert by_name["fill-workload-1"].curve[0] == by_name["fill"].curve[quarters]
    assert by_name["workload-2"].curve[0] == by_name["erased"].curve[2 * quarters]
    assert 3.25 <= by_name["snia"].volumes < 5
    assert len(by_name["snia"].curve) == 8 * quarters


def test_the_clock_changes_nothing() -> None:
    small = {**SMALL, "workload": "uniform:span=8MiB", "repeat": 1}
    assert fg.precondition(**small).recipes == (
        fg.precondition(**small, set={"timing": "scheduled"}).recipes
    )


def test_parts_of_a_drive_mixes_and_large_requests() -> None:
    """The workload keeps its own span, reads and sizes. A window is a quarter of the drive's
    capacity."""
    for text, requests in (
        ("uniform:span=8MiB,reads=0.5", 2 * 16.0),
        ("uniform:span=8MiB,size=16KiB", 16 / 4),
    ):
        found = fg.precondition(workload=text, repeat=1, budget=16)
        pages = found.capacity_bytes / 4096
        assert found.workload.startswith(f"{text},requests=")
        assert int(found.workload.rpartition("=")[2]) == pytest.approx(requests * pages, rel=0.02)
        # The drive has the smallest capacity for the span, rounded up to whole requests of the
        # fill.
        assert CAPACITY <= found.capacity_bytes < CAPACITY + 64 * 4096
        assert found.capacity_bytes % (128 << 10) == 0


def test_what_does_not_settle_is_not_judged(tmp_path: Path) -> None:
    found = fg.precondition(workload="hotcold:r=0.98,f=0.1", budget=16, repeat=1)
    assert found.steady.write_amplification is None
    assert found.warnings[0].startswith("no steady state was found: in 16 volumes")
    assert set(found.shortest.values()) == {None}
    for one in found.recipes:
        assert one.distance is None
        assert one.farthest is None
        assert {*one.within.values()} == {None}
    pages = write_precondition(found, tmp_path)
    assert [path.name for path in pages] == ["precondition.html"]
    assert "no steady state was found" in pages[0].read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"budget": 20}, "budget: 20 given; expected 16, 32 or 64"),
        ({"repeat": 0}, "repeat: 0 given"),
        ({"workload": "uniform:writes=10"}, "workload: writes is given"),
        ({"workload": "zipf:theta=0.8,requests=10"}, "workload: requests is given"),
        ({"workload": "some.csv"}, "workload: 'some.csv' given; expected a generator"),
        ({"workload": "uniform:reads=1"}, "writes nothing"),
        (
            {"workload": "uniform:span=64KiB", "set": {"flash.pages_per_block": 4}},
            "the drive has 73728 bytes; expected at least 131072",
        ),
        ({"set": {"start.fill": "random"}}, "start.fill: is given"),
        (
            {"set": {"flash.blocks": 64}, "workload": "uniform:span=1GiB"},
            "spans 1073741824 bytes but the drive",
        ),
    ],
)
def test_bad_input(given: dict[str, object], words: str) -> None:
    with pytest.raises(fg.ConfigError, match=words):
        fg.precondition(**given)  # type: ignore[arg-type]


CALL = ("precondition", "--workload", "uniform:span=32MiB", "--repeat", "2", "--budget", "16")


def test_command_prints_a_table_and_writes_a_page(cli: Cli, tmp_path: Path) -> None:
    done = cli(*CALL, "--out", "found", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert any(line.startswith("steady state  write amplification 6.") for line in lines)
    assert any(line.startswith("SNIA: fill twice, rounds  ") for line in lines)
    assert any(line.startswith("5 %     fill, 1x random writes") for line in lines)
    assert "warning: 1 % cannot be told" in done.stdout
    names = {path.name for path in (tmp_path / "found").iterdir()}
    files = {"precondition.html", "results.json", "distance.svg", "distances.csv"}
    assert names == files | {"distances.parquet"}
    cli(*CALL, "--out", "found").refused("is not empty")


def test_command_prints_one_document(cli: Cli) -> None:
    done = cli(*CALL, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads(json.dumps(fg.precondition(**SMALL).to_dict()))


PAGE = ROOT / "docs" / "drives.md"

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
    return f"it finds {state.mean:.3f}, where the closed form has {law:.3f}."


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    page, picture = write_precondition(fg.precondition(**SMALL), tmp_path)
    assert picture.name == "distance.svg"
    check_drawn(browser, page, {"distance-0": 7, "distance-1": 7})
