"""The NCQ paper's worked examples: the blocks that Figure 2 moves, and Table I as played."""

from __future__ import annotations

from statistics import fmean

import polars as pl

from floatgate import _core
from floatgate.papers.kit.columns import texts
from floatgate.papers.kit.exhibits import Column, Numbers, Row
from floatgate.papers.kit.experiment import Experiment, seeds_of
from floatgate.papers.kit.numbers import spread
from floatgate.papers.kit.recorded import Request, play
from floatgate.results.values import percent

from .domain import DEVICE, GAPS, LRU, RECORDS, SCHEMES, SMALLEST, sized

PAGE = 4096
BLOCK, FIRST, PAGES = 64, 100, 100
"""N_pages, and the command R: its first page and its number of pages."""
BUFFER = 4 * BLOCK
"""Size of the buffer in pages."""
OTHERS = 110
"""Pages that are buffered later and fill two blocks. They make room for R when they leave."""
BEFORE = {0: 10, 1: 100, 2: 130, 3: 192, 4: 260}
"""A page of each block that may be buffered earlier. R writes the pages of blocks 1 to 3."""
SECOND_NS = 1_000_000_000
PLAYED = ("lru", "ncq-move", "ncq")


def figure_2() -> Numbers:
    """Shows whether a buffered block is kept for R while an earlier command forces a block out."""
    first, last = FIRST // BLOCK, (FIRST + PAGES - 1) // BLOCK
    rows: list[Row] = []
    for block, page in BEFORE.items():
        # As printed, max_bn is the first page's block and min_bn the last page's block.
        moves = {"printed": last <= block <= first, "right": first <= block <= last}
        stays = {scheme: _stays(page, scheme) for scheme in PLAYED}
        answers = {key: "yes" if is_so else "no" for key, is_so in (moves | stays).items()}
        rows.append({"block": block, **answers})
    return Numbers(
        key="example-figure-2",
        title="Figure 2: the blocks that a command moves",
        caption=f"N_pages = {BLOCK}, R at page {FIRST} of {PAGES} pages; one page of a block was "
        "buffered, then two others, and a command for which one of them has to leave is served "
        "while R waits. The names min_bn and max_bn are printed the wrong way round, so that no "
        "block would be moved.",
        rows=rows,
        columns=[
            Column("Block", "block", str),
            *texts(printed="Moved, as printed", right="Moved, names set right"),
            *(Column(f"Stays with {SCHEMES[scheme][0]}", scheme) for scheme in PLAYED),
        ],
        brief=False,
    )


def _stays(page: int, scheme: str) -> bool:
    """Returns whether R finds the page, or a final read if R does not write the page."""
    requests = [
        Request(page, write=True),
        Request(40 * BLOCK, OTHERS, write=True, at_ns=1),
        # The next two commands wait behind this one, so both are in the queue at once.
        Request(30 * BLOCK, write=True, at_ns=SECOND_NS),
        # One page more than there is room for.
        Request(16 * BLOCK, BUFFER - OTHERS - 1, write=True, at_ns=SECOND_NS + 1),
        Request(FIRST, PAGES, write=True, at_ns=SECOND_NS + 2),
    ]
    if not FIRST <= page < FIRST + PAGES:
        requests.append(Request(page, at_ns=2 * SECOND_NS))
    settings = {
        **SCHEMES[scheme][1],
        "buffer.block_pages": str(BLOCK),
        "buffer.capacity": f"{BUFFER * PAGE}B",
    }
    return play(requests, PAGE, DEVICE, settings).buffer.hits == 1


def table_1(experiment: Experiment, full: bool) -> Numbers:
    """Returns the paper's numbers for its workloads next to the requests that are played."""
    [levels] = experiment.points((), full)
    rows: list[Row] = []
    for name, record in RECORDS.items():
        spec = experiment.played(experiment.run_of(levels, name, sized(LRU, SMALLEST), 1)).spec
        played = [_means(spec, seed) for seed in seeds_of(full)]
        sizes, gaps, follow = zip(*played, strict=True)
        rates = [1.024 * size / gap for size, gap, _ in played]
        rows.append(
            {
                "trace": name,
                "record": f"{record >> 10} KiB",
                "our_record": f"{fmean(sizes):.0f} KiB",
                "gap": GAPS[name].replace("ms", " ms"),
                "our_gap": spread(gaps, "{:.3f} ms".format),
                "pattern": "random",
                "follow": spread(follow, percent),
                "rate": spread(rates, "{:.0f} MB/s".format),
            }
        )
    return Numbers(
        key="example-table-1",
        title="Table I: the workloads",
        caption="What the paper prints, and the requests that are played; means over seeds with "
        "95% intervals. Exponential gaps, a span of 256 MiB.",
        rows=rows,
        columns=[
            *texts(trace="Workload", record="Record, paper", our_record="Record, ours"),
            *texts(gap="Mean gap, paper", our_gap="Mean gap, ours", pattern="Access, paper"),
            *texts(follow="Begin where the one before ended, ours", rate="Asked for, ours"),
        ],
        brief=False,
    )


def _means(spec: str, seed: int) -> tuple[float, float, float]:
    """Returns the mean KiB of the requests, the mean ms between two, and the share that begin where
    the one before ended."""
    batches = _core.Workload.generator(spec, seed).batches(1 << 14)
    requests = pl.concat(pl.DataFrame(batch) for batch in batches)
    # Differences may be negative.
    at_ns, offset, length = (requests[key].cast(pl.Int64) for key in ("at_ns", "offset", "length"))
    follows = offset == (offset + length).shift(1)
    return _mean(length) / 1024, _mean(at_ns.diff().drop_nulls()) / 1e6, _mean(follows)


def _mean(series: pl.Series) -> float:
    mean = series.mean()
    assert isinstance(mean, float), "there are requests"
    return mean
