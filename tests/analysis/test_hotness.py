"""Hot and cold data: counts made by hand, and the command as a user calls it."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import check_drawn
from paths import shared

import floatgate as fg
from floatgate import _core
from floatgate.analysis import hot_tables, hotness
from floatgate.report import write_hotness
from floatgate.report.hotness import hotness_figures
from floatgate.traces import lay_out, read_trace
from floatgate.traces.model import SCHEMA

MIXED = "hotcold:span=8MiB,r=0.9,f=0.05,requests=6k,reads=0.2"
PAGE = 4096


def _frame(offsets: list[int], lengths: list[int], ops: list[int] | None = None) -> pl.DataFrame:
    """Returns requests at these offsets, one nanosecond apart. They are writes if `ops` is None."""
    columns = {
        "at_ns": list(range(len(offsets))),
        "op": ops or [1] * len(offsets),
        "device": [0] * len(offsets),
        "offset": offsets,
        "length": lengths,
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def _pages(pages: list[int]) -> pl.DataFrame:
    return _frame([page * PAGE for page in pages], [PAGE] * len(pages))


def test_extents_are_those_of_the_worked_example() -> None:
    found = fg.hotness(_pages([0, 1, 5, 6, 20] * 4))
    extents = {row.gap_pages: row.extents for row in found.extents}
    assert [extents[k] for k in (1, 2, 4, 16, 1024)] == [3, 3, 2, 1, 1]
    assert found.means == hotness.SequenceMeans(5, 0, 20, 0, 1)
    assert found.sequences == 1 and not found.overwrites.histogram[0].overwrites


def test_holes_of_the_address_space_count() -> None:
    """A region of 1 MiB between two hot pages must not vanish because no request touches it."""
    found = fg.hotness(_pages([0, 600] * 4))
    assert [row.extents for row in found.extents] == [2] * 10 + [1]


def test_sequences_skew_and_distances_by_hand() -> None:
    # Sequences of eight page writes: A four times, B to E once; the same again; then one page left
    # over.
    pages = [0, 8, 0, 9, 0, 10, 0, 11] * 2 + [0]
    found = fg.hotness(_pages(pages), gb=8 * PAGE)
    assert found.means == hotness.SequenceMeans(1, 4, 4, 4, 1)
    assert (found.sequences, found.partial_bytes, found.partial_counted) == (2, PAGE, False)
    assert [one.extents for one in found.each] == [1, 1]
    assert any("are left out" in note for note in found.notes)
    counted = fg.hotness(_pages(pages), gb=8 * PAGE, partial=True)
    assert (counted.sequences, counted.partial_counted) == (3, True)
    assert counted.means.hot_pages == pytest.approx(2 / 3)
    again = found.overwrites
    assert (again.overwrites, again.overwrites_share) == (12, 12 / 17)
    assert again.mean_pages == pytest.approx((8 * 2 + 4 * 8) / 12)
    assert [bar.overwrites for bar in again.histogram] == [0, 8, 0, 4]
    assert {at.quantile: at.pages for at in again.quantiles}[0.5] == 2
    assert {top.pages_share: top.writes_share for top in found.skew.top}[0.2] == 9 / 17
    # Lorenz curve over four pages with 2 of 17 writes and one page with 9.
    assert found.skew.gini == pytest.approx(1 - (2 * (2 + 4 + 6 + 8) + 17) / (5 * 17))


def test_threshold_rounding_and_gb_are_parameters() -> None:
    frame = _frame([0, 100, 100, 4096], [4096, 4096, 200, 9000])
    cover = fg.hotness(frame)
    assert (cover.page_writes, cover.means.length_pages) == (7, 7 / 4)
    truncate = fg.hotness(frame, rounding="truncate", hot_from=2)
    assert (truncate.page_writes, truncate.means.hot_pages) == (4, 1)
    assert fg.hotness(frame, gb="1GiB").gb_bytes == 1 << 30
    assert [fg.hotness(frame, gb=gb).gb_bytes for gb in ("1GB", 5)] == [1_000_000_000, 5]


def test_runs_are_counted_by_kind() -> None:
    offsets, lengths = [0, 4096, 0, 8192, 4096, 16384], [4096] * 6
    found = fg.hotness(_frame(offsets, lengths, [1, 1, 0, 1, 0, 1])).sequentiality
    assert (found.all.requests, found.all.continuing_requests_share) == (6, 1 / 6)
    assert (found.writes.runs, found.writes.run_requests_mean) == (2, 2)
    assert (found.writes.run_bytes_max, found.writes.run_bytes_p50) == (12288, 4096)
    assert (found.reads.runs, found.reads.continuing_bytes_share) == (1, 0.5)


def test_document_is_the_dataclass_and_back() -> None:
    found = fg.hotness(MIXED, gb="4MB")
    document = found.to_dict()
    assert fg.Hotness.from_dict(json.loads(json.dumps(document))) == found
    assert document["sequences"] == len(document["each"]) > 3
    assert document["name"] == MIXED


@pytest.mark.parametrize("name", ["umass-financial1-10k.ascii.zst", "cloudphysics-114k.vscsi.zst"])
def test_real_traces_agree_with_polars(name: str) -> None:
    """Polars counts page by page, an independent way to the same numbers."""
    path = str(shared(f"traces/{name}"))
    found = fg.hotness(path, gb="10MB")
    writes = lay_out(read_trace(path), "span").frame.filter(pl.col("op") == 1)
    sequences, filled = [0], 0
    for length in writes["length"]:
        filled += length
        sequences.append(sequences[-1] + (filled >= 10_000_000))
        filled = 0 if filled >= 10_000_000 else filled
    first = pl.col("offset") // PAGE
    end = (pl.col("offset") + pl.col("length") + PAGE - 1) // PAGE
    numbers = pl.Series("sequence", sequences[:-1])
    pages = writes.select(numbers, page=pl.int_ranges(first, end))
    counts = pages.explode("page").group_by("sequence", "page").len()
    whole = counts.filter(pl.col("sequence") < found.sequences)
    hot = whole.filter(pl.col("len") >= 4)
    cold = whole.filter(pl.col("len") < 4)
    assert sum(one.hot_pages for one in found.each) == hot.height
    assert sum(one.cold_pages for one in found.each) == cold.height
    assert sum(one.hot_writes for one in found.each) == hot["len"].sum()
    assert sum(one.cold_writes for one in found.each) == cold["len"].sum()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"gb": "1 gigabyte"}, "gb: '1 gigabyte' given; expected bytes, or a size such as \"1GB\""),
        ({"gb": 0}, "gb: 0 given"),
        ({"hot_from": 0}, "hot_from: 0 given; expected at least 1 write"),
        ({"rounding": "up"}, "rounding: 'up' given; expected cover or truncate"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(_core.ConfigError, match=re.escape(expected)):
        fg.hotness(MIXED, **options)


def test_pass_reports_progress_and_is_cancelled() -> None:
    told: list[tuple[str, int, int]] = []
    fg.hotness(MIXED, progress=lambda *at: told.append(at))
    assert told[0] == ("read", 0, 0) and told[-1] == ("hotness", 6000, 6000)
    control = _core.Control()
    workload = _core.Workload.generator("uniform:span=1GiB,writes=10G", 1)
    timer = threading.Timer(0.2, control.cancel)
    timer.start()
    with pytest.raises(_core.Cancelled):
        options = {"gb_bytes": 10**9, "hot_from": 4, "rounding": "cover", "partial": False}
        _core.hotness(workload, **options, control=control)
    timer.join()


def test_page_and_pictures_need_no_network(tmp_path: Path) -> None:
    found = fg.hotness(MIXED, gb="4MB")
    page, *pictures = write_hotness(found, tmp_path)
    text = page.read_text("utf-8")
    assert not re.search(r"""(src|href)=["']https?:""", text)
    payload = re.search(r'id="payload">(.*?)</script>', text, re.DOTALL)
    plots = {"hot-extents-0", "hot-extents-1", "skew-0", "overwrite-distance-0", "sequential-0"}
    assert payload and plots <= json.loads(payload[1])["plots"].keys()
    assert [path.stem for path in pictures] == [
        "hot-extents",
        "skew",
        "overwrite-distance",
        "sequential",
    ]
    assert all(path.read_text("utf-8").startswith("<svg") for path in pictures)
    assert len(hot_tables.sequences_table(found).rows) == found.sequences


