"""The SLC cache as a user sees it: the cliff of docs/drives.md, its picture, and the preset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli
from paths import ROOT

import floatgate

DEVICE = "tlc-client"
WRITES = "sequential:span=5GiB,size=128KiB,writes=40Ki"
DRIVE = {"start.fill": "none", "flash.blocks": 4096, "flash.pages_per_block": 96}
CACHES: dict[str, dict[str, Any]] = {
    "none": {"slc.dynamic": "0B"},
    "`direct`": {"slc.dynamic": "2GiB"},
    "`fold`": {"slc.dynamic": "2GiB", "slc.when_full": "fold"},
}
GIB = 2**30 // 4096
PARTS = ((0.0, 1.5), (2.1, 2.3), (4.0, 5.0))
"""Intervals of the data written, in GiB: into the cache, past the cache, and with few free
units."""


def _rate(timeline: pl.DataFrame, part: tuple[float, float]) -> float:
    """Returns MB/s over the timeline windows within an interval of the data written."""
    ends = timeline.with_columns(begun=pl.col("host_pages").shift(1, fill_value=0))
    first, last = (gib * GIB for gib in part)
    rows = ends.filter((pl.col("begun") >= first) & (pl.col("host_pages") <= last))
    pages = rows["host_pages"] - rows["begun"]
    seconds = pages * 4096 / 1e6 / rows["write_mb_s"]
    return float(pages.sum() * 4096 / 1e6 / seconds.sum())


def _run(cache: str) -> floatgate.Result:
    return floatgate.run(WRITES, device=DEVICE, set=DRIVE | CACHES[cache])


@pytest.mark.parametrize("cache", CACHES)
def test_the_cliff_is_as_the_page_says(cache: str) -> None:
    result = _run(cache)
    found = [_rate(result.timeline, part) for part in PARTS]
    text = (ROOT / "docs/drives.md").read_text("utf-8")
    row = re.search(rf"^\| {re.escape(cache)} \|(.*)\|$", text, re.MULTILINE)
    assert row, "a row of the table"
    *rates, amplification = (float(cell.replace(",", "")) for cell in row[1].split("|"))
    assert rates == pytest.approx(found, rel=0.01)
    assert amplification == pytest.approx(result.write_amplification, abs=0.001)
    if cache != "none":
        into, past, short = found
        assert into > 2.5 * past > 2.5 * short, "that is a cliff"


def test_the_summary_tells_the_cache_from_streams(cli: Cli) -> None:
    """Nothing is sorted by heat: there is one stream, and the cache."""
    settings = [word for key in DRIVE for word in ("--set", f"{key}={DRIVE[key]}")]
    text = cli("run", WRITES, "--device", DEVICE, *settings, "-q").ok().stdout
    result = _run("`direct`").slc
    share = 100 * result.cached_pages / (result.cached_pages + result.direct_pages)
    shown = re.search(r"SLC cache\s+(\S+)\s%\sof the host's pages went into it", text)
    assert shown and float(shown[1]) == pytest.approx(share, abs=0.01)
    assert "cold to hot" not in text and "sorted with" not in text


def test_the_cliff_is_in_the_report(tmp_path: Path) -> None:
    from floatgate.report import over_time
    from floatgate.report.runs import label_runs

    results = [_run(cache) for cache in CACHES]
    (state, *_) = over_time.over_time(label_runs(results), ("ms", 1e3))
    (drawing,) = (one for one in state.drawings if one.heading.startswith("Writes, MB/s"))
    (rows,) = drawing.chart.to_dict()["datasets"].values()
    drawn = pl.DataFrame(rows) if isinstance(rows, list) else pl.read_json(rows.encode())
    assert len(drawn["run"].unique()) == 3
    most = drawn.group_by("run").agg(pl.col("write_mb_s").max())["write_mb_s"].sort()
    assert most[0] < 1100 and most[1] > 2400
