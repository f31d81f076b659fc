"""What the runs of a study say: their warnings and notes, each once."""

from __future__ import annotations

from collections.abc import Iterator

from floatgate.report.told import alike, merged

from .dataset import Dataset
from .store import frames, plan_of

SHOWN = 10
"""Texts that are shown of a kind."""


def told(study: Dataset, column: str) -> list[str]:
    """The texts of a column of lists, such as `warnings`, each with how many runs have it.

    Those that differ in nothing but numbers are one, with the least and the most; what most runs
    say comes first.
    """
    runs: dict[str, set[str]] = {}
    for run, texts in _texts(study, column):
        for text in texts:
            runs.setdefault(text, set()).add(run)
    found = []
    for group in alike((text, text) for text in sorted(runs)):
        texts = [text for text, _ in group]
        found.append((merged(texts), len(set().union(*(runs[text] for text in texts)))))
    found.sort(key=lambda one: -one[1])
    done = study.counts()["done"]
    return shortened([_about(text, said, done) for text, said in found], column)


def shortened(texts: list[str], what: str) -> list[str]:
    """The first of them, and how many more there are of what they are."""
    more = len(texts) - SHOWN
    return [*texts[:SHOWN], *([f"{more:,} more {what}"] if more > 0 else [])]


def _texts(study: Dataset, column: str) -> Iterator[tuple[str, list[str]]]:
    """The texts of each run that has some; a run that two processes have written may come twice."""
    planned = plan_of(study.folder)
    for frame in frames(study.folder, ["run", column], study.head["columns"]):
        rows = frame.join(planned, on="run", how="semi").drop_nulls(column)
        yield from rows.iter_rows()


def _about(text: str, runs: int, done: int) -> str:
    """With how many runs say it, unless all do."""
    return text if runs == done else f"{text} ({runs:,} of {done:,} runs)"
