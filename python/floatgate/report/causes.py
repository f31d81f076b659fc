"""What time goes into, in words."""

from __future__ import annotations

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
