"""What time goes into, in words."""

from __future__ import annotations

from collections.abc import Iterable

from floatgate.result import Result

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
"""Where a request's time went; the same cause has the same colour as in `frames.CAUSES`."""

ROOM = "waiting for room (cleaning)"
"""The cause `buffer` on a drive without a write buffer: a write waits for room in the controller's
memory, which programs free when cleaning lets them end."""


def blame_names(results: Iterable[Result]) -> dict[str, str]:
    """The names of the causes for some results, which share a name for each."""
    schemes = {result.setting("buffer.scheme") for result in results}
    if schemes == {"none"}:
        return BLAME | {"buffer": ROOM}
    return BLAME | {"buffer": "write buffer, or room"} if "none" in schemes else BLAME
