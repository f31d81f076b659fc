"""The curve of the mapping cache, compared with runs and its own samples, and bounds of caches."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import Seen, check_drawn
from paths import SHARED, shared

import floatgate as fg
from floatgate import _core
from floatgate.analysis import curve_tables, map_curve
from floatgate.report import write_map_curve
from floatgate.simulation import sources
from floatgate.simulation.options import RunOptions
from floatgate.traces import TraceError, lay_out, read_trace, trace_info

REAL = ["umass-financial1-10k.ascii.zst", "msr-sample-rw20-80-10k.trace.zst"]
MIXED = "zipf:span=16MiB,requests=20k,size=6KiB,aligned=false,reads=0.5"


def _hit_ratio(document: dict[str, Any], entries: int) -> float:
    (found,) = [point for point in document["points"] if point["entries"] == entries]
    return found["hit_ratio"]


def _assert_equals_runs(trace: str) -> None:
    """Compares five sizes. Both ratios divide the same whole numbers, so they are equal to the
    bit."""
    document = map_curve.map_curve(trace, sample="exact")
    assert document["trims_ignored"] == 0
    # The largest size exceeds the number of pages, so the curve's last point applies.
    pages = document["distinct_pages"]
    for entries in (1, 16, 256, 1024, 1 << 20):
        settings = {
            "flash.page": "4KiB",
            "mapping.scheme": "dftl",
            "mapping.cache": 8 * entries,
            "dftl.replacement": "lru",
            "dftl.entry_bytes": 8,
            "start.fill": "none",
        }
        mapping = fg.run(trace, set=settings).to_dict()["mapping"]
        assert mapping["hits"] + mapping["misses"] == document["accesses"]
        ratio = _hit_ratio(document, min(entries, pages))
        assert round(ratio * document["accesses"]) == mapping["hits"], entries
        assert ratio == mapping["hit_ratio"]


@pytest.mark.parametrize("name", REAL)
def test_curve_equals_runs_on_real_traces(name: str) -> None:
    _assert_equals_runs(str(shared(f"traces/{name}")))


def test_curve_equals_runs_on_a_generator() -> None:
    _assert_equals_runs(MIXED)


def test_trims_are_left_out_and_said(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "at_ns": [0, 1, 2, 3],
            "op": [1, 2, 1, 0],
            "offset": [0, 0, 4096, 0],
            "length": [4096, 4096, 4096, 4096],
        },
        schema={"at_ns": pl.UInt64, "op": pl.UInt8, "offset": pl.UInt64, "length": pl.UInt64},
    )
    document = map_curve.map_curve(frame)
    assert (document["accesses"], document["trims_ignored"]) == (3, 1)
    assert [point["hit_ratio"] for point in document["points"]] == [0, 1 / 3]
    assert any("leaves out 1 trim" in note for note in document["notes"])


@pytest.mark.parametrize(
    ("trace", "rate"),
    [
        ("zipf:span=1GiB,requests=500k", 0.05),
        ("uniform:span=512MiB,requests=500k", 0.05),
        ("hotcold:span=512MiB,r=0.9,f=0.1,requests=500k", 0.05),
        ("cloudphysics-114k.vscsi.zst", 0.05),
        ("umass-websearch-25k.trace.zst", 0.05),
        ("capture-pgbench-ext4-656k.csv.zst", 0.02),
    ],
)
def test_sample_is_within_its_stated_error(trace: str, rate: float) -> None:
    source = str(shared(f"traces/{trace}")) if trace.endswith(".zst") else trace
    sampled = map_curve.map_curve(source, sample=rate)
    exact = map_curve.map_curve(source, sample="exact")
    sizes = [point["entries"] for point in exact["points"]]
    ratios = [point["hit_ratio"] for point in exact["points"]]
    errors = []
    for point in sampled["points"]:
        # The size lies between two exact points. Beyond the last point, the cache contains every
        # entry.
        low = max(i for i, entries in enumerate(sizes) if entries <= point["entries"])
        high = min(low + 1, len(sizes) - 1)
        errors.append(max(0, ratios[low] - point["hit_ratio"], point["hit_ratio"] - ratios[high]))
    error = sum(errors) / len(errors)
    print(f"{error:.4f} stated {sampled['expected_error']:.4f}")
    assert error <= sampled["expected_error"] < 0.15
    assert exact["expected_error"] == 0 and exact["sample"] is None


def test_sample_is_chosen_by_size() -> None:
    def curve(trace: Any) -> dict[str, Any]:
        source = sources.open_source(trace, RunOptions())
        return map_curve.curve_of(source, 4096, None, None, exact=100_000)

    assert map_curve.map_curve("uniform:span=1GiB,requests=300k")["sample"] is None
    document = curve("uniform:span=1GiB,requests=300k")
    assert document["sample"]["rate"] == pytest.approx(16_384 / 262_144)
    assert any(note.startswith("sampled") for note in document["notes"])
    assert curve("uniform:span=64MiB,requests=300k")["sample"] is None, "few pages"
    table = pl.DataFrame(
        _core.Workload.generator("uniform:span=1GiB,requests=200k", 1).batches(1 << 20).__next__()
    )
    assert curve(table)["sample"] is not None


def test_points_and_needs_have_their_shape() -> None:
    document = map_curve.map_curve(MIXED, page="512B")
    points = document["points"]
    assert document["page_bytes"] == 512 and len(points) <= 200
    assert all(point["bytes"] == 8 * point["entries"] for point in points)
    ratios = [point["hit_ratio"] for point in points]
    assert ratios == sorted(ratios) and ratios[-1] == document["hit_ratio_max"]
    assert [row["percent"] for row in document["needed"]] == [50, 80, 90, 95, 99]
    for row in document["needed"]:
        assert row["hit_ratio"] * 100 >= document["hit_ratio_max"] * row["percent"] - 1e-9
    first = map_curve.map_curve(MIXED, limit=1000)
    assert first["accesses"] < document["accesses"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"page": "3KiB"}, "page: '3KiB' given; expected a power of two"),
        ({"page": 256}, "page: 256 given"),
        ({"sample": 2}, "sample: 2 given; expected exact or a rate above 0"),
        ({"sample": "half"}, "sample: 'half' given"),
        ({"addresses": "modulo"}, "addresses: 'modulo' given"),
        ({"sample": 0.001}, "pages were in the sample: expected at least 100"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], expected: str) -> None:
    with pytest.raises((_core.ConfigError, TraceError), match=re.escape(expected)):
        map_curve.map_curve(MIXED, **options)


def test_pass_reports_progress_and_is_cancelled() -> None:
    told: list[tuple[str, int, int]] = []
    map_curve.map_curve(MIXED, progress=lambda *at: told.append(at))
    assert told[0] == ("read", 0, 0) and told[-1] == ("curve", 20_000, 20_000)
    control = _core.Control()
    workload = _core.Workload.generator("uniform:span=64GiB,writes=10G", 1)
    timer = threading.Timer(0.2, control.cancel)
    timer.start()
    with pytest.raises(_core.Cancelled):
        _core.map_curve(workload, page_bytes=4096, sample=0.01, control=control)
    timer.join()


def test_interrupt_ends_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(phase: str, done: int, total: int) -> None:
        if phase == "curve":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_curve.map_curve("uniform:span=4GiB,writes=10G", sample=0.01, progress=interrupted)


def test_tables_say_what_a_sample_cannot_tell() -> None:
    document = map_curve.map_curve("zipf:span=1GiB,theta=1.5,requests=1M", sample=0.05)
    first = curve_tables.needed_table(document).rows[0]
    assert first[1].text.startswith("≤ ")
    assert "19 of 20" in curve_tables.source_words(document)
    short = curve_tables.sizes_table(document, short=True)
    assert len(short.rows) <= curve_tables.SIZES
    assert short.rows[-1][1].order == document["points"][-1]["entries"]


@pytest.mark.parametrize(
    ("trace", "sample"),
    [(MIXED, None), ("zipf:span=1GiB,requests=500k", 0.05), ("uniform:span=4KiB,reads=0.5", None)],
)
def test_page_and_picture_need_no_network(tmp_path: Path, trace: str, sample: Any) -> None:
    trace = trace if "requests" in trace else f"{trace},requests=100"
    document = map_curve.map_curve(trace, sample=sample)
    page, picture = write_map_curve(document, tmp_path)
    text = page.read_text("utf-8")
    assert not re.search(r"""(src|href)=["']https?:""", text)
    assert "Hit ratio by cache size" in text and document["name"] in text
    payload = re.search(r'id="payload">(.*?)</script>', text, re.DOTALL)
    assert payload and "map-curve-0" in json.loads(payload[1])["plots"]
    assert picture.read_text("utf-8").startswith("<svg")


