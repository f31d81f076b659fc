"""`advise`: answers a storage engineer's questions about a trace, one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from floatgate.analysis import hotness, map_curve
from floatgate.analysis.map_curve import curve_of
from floatgate.simulation import configs, recorded, sources
from floatgate.simulation.configs import Device
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress
from floatgate.traces import read_trace, trace_info
from floatgate.traces.model import Trace

from . import answers, excerpts
from .answers import QUESTIONS, Worn
from .calls import Calls
from .lines import Advice, Line, unknown
from .sampled import PAGE, Requests, Steady, requests_of, steady_states
from .streams import ONE, known_streams, named

SPARES = (0.07, 0.15, 0.28)
"""Spare factors of the steady states."""

ENDS = (SPARES[0], SPARES[-1])
"""Spare factors at which lifetimes are estimated, in addition to each drive's own."""

NEAR = 0.005
"""Spare factors that differ by less count as one."""

APART = 0.15
"""Spare factor at which separation schemes are compared."""

DEVICE = "tlc-enterprise"
"""Drive that supplies times and endurance."""

WORN = (DEVICE, "qlc-capacity")
"""Drives whose lifetime is estimated."""

SOLD = {DEVICE: 1.92e12, "qlc-capacity": 15.36e12, "tlc-client": 500e9}
"""Capacity in bytes of the drives on sale that a preset stands for, from the preset's summary. The
preset itself is as large as its workload.
"""

HEURISTICS = (
    {"placement.scheme": "dac"},
    {"placement.scheme": "dac", "cleaning.victim": "cat"},
    {"placement.scheme": "sepbit"},
    {"placement.scheme": "sepbit", "cleaning.victim": "cost_benefit"},
)
"""Separation schemes without a size in pages,
so that they act alike on a sample and on the whole drive.
"""

MIXED = {"start.fill": "random"}
"""Start state in which pages that the trace never writes share erase units with the others."""

UNWRITTEN = 0.05
"""If the trace never writes at least this share of the pages, both start states are simulated."""

ORACLES = (
    {"placement.scheme": "oracle"},
    {"placement.scheme": "oracle", "cleaning.victim": "cat"},
)
"""Placements that know the future. The best victim policy for them depends on the workload."""

NEXT = {
    "the trace has no writes": "A trace of the same host that has its writes, too.",
    "too small": "A trace of more data; a longer one, if it touches more (see trace info).",
    "too short": "A longer trace, which writes several times its span (see trace info).",
}
"""Next measurement, by the reason that a steady state is not known."""


