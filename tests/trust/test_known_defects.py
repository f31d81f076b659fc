"""Defects found in other SSD simulators: each test fails if Floatgate has the defect, too.
docs/testing.md lists them. And the comparison with MQSim in docs/time.md, on the trace that MQSim
ships."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paths import ROOT, shared

import floatgate as fg

UNIFORM = "uniform:span=16MiB,writes=8k"


def test_every_test_that_the_page_names_is_there() -> None:
    text = (ROOT / "docs" / "testing.md").read_text("utf-8")
    table = text.partition("## Defects of other simulators")[2]
    rows = re.findall(r"`(\w+)` \(`([\w./-]+)`\)", table)
    assert len(rows) == 8
    for name, file in rows:
        kind = "def" if file.endswith(".py") else "fn"
        assert f"{kind} {name}(" in (ROOT / file).read_text("utf-8"), name


def test_suspension_happens() -> None:
    """A read that suspends a program of 5 ms waits for only a fraction of it."""
    spec = "uniform:span=16MiB,requests=4k,reads=0.5,interarrival=20ms,arrivals=exponential"
    base = {"flash.program": "5ms", "schedule.order": "read_first", "capacity.spare_factor": 0.4}
    without = fg.run(spec, set=base)
    with_it = fg.run(spec, set={**base, "schedule.suspend": "10us"})
    before, after = without.latency.read.p99_us, with_it.latency.read.p99_us
    assert before is not None and after is not None
    assert before > 3000 and after < before / 4


def test_translation_pages_take_space() -> None:
    """With the map on flash, units that were enough for the data alone are too few."""
    small = {"flash.blocks": 260, "capacity.spare_factor": 0.02, "flash.pages_per_block": 64}
    spec = "uniform:span=60MiB,writes=1k"
    assert fg.run(spec, set=small).drive.translation_pages == 0
    on_flash = {**small, "mapping.scheme": "dftl", "mapping.cache": "1MiB"}
    with pytest.raises(fg.ConfigError, match="has no room to clean"):
        fg.run(spec, set={**on_flash, "mapping.entry_bytes": 64})
    room = fg.run(spec, set={**on_flash, "capacity.spare_factor": 0.07})
    assert room.drive.translation_pages >= 16


def test_a_seed_decides_everything() -> None:
    def run(seed: int) -> dict[str, object]:
        settings = {"cleaning.victim": "random", "start.fill": "random"}
        found = fg.run(UNIFORM, set=settings, seed=seed).to_dict()
        del found["engine"]
        return found

    assert run(1) == run(1)
    assert run(1)["flash"] != run(2)["flash"]


def test_erases_take_their_time() -> None:
    """On one die that serves one request at a time, each erase lengthens the run by the erase
    time."""
    settings = {"queue.depth": 1, "start.fill": "random"}
    free, slow = (
        fg.run(UNIFORM, set={**settings, "flash.erase": time}) for time in ("0ns", "10ms")
    )
    assert free.flash.erases == slow.flash.erases and slow.flash.erases.total > 50
    assert free.throughput.device_seconds is not None
    assert slow.throughput.device_seconds is not None
    longer = slow.throughput.device_seconds - free.throughput.device_seconds
    assert longer == pytest.approx(0.010 * slow.flash.erases.total, rel=0.02)


def test_an_empty_trace_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(fg.TraceError):
        fg.run(str(empty))
    empty.write_text("timestamp_us,op,offset_bytes,size_bytes\n")
    with pytest.raises(fg.TraceError):
        fg.run(str(empty))


def test_iops_are_those_served() -> None:
    """The load is 100,000 writes a second, on a drive that programs 5,000 pages a second."""
    spec = f"{UNIFORM},interarrival=10us"
    found = fg.run(spec, set={"flash.program": "200us", "start.fill": "none"})
    assert found.throughput.iops is not None and found.throughput.device_seconds is not None
    assert found.throughput.iops < 5001
    served = found.workload.requests / found.throughput.device_seconds
    assert found.throughput.iops == pytest.approx(served)


MQSIM = {
    **{"flash.channels": 8, "flash.dies": 8, "flash.planes": 2, "flash.superblock": 128},
    **{"flash.page": "8KiB", "flash.pages_per_block": 256, "flash.bus": "333MB/s"},
    **{"flash.read": "75us", "flash.program": "750us", "start.fill": "sequential"},
}
"""The drive of MQSim's paper: 8 channels x 4 chips x 2 dies x 2 planes."""


@pytest.mark.parametrize(
    "stripe", [None, "plane_channel_die", "channel_die_plane", "plane_die_channel"]
)
def test_reads_of_mqsims_trace_take_what_is_said(stripe: str | None) -> None:
    sets = MQSIM if stripe is None else MQSIM | {"flash.stripe": stripe}
    trace = shared("traces/umass-websearch-25k.trace.zst")
    mean = fg.run(trace, device="classic", set=sets, repeat=30).latency.read.mean_us
    assert mean is not None
    text = (ROOT / "docs" / "time.md").read_text()
    row = stripe or r"plane_channel_die \(default\)"
    said = re.search(rf"{row}[^|]*\| ([0-9.]+) \|", text)
    assert said is not None and abs(mean - float(said[1])) < 0.1, mean
    if stripe is None:
        assert 100 <= mean <= 114, "MQSim has 107"
