"""The main job on real input: trace in, drive simulated, plausible result out."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import Seen
from paths import SHARED

import floatgate as fg
from floatgate import models

TRACES = SHARED / "traces"
ROCKSDB = TRACES / "capture-rocksdb-ext4-905k.csv.zst"
PGBENCH = TRACES / "capture-pgbench-ext4-656k.csv.zst"
FINANCIAL = TRACES / "umass-financial1-10k.ascii.zst"
MSR = TRACES / "msr-sample-rw20-80-10k.trace.zst"

real = pytest.mark.skipif(not TRACES.is_dir(), reason=f"no traces at {TRACES}")


def document(cli: Any, *arguments: object) -> dict[str, Any]:
    """Returns the document that `--json` prints, without its `engine` section, which contains the
    elapsed time."""
    result = cli(*arguments, "--json").document()
    del result["engine"]
    return result


@real
@pytest.mark.parametrize(
    "arguments",
    [
        (ROCKSDB, "--device", "small-nvme", "--set", "capacity.spare_factor=0.07"),
        (PGBENCH, "--device", "classic", "--set", "start.fill=random"),
    ],
    ids=["rocksdb", "pgbench"],
)
def test_a_capture_reaches_a_steady_state_without_a_warning(cli: Any, arguments: Any) -> None:
    result = document(cli, "run", *arguments)
    assert result["write_amplification"] > 1
    assert [text for text in result["warnings"] if "does not keep up" not in text] == []
    assert document(cli, "run", *arguments) == result


@real
def test_more_map_in_memory_is_faster(cli: Any, browser: Any, tmp_path: Path) -> None:
    caches = ["16KiB", "64KiB", "256KiB"]
    cli(
        *("compare", FINANCIAL, MSR, "--device", "dftl09", "--repeat", 5),
        *("--vary", "mapping.scheme=none,dftl,ideal"),
        *("--vary", f"mapping.cache={','.join(caches)}"),
        *("--out", "out"),
    ).ok()
    results = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["results"]
    for trace in (FINANCIAL.name, MSR.name):
        for cache in caches:
            rows = {
                r["config"]["mapping"]["scheme"]: (
                    r["mapping"]["hit_ratio"],
                    -r["latency"]["all"]["mean_us"],
                )
                for r in results
                if r["workload"]["name"] == trace and r["config"]["mapping"]["cache"] == cache
            }
            for worse, better in pairwise(["none", "dftl", "ideal"]):
                assert rows[worse] <= rows[better], f"{trace}, {cache}: {worse} against {better}"
                assert rows[worse][1] <= rows[better][1], f"{trace}, {cache}: response times"
    with Seen(browser, tmp_path / "out" / "report.html") as seen:
        plots = seen.page.locator(".plot")
        assert plots.count() >= 5
        for n in range(plots.count()):
            marks = plots.nth(n).locator("svg .mark-rect path, svg .mark-line path")
            assert marks.count() > 0, plots.nth(n).get_attribute("aria-label")
        assert seen.complaints == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in seen.requests)


@real
@pytest.mark.parametrize("scheme", ["ideal", "none", "dftl"])
@pytest.mark.parametrize("victim", ["greedy", "fifo"])
def test_every_operation_of_a_real_trace_is_verified(scheme: str, victim: str) -> None:
    options = {"mapping.scheme": scheme, "mapping.cache": "4KiB", "cleaning.victim": victim}
    verified, plain = (
        fg.run(FINANCIAL, device="classic", set=options, repeat=4, verify=verify).flash
        for verify in (True, False)
    )
    assert verified == plain and verified.erases.gc > 0


@pytest.mark.parametrize("spare_factor", [0.07, 0.10, 0.20])
@pytest.mark.parametrize("pages", [64, 128])
def test_uniform_writes_meet_the_closed_forms(spare_factor: float, pages: int) -> None:
    predicted = {
        "greedy": models.greedy(1 / (1 - spare_factor), pages).write_amplification,
        "fifo": models.fifo(1 / (1 - spare_factor)),
    }
    span = 2500 * pages * 4096
    for victim, expected in predicted.items():
        result = fg.run(
            f"uniform:span={span},writes={5 * span // 4096}",
            device="classic",
            set={
                "flash.pages_per_block": pages,
                "capacity.spare_factor": spare_factor,
                "cleaning.victim": victim,
                "start.fill": "steady",
            },
        )
        assert result.write_amplification == pytest.approx(expected, rel=0.01), victim
        assert not result.warnings


@real
def test_time_scale_relieves_a_drive_that_does_not_keep_up() -> None:
    fast = fg.run(PGBENCH, device="classic", limit=50_000)
    slow = fg.run(PGBENCH, device="classic", limit=50_000, time_scale=100)
    assert any("does not keep up" in text for text in fast.warnings)
    assert not any("does not keep up" in text for text in slow.warnings)
    assert slow.latency.all.mean_us < fast.latency.all.mean_us
    assert slow.write_amplification == fast.write_amplification
