"""Warnings and notes of the runs of a study, each listed once."""

from __future__ import annotations

from collections.abc import Iterator

from floatgate.results.messages import alike, merged

from .dataset import Dataset
from .store import frames, plan_of

SHOWN = 10
"""Maximum number of texts of a kind in a report."""


def told(study: Dataset, column: str) -> list[str]:
    """Returns the texts of a list column, such as `warnings`, each with its number of runs.

    Texts that differ only in numbers are merged into one, with the least and the greatest number.
    The texts are in descending order of their number of runs.
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
    """Returns the first `SHOWN` texts and the number of further ones, with the noun `what`."""
    more = len(texts) - SHOWN
    return [*texts[:SHOWN], *([f"{more:,} more {what}"] if more > 0 else [])]


def _texts(study: Dataset, column: str) -> Iterator[tuple[str, list[str]]]:
    """Yields each run that has texts. A run that two processes executed may come twice."""
    planned = plan_of(study.folder)
    for frame in frames(study.folder, ["run", column], study.head["columns"]):
        rows = frame.join(planned, on="run", how="semi").drop_nulls(column)
        yield from rows.iter_rows()


def _about(text: str, runs: int, done: int) -> str:
    """Appends the number of runs with this text, unless all runs have it."""
    return text if runs == done else f"{text} ({runs:,} of {done:,} runs)"
