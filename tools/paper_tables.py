"""Rewrites the verdict tables of docs/papers from a site of all papers.

    floatgate paper all --full --out papers
    python tools/paper_tables.py papers/claims.csv

Replaces id, claim, paper, ours and new verdict of every row. The old verdict and the reason are
written by hand, and stay. It copies the claims next to the pages, where tests compare both. In the
README of the papers it states how many verdicts change with intervals that hold simultaneously.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PAPERS = Path(__file__).resolve().parents[1] / "docs" / "papers"
CLAIMS = PAPERS / "claims.csv"
README = PAPERS / "README.md"

Claim = Mapping[str, str]
"""A row of the site's claims.csv."""

OTHERS = re.compile(r"Others are then: [^.]*\.")
"""Matches the sentence in the README of the papers that counts changed verdicts."""


def main(path: Path) -> None:
    """Rewrites the README and all pages that have claims, and copies the claims next to them."""
    text = path.read_text("utf-8")
    claims = read_claims(text)
    pages = {PAPERS / f"{name}.md": name for name in dict.fromkeys(c["of"] for c in claims)}
    written = {
        page: rewritten(page.read_text("utf-8"), name, claims) for page, name in pages.items()
    }
    written[README] = with_others(README.read_text("utf-8"), claims)
    for page, found in written.items():
        page.write_text(found, "utf-8")
    CLAIMS.write_text(text, "utf-8")


def read_claims(text: str) -> list[Claim]:
    """Returns the rows of a site's claims.csv."""
    return list(csv.DictReader(io.StringIO(text)))


def rewritten(page: str, name: str, claims: Sequence[Claim]) -> str:
    """Returns a paper's page with the numbers of these claims. Raises ValueError if a row has no
    claim, a claim has no row, or the page does not state exactly once the command of its
    numbers."""
    own = {claim["id"]: claim for claim in claims if claim["of"] == name}
    left, lines, columns = dict(own), [], list[str]()
    for line in page.splitlines(keepends=True):
        cells = _cells(line)
        if not cells or {"id", "new verdict"} <= set(cells):
            columns = cells
        elif columns and set(line) - set("|- \n"):
            row = dict(zip(columns, cells, strict=True))
            if row["id"] not in left:
                raise ValueError(f"{name}: no claim, or another row of it: {row['id']}")
            row |= _told(left.pop(row["id"]))
            cells = [f" {row[column]} ".replace("  ", " ") for column in columns]
            line = f"|{'|'.join(cells)}|\n"
        lines.append(line)
    if left:
        raise ValueError(f"{name}: no row of {', '.join(left)}")
    return _with_source("".join(lines), name, own)


def with_others(readme: str, claims: Sequence[Claim]) -> str:
    """The README with how many of each paper's verdicts are others at once, of those that were
    judged so. Raises ValueError where it does not say that once."""
    judged = [c for c in claims if c["at_once"] and c["kind"] != "not checked"]
    told = []
    for name in dict.fromkeys(claim["of"] for claim in judged):
        own = [claim for claim in judged if claim["of"] == name]
        other = sum(claim["at_once"] != claim["verdict"] for claim in own)
        told.append(f"`{name}` {other} of {len(own)}")
    found, times = OTHERS.subn(lambda _: f"Others are then: {', '.join(told)}.", readme)
    if times != 1:
        raise ValueError(f"README.md: {times} sentences begin with Others are then")
    return found


def _cells(line: str) -> list[str]:
    """Returns the cells of a table's line, and no cells for any other line."""
    if not line.startswith("|"):
        return []
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _told(claim: Claim) -> dict[str, str]:
    """The cells of a claim that are not written by hand."""
    told = {key: claim[key] for key in ("id", "claim", "paper", "ours")}
    told["new verdict"] = claim["verdict"]
    if any("|" in text for text in told.values()):
        raise ValueError(f"{claim['id']}: a cell of a table cannot have the sign |")
    return told


def _with_source(page: str, name: str, own: Mapping[str, Claim]) -> str:
    """Returns the page with the command that produced its numbers."""
    [mode] = {claim["mode"] for claim in own.values()}
    said = {
        "full": f"From `floatgate paper {name} --full`",
        "quick": f"From `floatgate paper {name}` (quick; the whole domain is `--full`'s)",
    }
    every = "|".join(re.escape(text) for text in said.values())
    found, times = re.subn(every, lambda _: said[mode], page)
    if times != 1:
        raise ValueError(f"{name}: {times} sentences begin with one of {', '.join(said.values())}")
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
