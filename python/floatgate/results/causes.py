"""Names of the causes of flash writes, and of the causes of a request's time."""

from __future__ import annotations

from collections.abc import Iterable

from .result import Result

CAUSES = {
    "host": "host writes",
    "gc": "cleaning",
    "map": "map",
    "gc_map": "map, for cleaning",
    "merge": "merges",
    "wear": "wear levelling",
    "remap": "remapping",
    "other": "other",
    "partial": "partial pages",
}
"""Names of the causes for which bytes are programmed, in the order of a bar."""

NAMED = CAUSES | {
    "journal": "journal",
    "retire": "broken units",
    "pad": "padding",
    "fold": "folding",
    "parity": "parity",
}
"""All causes by name: `CAUSES`, and those that charts show as "other"."""

BLAME = {
    "die": "flash itself",
    "gc": "cleaning",
    "map": "map",
    "bus": "bus",
    "merge": "merges",
    "queue": "queue",
    "buffer": "write buffer",
    "remap": "remapping",
    "controller": "controller",
    "link": "host link",
}
"""Name of each cause of response time, in the order of a bar."""

ROOM = "waiting for room (cleaning)"
"""Name of the cause `buffer` on a drive without a write buffer.

A write then waits for room in the controller's memory. Programs free that room, and they may have
to wait for cleaning.
"""


def blame_names(results: Iterable[Result]) -> dict[str, str]:
    """Returns the names of the causes, valid for all the results."""
    schemes = {result.setting("buffer.scheme") for result in results}
    if schemes == {"none"}:
        return BLAME | {"buffer": ROOM}
    return BLAME | {"buffer": "write buffer, or room"} if "none" in schemes else BLAME
