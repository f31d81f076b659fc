"""Arrays that Python policies get and return. This module imports NumPy, which takes a third of the
start of a small run, so the other modules import it when the first array is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def integers(given: bytes) -> Integers:
    """Returns the engine's numbers as an array that cannot be written to."""
    return np.frombuffer(given, dtype=np.int64)


def consecutive(first: int, count: int) -> Integers:
    return np.arange(first, first + count, dtype=np.int64)


def streams_of(method: str, answer: Any, pages: Integers) -> npt.NDArray[Any]:
    """Returns the answer of a placement for these pages, a stream each. Raises TypeError or
    ValueError if it is no array of whole numbers with an element for each page."""
    _refuse_masked(method, answer)
    streams = np.asarray(answer)
    if streams.dtype.kind not in "iub":
        raise TypeError(f"{method}() returned {streams.dtype} values: expected whole numbers")
    if streams.shape != pages.shape:
        raise ValueError(
            f"{method}() returned an array of shape {streams.shape}: expected {pages.shape}"
        )
    return streams


def for_each(method: str, answer: Any, pages: Integers) -> Any:
    """Returns an answer for each page, where one answer stands for all. Raises ValueError for a
    masked one."""
    _refuse_masked(method, answer)
    return np.full(len(pages), answer) if np.ndim(answer) == 0 else answer


def _refuse_masked(method: str, answer: Any) -> None:
    """Raises ValueError for an answer with masked elements: converted to a plain array, it would
    contain whatever lies under the mask."""
    if np.ma.is_masked(answer):
        raise ValueError(
            f"{method}() returned an array with masked elements: expected a stream for each page"
        )
