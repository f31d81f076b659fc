"""Map memory that a workload needs: the hit ratio of the mapping cache at every size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from floatgate import _core
from floatgate.simulation import recorded, sources
from floatgate.simulation.fio_jobs import is_job_file
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress, measure
from floatgate.traces import read_trace
from floatgate.traces.info import unique_pages
from floatgate.traces.model import WRITE, Trace

EXACT = "exact"

ACCESSES_EXACT = 5_000_000
"""Maximum number of page accesses for which the default examines all pages, in some seconds."""

RATE = 0.01
PAGES_SAMPLED = 16_384
"""Share of the pages to sample if no rate is given, and the minimum number of sampled pages."""

RATE_EXACT = 0.2
"""From this rate on, all pages are examined, because a sample would save little time."""

PAGE = 4096


def map_curve(
    trace: Any,
    *,
    page: int | str = PAGE,
    sample: float | str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Returns the hit ratio of an LRU cache of map entries for every cache size, from one pass.

    The accesses are the pages that reads and writes touch. Trims are left out. For a workload
    without trims, the hits equal those of a run with `mapping.scheme=dftl`, `dftl.replacement=lru`,
    `start.fill=none` and pages of the same size. An entry has 8 bytes.

    `trace` and the other options, except `verify`, are as for `floatgate.run`; `addresses` is
    "fold" or "span". `page` is bytes (512 or a larger power of two), or a text such as "4KiB".
    `sample` is the share of the pages to sample, above 0 and at most 1, or "exact" for all pages.
    By default, all pages are examined for up to 5 million accesses and for workloads with few
    pages; otherwise 1 % of the pages, or 16,384 if that is more. `progress` is called with the
    phases "read" and "curve".

    The document has the numbers of the curve, with all sizes in entries and in bytes:

        accesses, distinct_pages, trims_ignored, page_bytes, entry_bytes
        hit_ratio_max   share of accesses that are not the first to their page (or None)
        points          [{"entries", "bytes", "hit_ratio", "error"}] at some 200 sizes, all powers
                        of two among them; a sampled curve begins where an estimate is possible
        needed          as `points`, with "percent": the size for 50, 80, 90, 95 and 99 % of the
                        achievable hits
        sample          None, or {"rate", "pages", "accesses"}
        expected_error  0 if exact; else a bound that the mean absolute error of the points stays
                        below in 19 of 20 cases
        name, notes     name of the workload, and remarks on the curve

    Raises ConfigError or TraceError (both ValueError) for a wrong argument or trace.
    """
    how = RunOptions(**options)
    how.refuse(("verify", "start_cache", "units", "full_size"), "nothing is simulated")
    how.refuse_modulo()
    page_bytes = _page_bytes(page)
    rate = _rate(sample)
    if progress is not None:
        progress("read", 0, 0)
    source = sources.open_source(trace, how)
    return curve_of(source, page_bytes, rate, progress)


def curve_of(
    source: sources.Source,
    page_bytes: int,
    sample: float | str | None,
    progress: Progress | None,
    exact: int = ACCESSES_EXACT,
) -> dict[str, Any]:
    """Returns the document of `map_curve` for a source that is already open.

    Without a `sample`, all pages are examined for up to `exact` page accesses.
    """
    load = source.load(None)
    notes = list(load.notes)
    rate = None if sample == EXACT else sample
    if sample is None:
        rate = _automatic(source, load.workload, page_bytes, exact)
        if rate is not None:
            notes.append(
                f"sampled, as there are more than {exact:,} page accesses; "
                "--sample exact looks at all of them"
            )
    assert not isinstance(rate, str)
    asked = {"page_bytes": page_bytes, "sample": rate}
    document = measure(_core.map_curve, load.workload, progress, **asked)
    if trims := document["trims_ignored"]:
        notes.append(
            f"the curve leaves out {trims:,} trim{'s' if trims > 1 else ''}: which map entries "
            "they access depends on the cache"
        )
    return {"name": source.name, **document, "notes": notes}


