"""Chooses one event of each request: the kernel records several on the way of a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from .model import plural

#: Letters of blktrace and blkparse: issued to the driver, queued, completed.
LETTERS = ("D", "Q", "C")

#: Events whose time is the completion time.
_COMPLETIONS = frozenset({"C", "block_rq_complete", "block_io_done", "block_bio_complete"})

#: Maximum number of missing kinds that a note joins with "and".
_FEW = 2


class Stages:
    """Keeps the events of one kind: of the first kind in `ranked` that the trace has."""

    def __init__(self, ranked: Sequence[str], noun: str, chosen: str | None = None) -> None:
        """`noun` names such an event in notes: "action" or "event"."""
        self.chosen = chosen
        self._ranked = ranked
        self._noun = noun
        self._others: set[str] = set()
        self._left_out = 0

    def _better(self, kinds: pl.Series) -> str | None:
        """Returns a kind in `kinds` that ranks above the chosen one, or None.

        The caller then has to read the file again. The first call chooses a kind.
        """
        names = set(kinds.drop_nulls().unique())
        best = next((kind for kind in self._ranked if kind in names), None)
        if self.chosen is None:
            self.chosen = best
        elif best is not None and self._ranked.index(best) < self._ranked.index(self.chosen):
            return best
        return None

    def only(
        self, frame: pl.DataFrame, column: str, again: Callable[[str], Exception]
    ) -> pl.DataFrame:
        """Returns the rows of the chosen kind and those without a kind; counts the others.

        If `frame` has a better kind, raises what `again` makes of it.
        """
        if better := self._better(frame[column]):
            raise again(better)
        kind = pl.col(column)
        kept = frame.filter((kind == (self.chosen or "")).fill_null(True))
        self._left_out += frame.height - kept.height
        if self.chosen is None:
            self._others |= set(frame[column].drop_nulls().unique())
        return kept

    def notes(self, row: str) -> list[str]:
        """Returns notes on the rows left out and the kind read; `row` is "line" or "record"."""
        if self.chosen is None:
            return self._nothing_read(row)
        notes = []
        if self._left_out:
            others = f"{self._noun}s other than {self.chosen}, the one that is read"
            notes.append(f"{plural(self._left_out, row)} left out: {others}")
        if missing := self._ranked[: self._ranked.index(self.chosen)]:
            lacks = " and ".join(f"no {kind}" for kind in missing)
            if len(missing) > _FEW:
                lacks = f"none of {', '.join(missing)}"
            if self.chosen in _COMPLETIONS:
                what = f"completions ({self.chosen}) read, with the times of completion"
            else:
                what = f"{self._noun} {self.chosen} read"
            notes.append(f"{what}: the trace has {lacks}")
        return notes

    def _nothing_read(self, row: str) -> list[str]:
        if not self._left_out:
            return []
        wanted = " or ".join(self._ranked)
        others = ", ".join(sorted(self._others)[:8])
        lines = plural(self._left_out, row)
        return [f"{lines} left out: the trace has {self._noun}s {others}; expected {wanted}"]
