"""Papers that can be reproduced: their figures next to their claims, with verdicts.

Each paper is a folder whose module `paper` defines `PAPER`. The module is imported when the paper
is reproduced.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floatgate.api import Progress

    from .kit.cache import Cache
    from .kit.outcome import Outcome
    from .kit.reproduce import Paper


@dataclass(frozen=True)
class Listed:
    """A paper in the table."""

    name: str
    """Name of the paper's folder."""
    title: str
    citation: str


PAPERS = (
    Listed(
        "tlllp",
        "Improve SSD performance by prefetch strategy",
        "Chao Yin, Tongfang Li, Yan Liu, Sihao Yuan, Qin Zhan; received November 2017",
    ),
    Listed(
        "eti",
        "Write Amplification Reduction in Flash-Based SSDs Through Extent-Based Temperature "
        "Identification",
        "Mansour Shafaei, Peter Desnoyers, Jim Fitzpatrick; HotStorage 2016",
    ),
    Listed(
        "asa",
        "An Adaptive Separation-Aware FTL for Improving the Efficiency of Garbage Collection in "
        "SSDs",
        "Wei Xie, Yong Chen; CCGrid 2014",
    ),
    Listed(
        "ncq",
        "Exploiting the Future Reference in Write Buffer Management Design for SSDs",
        "Seongmin Kim, Taeseok Kim; 2013",
    ),
    Listed(
        "shrd",
        "SHRD: Improving Spatial Locality in Flash Storage Accesses by Sequentializing in Host and "
        "Randomizing in Device",
        "Hyukjoong Kim, Dongkun Shin, Yun Ho Jeong, Kyung Ho Kim; FAST 2017",
    ),
    Listed("together", "The five on one drive", "Floatgate"),
    Listed(
        "warp",
        "Characterizing and Emulating FDP SSDs with WARP",
        "I. Song, S. A. Qazi, J. Gonzalez, M. Bjorling, S. H. Noh, H. Li; FAST 2026",
    ),
)


def reproduce(
    name: str,
    *,
    full: bool,
    traces: Path | None,
    progress: Progress | None,
    kept: Cache | None = None,
) -> Outcome:
    """Runs the paper's experiment. `traces` is the directory of its traces, if given. `kept` has
    the results of earlier runs and receives new results.

    Raises ConfigError for an unknown paper or a directory that does not exist.
    """
    from .kit.reproduce import reproduce as reproduce_paper

    listed, paper = paper_of(name)
    return reproduce_paper(paper, listed, full, traces, progress, kept)


def paper_of(name: str) -> tuple[Listed, Paper[Any]]:
    """Returns the row of a paper, and the paper. Raises ConfigError for an unknown paper."""
    from floatgate._core import ConfigError

    listed = next((paper for paper in PAPERS if paper.name == name), None)
    if listed is None:
        names = " or ".join(paper.name for paper in PAPERS)
        raise ConfigError(f"paper: {name!r} is not known; expected {names}")
    return listed, import_module(f".{name}.paper", __name__).PAPER
