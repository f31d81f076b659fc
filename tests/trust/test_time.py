"""The comparison with MQSim in docs/time.md, on the trace that MQSim ships."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

import floatgate as fg

TRACE = ROOT.parent / "shared" / "traces" / "umass-websearch-25k.trace.zst"

DRIVE = {
    **{"flash.channels": 8, "flash.dies": 8, "flash.planes": 2, "flash.superblock": 128},
    **{"flash.page": "8KiB", "flash.pages_per_block": 256, "flash.bus": "333MB/s"},
    **{"flash.read": "75us", "flash.program": "750us", "start.fill": "sequential"},
}
"""The drive of MQSim's paper: 8 channels x 4 chips x 2 dies x 2 planes."""


@pytest.mark.skipif(not TRACE.exists(), reason="the shared traces are absent")
@pytest.mark.parametrize(
    "stripe", [None, "plane_channel_die", "channel_die_plane", "plane_die_channel"]
)
def test_reads_of_mqsims_trace_take_what_is_said(stripe: str | None) -> None:
    sets = DRIVE if stripe is None else DRIVE | {"flash.stripe": stripe}
    mean = fg.run(str(TRACE), device="classic", set=sets, repeat=30).latency.read.mean_us
    assert mean is not None
    text = (ROOT / "docs" / "time.md").read_text()
    row = stripe or r"plane_channel_die \(default\)"
    said = re.search(rf"{row}[^|]*\| ([0-9.]+) \|", text)
    assert said is not None and abs(mean - float(said[1])) < 0.1, mean
    if stripe is None:
        assert 100 <= mean <= 114, "MQSim has 107"
