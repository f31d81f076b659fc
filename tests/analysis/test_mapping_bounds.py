"""Mapping caches on real traces: no scheme beats the bound, and one pass predicts single runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import ROOT

import floatgate as fg
from floatgate.traces import lay_out, read_trace, trace_info

SHARED = ROOT.parent / "shared" / "traces"
TRACES = sorted(SHARED.glob("*.zst"))
REQUESTS = 20_000
DEMAND_ONLY = {
    "dftl, slru": {"mapping.scheme": "dftl", "dftl.replacement": "slru"},
    "dftl, lru": {"mapping.scheme": "dftl", "dftl.replacement": "lru"},
    "dftl, flashsim": {"mapping.scheme": "dftl", "dftl.replacement": "flashsim"},
    "none": {"mapping.scheme": "none"},
}

if not TRACES:
    pytest.skip(f"no traces at {SHARED}", allow_module_level=True)


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
    trace = SHARED / "umass-financial1-10k.ascii.zst"
    assert trace_info(read_trace(trace))["trims"] == 0
    assert hit_ratio(trace, {"mapping.scheme": "belady"}, 64 << 20) == 1.0
    assert hit_ratio(trace, {"mapping.scheme": "ideal"}, 64 << 20) == 1.0


@pytest.mark.parametrize(
    "scheme", ["dftl", "tlllp", "tpftl", "sftl", "cdftl", "page_cache", "belady"]
)
@pytest.mark.parametrize("cache", ["8KiB", "32KiB"])
def test_every_scheme_is_verified_within_its_budget(scheme: str, cache: str) -> None:
    trace = SHARED / "umass-financial1-10k.ascii.zst"
    options = {"mapping.scheme": scheme, "mapping.cache": cache}
    result = fg.run(trace, device="classic", set=options, repeat=3, verify=True)
    assert result.flash.erases.gc > 0
    assert result.mapping.cache_bytes is not None
    assert 0 < result.mapping.cache_bytes <= int(cache.removesuffix("KiB")) * 1024
