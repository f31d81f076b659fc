"""Marks that distinguish the drives of several results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floatgate.result_types import ResultFields

DEVICE = "device"
"""Key for a comparison of whole drives. Any other key varies one value of the config."""

UNITS_FEW = 128
"""With fewer units, cleaning has few victims to choose from, and the engine warns."""

SCALED = "scaled: erase units have "
"""Start of the note on a drive whose units are smaller than those of its device."""

ONLY = "scaled: only "
"""Start of the note on a drive that has fewer units than the call asks for."""


def is_scaled(result: ResultFields) -> bool:
    """Returns whether the erase units are smaller than those of the device."""
    return any(note.startswith(SCALED) for note in result.notes)


def mark(result: ResultFields) -> str:
    """Returns a mark for the row of a drive with few units, or with another spare factor than its
    config states; else empty.
    """
    drive = result.drive
    marks = []
    if drive.units < UNITS_FEW or any(note.startswith(ONLY) for note in result.notes):
        marks.append(f"{drive.units:,} units")
    if drive.units_added:
        marks.append(f"spare {100 * drive.spare_factor:.1f} %")
    return ", ".join(marks)
