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


def streams_of(
    method: str, answer: Any, pages: Integers, one_for_all: bool = False
) -> npt.NDArray[Any]:
    """Returns the answer of a placement for these pages, a stream each; with `one_for_all`, a
    single number stands for all of them. Raises TypeError or ValueError for any other answer."""
    if np.ma.is_masked(answer):
        # Conversion to a plain array would reveal the values under the mask.
        raise ValueError(
            f"{method}() returned an array with masked elements: expected a stream for each page"
        )
    streams = np.asarray(answer)
    if streams.dtype.kind not in "iub":
        raise TypeError(f"{method}() returned {streams.dtype} values: expected whole numbers")
    if one_for_all and streams.ndim == 0:
        return np.full(pages.shape, streams)
    if streams.shape != pages.shape:
        raise ValueError(
            f"{method}() returned an array of shape {streams.shape}: expected {pages.shape}"
        )
    return streams