def advise(
    trace: Any,
    *,
    device: Device = DEVICE,
    seed: int = 1,
    format: str | None = None,
    close_gaps: str | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Answers seven questions about the demands of a trace on a drive, each with its confidence.

    The questions are:

    - footprint and skew;
    - steady write amplification at 7, 15 and 28 % spare;
    - the gain from separating hot from cold data;
    - memory of the map;
    - lifetime on drives of TLC and QLC;
    - p99 on `device` with the trace's own timing;
    - streams that the host could name.

    Steady states are simulated on samples of the pages, without time. If the trace does not allow
    an answer, its line gives the reason instead of a number. Each line names the next measurement.

    `trace`, `device`, `format`, `close_gaps` and `limit` are as for `run`. Raises ConfigError or
    TraceError (both ValueError) for a wrong argument or trace, and RunError if a run fails.
    """
    how = RunOptions(seed=seed, format=format, close_gaps=close_gaps, limit=limit)
    configs.resolve(device, {})
    if progress is not None:
        progress("read", 0, 0)
    source, read = _read(trace, how)
    info = trace_info(read)
    hot = hotness.hotness_of(source, hotness.parse_options(), progress)
    curve = curve_of(source, PAGE, None, progress)
    whole = requests_of(read)
    calls = Calls.of(trace, how)
    asked = _Asked(read, whole, seed, calls, progress)
    lines = (
        answers.footprint(info, hot, whole),
        *asked.steady(),
        answers.map_memory(curve),
        asked.life(device, info["duration_s"]),
        excerpts.latency(read, device, info["duration_s"], seed, calls, progress),
        asked.streams(),
    )
    ordered = sorted(lines, key=lambda line: [*QUESTIONS].index(line.key))
    return Advice(
        read.name,
        configs.name(device),
        info["requests"],
        info["duration_s"],
        whole.pages * PAGE,
        whole.every,
        seed,
        tuple(ordered),
        tuple(recorded.notes_of(read)),
    )


def _read(trace: Any, how: RunOptions) -> tuple[sources.Source, Trace]:
    """Returns the requests, in memory, and a source of the same requests."""
    if sources.is_made(trace, how.format):
        opened = sources.open_source(trace, how)
        source, read = map_curve.read_source(str(trace), seed=how.seed, format=how.format)
        if how.limit is not None:
            read = recorded.first_requests(read, how.limit)
            return opened, read
        return source, read
    if isinstance(trace, Trace):
        read = sources.open_source(trace, how).held or trace
    else:
        read = read_trace(trace, format=how.format, close_gaps=how.close_gaps, limit=how.limit)
    return sources.Source(read.name, RunOptions(seed=how.seed), None, read), read


@dataclasses.dataclass
class _Asked:
    """Questions whose answers are steady states."""

    trace: Trace
    whole: Requests
    seed: int
    calls: Calls
    progress: Progress | None
    plain: Steady | None = None
    """One stream at the spare factor `APART`."""
    states: list[Steady] = dataclasses.field(default_factory=list)
    """One stream at the spare factors `SPARES`."""
    mixed: list[Steady] = dataclasses.field(default_factory=list)
    """`states` after a random fill; empty if the trace writes nearly all pages."""

    def steady(self) -> list[Line]:
        """Answers the questions on cleaning and on separation."""
        if reason := self.whole.missing:
            keys = ("amplification", "separation")
            return [_unknown(key, reason) for key in keys]
        self.states = self._states(SPARES)
        if self.whole.unwritten > UNWRITTEN:
            self.mixed = self._states(SPARES, (MIXED,))
        self.plain = next(state for state in self.states if state.spare_factor == APART)
        found = self._states([APART], (*HEURISTICS, *ORACLES))
        tried, oracles = found[: len(HEURISTICS)], found[len(HEURISTICS) :]
        bound = min(oracles, key=lambda state: state.write_amplification)
        named = [(_name(one), state) for one, state in zip(HEURISTICS, tried, strict=True)]
        return [
            answers.amplification(self.whole, self.states, self.mixed, self.calls),
            answers.separation(self.whole, self.plain, named, bound, self.calls),
        ]

    def life(self, device: Device, duration_s: float) -> Line:
        """Answers the question on the lifetime of the drives."""
        if reason := self.whole.missing:
            return _unknown("life", reason)
        found, refused = [], []
        for one in dict.fromkeys((configs.name(device), *WORN)):
            config = configs.resolve(device if one == configs.name(device) else one, {})
            page, flash = config.page_bytes, config.table()["flash"]
            whole = self.whole if page == PAGE else requests_of(self.trace, page)
            if (reason := whole.missing) is not None:
                refused.append(f"{one}: {reason}")
                continue
            state, *others = self._worn(whole, config.spare_factor)
            own = SOLD.get(one) if flash.get("blocks") is None else configs.capacity(config)
            found.append(Worn(one, flash["endurance"], own, whole, state, others))
        if not found:
            first, *more = refused
            return dataclasses.replace(_unknown("life", first), doubts=(*more,))
        doubts = [*refused, *answers.shortened(self.states, self.mixed)]
        return answers.life(found, duration_s, doubts)

    def _worn(self, whole: Requests, spare: float) -> list[Steady]:
        """Returns steady states at a drive's own spare factor, and at both `ENDS`."""
        spares = [spare, *(one for one in ENDS if abs(one - spare) > NEAR)]
        known = {state.spare_factor: state for state in self.states} if whole is self.whole else {}
        missing = [one for one in spares if one not in known]
        states = steady_states(whole, missing, seed=self.seed, progress=self.progress)
        known |= {state.spare_factor: state for state in states}
        return [known[one] for one in spares]

    def streams(self) -> Line:
        """Answers the question on streams by device or by write size."""
        if self.plain is None:
            assert self.whole.missing is not None, "steady() comes first"
            return _unknown("streams", self.whole.missing)
        ways, refused = known_streams(self.whole)
        found = []
        for way in ways:
            (state,) = steady_states(
                self.whole,
                [APART],
                arrange=lambda small, way=way: named(small, way),  # type: ignore[misc]
                seed=self.seed,
                progress=self.progress,
            )
            found.append((way, state))
        apart = self._states([APART], [ONE])[0] if found else self.plain
        return answers.streams(self.whole, (self.plain, apart), found, refused)

    def _states(self, spares: Any, policies: Any = ({},)) -> list[Steady]:
        return steady_states(self.whole, spares, policies, seed=self.seed, progress=self.progress)


def _unknown(key: str, reason: str) -> Line:
    """Returns a line without an answer, for a reason from `Requests.missing`."""
    after = next(text for said, text in NEXT.items() if said in reason)
    return unknown(key, QUESTIONS[key], reason, after)


def _name(policy: Mapping[str, str]) -> str:
    return " with ".join(policy.values())
