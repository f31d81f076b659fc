"""Generators without times: their arrivals are closed, whatever the options."""

from __future__ import annotations

from functools import partial

import pytest

import floatgate as fg
from floatgate.simulation import recorded
from floatgate.traces.read import trace_of
from floatgate.traces.stream import Room


@pytest.mark.parametrize("most", [1 << 23, 100], ids=["in memory", "in batches"])
def test_a_generator_without_times_has_none_whatever_the_options(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """With all requests at time 0, latencies would describe a backlog."""
    room = Room(requests=most)
    monkeypatch.setattr(recorded, "trace_of", partial(trace_of, room=room))
    spec = "uniform:span=16MiB,writes={}"
    whole = fg.run(spec.format(2000))
    for played in (
        fg.run(spec.format(2001), limit=2000),
        fg.run(spec.format(1000), limit=1000, repeat=2),
        fg.run(spec.format(2000), addresses="modulo", set={"flash.blocks": 40}),
    ):
        assert played.workload.requests == 2000
        assert played.latency.all.mean_us < 2 * whole.latency.all.mean_us
        assert not any("keep up" in text for text in played.warnings)
    assert fg.run(spec.format(2001), limit=2000).latency == whole.latency
    with pytest.raises(fg.ConfigError, match=r"time_scale: 2.0 given, but .* has no times to"):
        fg.run(spec.format(2000), time_scale=2.0)