@pytest.mark.parametrize("kind", ["reads=1", "trim=1"])
def test_figures_without_data_say_so(tmp_path: Path, kind: str) -> None:
    found = fg.hotness(f"uniform:span=1MiB,requests=50,{kind}")
    figures = {figure.key: figure for figure in hotness_figures(found)}
    assert "no writes" in figures["skew"].reasons[0]
    sequential = figures["sequential"]
    assert not sequential.drawings
    assert (sequential.reasons == ["No request is sequential."]) == (kind == "reads=1")
    assert "hotness.html" in [path.name for path in write_hotness(found, tmp_path)]


def test_command_prints_and_writes(cli, tmp_path: Path) -> None:
    done = cli("trace", "info", MIXED, "--hotness", "--gb", "4MB").ok()
    for text in ("Hot pages", "none merged", "Gini", "overwrites", "Continuing", "are left out"):
        assert text in " ".join(done.stdout.split())
    call = ("trace", "info", MIXED, "--hotness", "--gb", "4000000", "--partial", "--json")
    document = cli(*call, "--out", "o", "--map-curve").document()
    assert document["hotness"] == fg.hotness(MIXED, gb="4MB", partial=True).to_dict()
    assert {"map-curve.html", "hotness.html"} <= {file.name for file in (tmp_path / "o").iterdir()}


def test_a_stand_in_says_so(cli, tmp_path: Path) -> None:
    spec = "fitted:row=src2_0,writes=200"
    name = f"{spec} (stand-in for src2_0)"
    assert fg.run(spec).workload.name == name
    assert cli("trace", "generate", spec, "-o", "x.parquet").returncode == 0
    info = json.loads(cli("trace", "info", "x.parquet", "--json").stdout)
    assert any(name in note for note in info["notes"])
    assert name in cli("trace", "info", spec).stdout


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    found = fg.hotness(MIXED, gb="4MB")
    page, *_ = write_hotness(found, tmp_path)
    plots = ("hot-extents-0", "hot-extents-1", "skew-0", "overwrite-distance-0")
    check_drawn(browser, page, dict.fromkeys(plots, 4))
