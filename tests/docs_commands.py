"""Finds the commands that the documentation pages print, and splits them into words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = "floatgate|make|python|cargo|pip|rustup|apt|sudo|mkdir|fio|blkparse|[.]"
"""Programs that begin a command line, after any settings of environment variables."""

CARRIED = re.compile(r"(?:parallel |srun |args: \[')(floatgate .*?)(?: ::: .*|'\])?")
"""A command that another program starts many times, each time with another index: by GNU parallel,
by Slurm, or as the arguments of a container."""

_INDEX = re.compile(r"\{\}|\$\(\([^)]*\)\)|\$[A-Z_]+")
"""Placeholders that these programs replace by the index."""

_COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:{PROGRAMS}) .*")
_SPAN = re.compile(r"`([^`]+)`")
_EXAMPLE = re.compile(r"\| `([^`]+)` \|$")


@dataclass(frozen=True)
class Command:
    """A command of a page. `text` is the printed command in one line, without its comment. If
    another program starts it, `text` has the first index."""

    page: str
    line: int
    text: str
    whole: bool
    """True for a complete command, in a block or in the last cell of a row. False for a command
    named within a sentence."""

    @property
    def words(self) -> list[str]:
        """Returns the words as a shell splits them."""
        return shlex.split(self.text)

    @property
    def program(self) -> str:
        """Returns the first word that is no setting of an environment variable."""
        return next(word for word in self.words if not re.match(r"[A-Z_]+=", word))

    @property
    def where(self) -> str:
        """Returns page, line and command, for messages."""
        return f"{self.page}:{self.line}: {self.text}"


def commands(path: Path) -> Iterator[Command]:
    """Yields the commands of a page in order."""
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
