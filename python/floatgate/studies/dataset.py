"""The rows of a study, wherever they were run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from floatgate import _core

from .rows import CONFIG, DONE, FAILED
from .store import Folder, frames, head_of, status_of


@dataclass(frozen=True)
class Dataset:
    """The rows of a study."""

    folder: Folder
    head: Mapping[str, Any]

    @classmethod
    def open(cls, out: str | Path) -> Dataset:
        """What `floatgate study` has written. Raises ConfigError where there is nothing of it."""
        folder = Folder(out)
        head = head_of(folder)
        if head is None:
            raise _core.ConfigError(f"{out}: no study; expected the --out of floatgate study")
        return cls(folder, head)

    @property
    def varied(self) -> list[str]:
        """The keys that vary."""
        return [*self.head["varied"]]

    def counts(self) -> dict[str, int]:
        """Runs: planned, done, failed and missing. Those of a search may be less than planned."""
        found = Counter(status_of(self.folder).values())
        planned = self.head["runs"]
        done, failed = found[DONE], found[FAILED]
        missing = max(0, planned - done - failed)
        return {"planned": planned, "done": done, "failed": failed, "missing": missing}

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """All rows, in an order that does not depend on who ran them; without `columns`, all but
        the column `config`."""
        order = ["trace", "volume", *self.varied, "seed", "run"]
        wanted = columns or [name for name in self.head["columns"] if name != CONFIG]
        found = [*frames(self.folder, [*dict.fromkeys([*wanted, *order])])]
        if not found:
            return pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))
        return pl.concat(found).sort(order, nulls_last=True).select(wanted)
