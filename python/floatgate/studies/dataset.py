"""Rows of a study, whichever machines executed its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from floatgate import _core

from .rows import CONFIG, DONE, FAILED, differing_options
from .store import Folder, frames, head_of, plan_of, status_of

BATCH = 20_000
"""Rows in memory at a time, if a caller does not need all of them."""


@dataclass(frozen=True)
class Dataset:
    """The rows of a study.

    Rows of runs outside its plan are left out: runs with values, traces or seeds that the study no
    longer has.
    """

    folder: Folder
    head: Mapping[str, Any]

    @classmethod
    def open(cls, out: str | Path) -> Dataset:
        """Opens the output of `floatgate study`. Raises ConfigError if `out` has none."""
        folder = Folder(out)
        head = head_of(folder)
        if head is None:
            raise _core.ConfigError(f"{out}: no study; expected the --out of floatgate study")
        return cls(folder, head)

    @property
    def varied(self) -> list[str]:
        """Keys that vary."""
        return [*self.head["varied"]]

    @property
    def axes(self) -> list[str]:
        """Columns that distinguish runs of one seed: the trace, the options in which runs of one
        trace differ, the volume, and the keys that vary."""
        told = self._options
        if told:
            kinds = self.frame(["trace", *told]).unique()
            several = kinds.group_by("trace").agg(pl.all().n_unique())
            told = [name for name in told if (several[name] > 1).any()]
        return ["trace", *told, "volume", *self.varied]

    @property
    def _options(self) -> list[str]:
        """Columns of the options in which traces differ; rows of older versions have none."""
        found = differing_options(self.head["study"])
        return [name for name in found if name in self.head["columns"]]

    def counts(self) -> dict[str, int]:
        """Counts the runs: planned, done, failed and missing. A search may have fewer than planned.

        `unplanned` counts the rows that are left out.
        """
        own = {*plan_of(self.folder)["run"]}
        there = status_of(self.folder, self.head["columns"])
        found = Counter(status for run, status in there.items() if run in own)
        planned = self.head["runs"]
        done, failed = found[DONE], found[FAILED]
        return {
            "planned": planned,
            "done": done,
            "failed": failed,
            "missing": max(0, planned - done - failed),
            "unplanned": len(there) - found.total(),
        }

    @property
    def notes(self) -> list[str]:
        """Notes on the study itself, such as on equal traces."""
        found: list[str] = self.head.get("notes", [])
        return found

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Returns these columns of all rows; without `columns`, all columns except `config`.

        The order of the rows does not depend on the workers that ran them.
        """
        wanted = self._columns if columns is None else [*columns]
        return self._rows(wanted, plan_of(self.folder))

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yields the rows of `frame()` in batches; reads the files again for each batch."""
        runs = self.frame(["run"])
        for at in range(0, max(1, runs.height), BATCH):
            yield self._rows(self._columns, runs.slice(at, BATCH))

    @property
    def _columns(self) -> list[str]:
        return [name for name in self.head["columns"] if name != CONFIG]

    def _rows(self, columns: list[str], runs: pl.DataFrame) -> pl.DataFrame:
        # Of two rows of a run, "done" sorts before "failed" and is kept.
        order = ["trace", *self._options, "volume", *self.varied, "seed", "run", "status"]
        read = frames(self.folder, [*dict.fromkeys([*columns, *order])], self.head["columns"])
        found = [frame.join(runs, on="run", how="semi") for frame in read]
        if not found:
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        rows = pl.concat(found).sort(order, nulls_last=True)
        # After a requeue, two processes may have run the same part and written a run twice.
        return rows.unique("run", keep="first", maintain_order=True).select(columns)


def doubts(counts: Mapping[str, int]) -> list[str]:
    """Returns warnings about means over incomplete runs: failed, missing, left out."""
    found = []
    if failed := counts["failed"]:
        found.append(f"{failed:,} {'runs have' if failed > 1 else 'run has'} failed")
    if missing := counts["missing"]:
        are = "are" if missing > 1 else "is"
        found.append(f"{missing:,} of {counts['planned']:,} runs {are} missing")
    return [*found, *filter(None, [left_out(counts)])]


def left_out(counts: Mapping[str, int]) -> str:
    """Returns the warning about rows that are left out; empty if there are none."""
    rows = counts["unplanned"]
    if not rows:
        return ""
    are = "rows are of runs" if rows > 1 else "row is of a run"
    return f"{rows:,} more {are} that the study no longer has, and left out"