def test_page_without_accesses_says_so(tmp_path: Path) -> None:
    document = map_curve.map_curve("uniform:span=1MiB,requests=10,trim=1")
    assert (document["points"], document["hit_ratio_max"]) == ([], None)
    (page,) = write_map_curve(document, tmp_path)
    assert "reads and writes nothing" in page.read_text("utf-8")


def test_command_prints_and_writes_the_curve(cli, tmp_path: Path) -> None:
    done = cli("trace", "info", MIXED, "--map-curve").ok()
    for text in ("map curve", "exact", "Hit ratio", "99 %", "generator"):
        assert text in done.stdout
    done = cli("trace", "info", MIXED, "--map-curve", "--page", "2KiB", "--json", "--out", "o").ok()
    curve = json.loads(done.stdout)["map_curve"]
    assert curve == map_curve.map_curve(MIXED, page=2048)
    assert sorted(file.name for file in (tmp_path / "o").iterdir()) == [
        "map-curve.html",
        "map-curve.svg",
    ]


TRACES = sorted(SHARED.glob("traces/*.zst"))
REQUESTS = 20_000
DEMAND_ONLY = {
    "dftl, slru": {"mapping.scheme": "dftl", "dftl.replacement": "slru"},
    "dftl, lru": {"mapping.scheme": "dftl", "dftl.replacement": "lru"},
    "dftl, flashsim": {"mapping.scheme": "dftl", "dftl.replacement": "flashsim"},
    "none": {"mapping.scheme": "none"},
}


