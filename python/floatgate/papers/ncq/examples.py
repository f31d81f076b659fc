"""The NCQ paper's worked example: the blocks that Figure 2 moves."""

from __future__ import annotations

from floatgate.papers.kit.exhibits import Column, Numbers, Row, columns_of
from floatgate.papers.kit.recorded import Request, play

from .domain import DEVICE, SCHEMES

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
            *columns_of(printed="Moved, as printed", right="Moved, names set right"),
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
