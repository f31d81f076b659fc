"""Colours of causes and of flash operations: a colour has one meaning on every page.

A slot is the number of a colour in `theme` (`series-0`, `series-1`, and so on).
"""

from __future__ import annotations

from collections.abc import Mapping

SLOTS = {
    "host": 0,
    "die": 0,
    "gc": 1,
    "map": 2,
    "bus": 3,
    "transfer": 3,
    "merge": 4,
    "queue": 5,
    "remap": 6,
    "other": 7,
    "partial": 8,
    "buffer": 9,
    "gc_map": 10,
    "wear": 11,
    "controller": 12,
    "link": 13,
    "read": 14,
    "program": 15,
    "erase": 16,
    "wait": 17,
    "idle": 18,
}
"""Slot of each cause and operation.

`die`, the flash itself, is the work for a request of the host. A `transfer` occupies the bus.
"""


def domain(names: Mapping[str, str]) -> list[str]:
    """Returns the domain of a colour scale in the order of the slots; `names` is by cause.

    The scale's colours come from the theme in the order of their slots, so each slot without a name
    has a text that occurs in no data.
    """
    texts = {SLOTS[cause]: name for cause, name in names.items()}
    return [texts.get(slot, f"no cause {slot}") for slot in range(max(texts) + 1)]


def slots(names: Mapping[str, str]) -> dict[str, int]:
    """Returns the slot of each name; `names` is by cause."""
    return {name: SLOTS[cause] for cause, name in names.items()}


def css_variables() -> str:
    """Returns a CSS variable for each cause and operation, such as `--cause-gc`."""
    return " ".join(f"--cause-{cause}: var(--series-{slot});" for cause, slot in SLOTS.items())