def hit_ratio(
    trace: Path, options: dict[str, str], cache: int, limit: int | None = REQUESTS
) -> float:
    options = {**options, "mapping.cache": f"{cache}B"}
    ratio = fg.run(trace, device="classic", set=options, limit=limit).mapping.hit_ratio
    assert ratio is not None
    return ratio


def check_bound(trace: Path, limit: int | None) -> None:
    layout = lay_out(read_trace(trace, limit=limit))
    whole = 8 * (layout.span_bytes // 4096 + 1)
    for cache in (max(whole // 256, 64), max(whole // 16, 64)):
        bound = hit_ratio(trace, {"mapping.scheme": "belady"}, cache, limit)
        for name, options in DEMAND_ONLY.items():
            assert hit_ratio(trace, options, cache, limit) <= bound, f"{name}, {cache} bytes"


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name)
def test_no_demand_cache_beats_the_bound(trace: Path) -> None:
    check_bound(trace, REQUESTS)


@pytest.mark.long
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name)
def test_no_demand_cache_beats_the_bound_on_a_whole_trace(trace: Path) -> None:
    """Plays every request of every trace: at most a million, in under two minutes for the
    slowest."""
    check_bound(trace, None)


def test_the_bound_with_room_for_everything_is_ideal() -> None:
    trace = shared("traces/umass-financial1-10k.ascii.zst")
    assert trace_info(read_trace(trace))["trims"] == 0
    assert hit_ratio(trace, {"mapping.scheme": "belady"}, 64 << 20) == 1.0
    assert hit_ratio(trace, {"mapping.scheme": "ideal"}, 64 << 20) == 1.0


@pytest.mark.parametrize(
    "scheme", ["dftl", "tlllp", "tpftl", "sftl", "cdftl", "page_cache", "belady"]
)
@pytest.mark.parametrize("cache", ["8KiB", "32KiB"])
def test_every_scheme_is_verified_within_its_budget(scheme: str, cache: str) -> None:
    trace = shared("traces/umass-financial1-10k.ascii.zst")
    options = {"mapping.scheme": scheme, "mapping.cache": cache}
    result = fg.run(trace, device="classic", set=options, repeat=3, verify=True)
    assert result.flash.erases.gc > 0
    assert result.mapping.cache_bytes is not None
    assert 0 < result.mapping.cache_bytes <= int(cache.removesuffix("KiB")) * 1024


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    document = map_curve.map_curve("zipf:span=1GiB,requests=500k", sample=0.05)
    page, _ = write_map_curve(document, tmp_path)
    check_drawn(browser, page, {"map-curve-0": 4})
    with Seen(browser, page) as seen:
        assert "Hit ratio" in seen.tip_of(seen.page.locator("#map-curve-0 svg"))
