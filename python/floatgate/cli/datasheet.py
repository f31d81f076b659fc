"""`floatgate devices NAME --measure`: a data sheet for a terminal."""

from __future__ import annotations

from rich.text import Text

from floatgate.analysis.datasheet import DataSheet
from floatgate.analysis.datasheet_tables import latencies_table, performance_table
from floatgate.results.tables import space_table
from floatgate.results.values import percent, ratio, size

from .grids import Lines, fact_grid, print_messages
from .output import console
from .summary import print_table


def print_sheet(sheet: DataSheet) -> None:
    """Prints capacity, performance and latencies, then warnings and notes."""
    out = console()
    out.print(Text(f"{sheet.device}, measured on the model", style="bold"))
    out.print()
    out.print(fact_grid(_facts(sheet)))
    if (space := space_table(sheet.space)) is not None:
        print_table(out, space)
    print_table(out, performance_table(sheet))
    print_table(out, latencies_table(sheet))
    print_messages(out, sheet.warnings, sheet.notes)


def _facts(sheet: DataSheet) -> Lines:
    over = sheet.spare_factor / (1 - sheet.spare_factor)
    yield "raw capacity", f"{size(sheet.raw_bytes)} of flash"
    spare = f"spare factor {percent(sheet.spare_factor)}, over-provisioning {percent(over)}"
    yield "user capacity", f"{size(sheet.user_bytes)}; {spare}"
    wa = ratio(sheet.write_amplification)
    yield "write amplification", f"{wa}, random writes in the steady state"
    yield from sheet.states.items()
    if sheet.source:
        state = "" if sheet.class_state == "steady" else f", {sheet.class_state}"
        yield f"class{state}", sheet.source
