"""The commands that the pages print: where they stand, and what they are made of."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = "floatgate|make|python|cargo|pip|rustup|apt|sudo|mkdir|fio|blkparse|[.]"
"""What a line that is a command begins with, after settings of the environment."""

CARRIED = re.compile(r"(?:parallel |srun |args: \[')(floatgate .*?)(?: ::: .*|'\])?")
"""A command that another program starts, many times with another index each: GNU parallel, Slurm,
and the arguments of a container."""

_INDEX = re.compile(r"\{\}|\$\(\([^)]*\)\)|\$[A-Z_]+")
"""What these put the index for."""

_COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:{PROGRAMS}) .*")
_SPAN = re.compile(r"`([^`]+)`")
_EXAMPLE = re.compile(r"\| `([^`]+)` \|$")


@dataclass(frozen=True)
class Command:
    """`text` is the command as printed, in one line and without its comment; of one that is
    carried, that of the first index."""

    page: str
    line: int
    text: str
    whole: bool
    """It stands for itself, in a block or as the last cell of a row; else it is named in a text."""

    @property
    def words(self) -> list[str]:
        """As a shell splits it."""
        return shlex.split(self.text)

    @property
    def program(self) -> str:
        """The first word that is no setting of the environment."""
        return next(word for word in self.words if not re.match(r"[A-Z_]+=", word))

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}: {self.text}"


def commands(path: Path) -> Iterator[Command]:
    """The commands of a page, in order."""
    page = str(path.relative_to(ROOT))
    fenced = shell = False
    joined, first = "", 0
    for line, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        if raw.startswith("```"):
            fenced = not fenced
            shell = fenced and raw[3:] in ("sh", "bash", "console")
            continue
        if (fenced and shell) or (not fenced and (raw.startswith("    ") or joined)):
            first = first if joined else line
            text = joined + raw.strip().removeprefix("$ ")
            joined = text.removesuffix("\\") if text.endswith("\\") else ""
            text = re.sub(r"\s+#\s.*$", "", text).removesuffix("&").strip()
            if carried := CARRIED.fullmatch(text):
                text = _INDEX.sub("1", carried[1])
            if not joined and _COMMAND.fullmatch(text):
                yield Command(page, first, text, whole=True)
        elif not fenced:
            example = _EXAMPLE.search(raw)
            for span in _SPAN.finditer(raw):
                if _COMMAND.fullmatch(span[1]):
                    whole = example is not None and span.end() == example.end() - 2
                    yield Command(page, line, span[1], whole=whole)