def parse_options(page: str, sample: str | None) -> tuple[int, float | str | None]:
    """Returns the page size in bytes and the sample, from their texts on the command line."""
    return _page_bytes(page), _rate(sample)


def read_source(file: str, *, seed: int, **options: Any) -> tuple[sources.Source, Trace]:
    """Returns a trace file, a job file or a generator for `curve_of`, and its requests for
    `trace_info`.

    `options` are options of `read_trace` and apply to traces only.
    """
    format = options.get("format")
    how = RunOptions(seed=seed, format=format)
    if not sources.is_made(file, format):
        trace = read_trace(file, **options)
        return sources.Source(trace.name, how, None, trace), trace
    is_job = is_job_file(file, format)
    if is_job:
        options |= {"format": None}
    refuse_options(f"{file} is a {'job file' if is_job else 'generator'}", options)
    source = sources.open_source(file, how)
    load = source.load(None)
    frames = [pl.DataFrame(batch) for batch in load.workload.batches(recorded.BATCH)]
    trace = read_trace(pl.concat(frames))
    trace.name, trace.format = source.name, "generator" if source.jobs is None else "fio-jobs"
    trace.notes += [*load.notes, made_note(source, seed)]
    return source, trace


def refuse_options(why: str, options: Mapping[str, Any]) -> None:
    """Raises ConfigError for an option of traces, given for requests that are made on the fly."""
    for name, given in options.items():
        if given:
            raise _core.ConfigError(f"{name}: {given!r} given, but {why}")


def made_note(source: sources.Source, seed: int) -> str:
    """Returns a note on requests that were made on the fly."""
    if source.jobs is None:
        return f"generated with seed {seed}, unless its text has one"
    return f"made with seed {seed}; outstanding requests of the jobs take turns"


def _page_bytes(page: int | str) -> int:
    size = _core.size_bytes(str(page)) or 0
    if not (512 <= size < 1 << 40 and size.bit_count() == 1):
        raise _core.ConfigError(
            f'page: {page!r} given; expected a power of two of bytes from 512, such as "4KiB"'
        )
    return size


def _rate(sample: float | str | None) -> float | str | None:
    """Returns a rate, `EXACT`, or None if the rate is chosen automatically."""
    if sample is None or sample == EXACT:
        return sample
    try:
        rate = float(sample)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1:
        raise _core.ConfigError(
            f"sample: {sample!r} given; expected exact or a rate above 0 and at most 1"
        )
    return rate


def _automatic(
    source: sources.Source, workload: _core.Workload, page_bytes: int, exact: int
) -> float | None:
    """Returns the default rate for a workload; None for all pages."""
    accesses, pages = _size(source.held, workload, page_bytes)
    if accesses <= exact:
        return None
    rate = max(RATE, PAGES_SAMPLED / max(pages, 1))
    return rate if rate < RATE_EXACT else None


def _size(trace: Trace | None, workload: _core.Workload, page_bytes: int) -> tuple[float, float]:
    """Returns an estimate of the workload's page accesses, and a maximum of its pages."""
    if trace is not None:
        data = trace.frame.filter(pl.col("op") <= WRITE)
        return _accesses(data, page_bytes), unique_pages(data) * max(PAGE / page_bytes, 1)
    # The first requests of a generator are representative of all its requests.
    first = next(iter(workload.batches(recorded.BATCH)), None)
    if first is None:
        return 0, 0
    frame = pl.DataFrame(first)
    data = frame.filter(pl.col("op") <= WRITE)
    accesses = _accesses(data, page_bytes) * workload.requests / frame.height
    return accesses, workload.span_bytes / page_bytes


def _accesses(data: pl.DataFrame, page_bytes: int) -> int:
    first = pl.col("offset") // page_bytes
    end = (pl.col("offset") + pl.col("length") + page_bytes - 1) // page_bytes
    return int(data.select((end - first).sum()).item())
