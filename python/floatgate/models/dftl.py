"""Mapping traffic of a demand-paged page map (DFTL), as identities and steady-state means.

Cleaning's own map traffic is not included. A cached entry is "dirty" if it is newer than its
translation page on flash. Evicting a dirty entry costs a read and a program of that page. Source:
Gupta, Kim, Urgaonkar, "DFTL: a flash translation layer employing demand-based selective caching of
page-level address mappings", ASPLOS 2009 (the cost model of address translation).
"""

from __future__ import annotations

from dataclasses import dataclass

from .checks import ModelError, check_between, check_not_negative


@dataclass(frozen=True)
class MapTraffic:
    """Translation-page operations, as totals or per host page; the function states which."""

    reads: float
    """Translation pages read."""
    programs: float
    """Translation pages programmed."""


def map_traffic(accesses: int, hits: int, dirty_evictions: int) -> MapTraffic:
    """Returns the total map traffic of a run, by the identity reads = (N - H) + D, programs = D.

    Page accesses N, cache hits H and dirty evictions D are counts. Every miss loads one translation
    page and evicts at most one entry. Raises ModelError unless 0 <= H <= N and 0 <= D <= N - H.
    """
    check_not_negative("page accesses", accesses)
    check_between("cache hits", hits, 0, accesses)
    if not 0 <= dirty_evictions <= accesses - hits:
        raise ModelError(
            f"dirty evictions is {dirty_evictions!r}, expected 0 to {accesses - hits} (the misses)"
        )
    return MapTraffic(reads=accesses - hits + dirty_evictions, programs=dirty_evictions)


def average_translation_time(
    hit_ratio: float, dirty_share: float, read_time: float, program_time: float
) -> float:
    """Returns the mean time to translate one page address: (1 - h) (t_r + p_d (t_r + t_w)).

    hit_ratio h and dirty_share p_d (dirty evictions per miss) are from 0 to 1. The page times t_r
    and t_w are in any one unit and not negative; the result has that unit. Raises ModelError
    otherwise.
    """
    check_between("hit ratio", hit_ratio, 0.0, 1.0)
    check_between("dirty share", dirty_share, 0.0, 1.0)
    check_not_negative("read time", read_time)
    check_not_negative("program time", program_time)
    return (1.0 - hit_ratio) * (read_time + dirty_share * (read_time + program_time))


def uniform_hit_ratio(cached_entries: float, pages: float) -> float:
    """Returns the hit ratio of any demand policy under uniform random accesses: C/M, at most 1.

    Past accesses do not predict the next address, so only the number of cached entries matters. The
    cache is assumed to be warm. Raises ModelError unless C >= 0 and M > 0.
    """
    check_not_negative("cached entries", cached_entries)
    if check_not_negative("pages", pages) == 0:
        raise ModelError("pages is 0, expected more than 0")
    return min(1.0, cached_entries / pages)


def map_traffic_per_access(hit_ratio: float, dirty_share: float = 1.0) -> MapTraffic:
    """Returns the mean map traffic of one page access.

    It is (1 - h)(1 + p_d) reads and (1 - h) p_d programs.

    dirty_share p_d, dirty evictions per miss, tends to 1 for a workload with writes only. A write
    then costs 2 (1 - h) map reads and (1 - h) map programs. Raises ModelError unless both arguments
    are from 0 to 1.
    """
    check_between("hit ratio", hit_ratio, 0.0, 1.0)
    check_between("dirty share", dirty_share, 0.0, 1.0)
    misses = 1.0 - hit_ratio
    return MapTraffic(reads=misses * (1.0 + dirty_share), programs=misses * dirty_share)
