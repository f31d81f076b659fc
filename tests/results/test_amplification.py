"""Write amplification in bytes, as JEDEC, NVMe and OCP define it, and in pages, as papers do."""

from __future__ import annotations

import pytest
from conftest import Cli

import floatgate as fg

LARGE_UNITS = {
    "flash.superblock": 4,
    "flash.pages_per_block": 64,
    "flash.channels": 1,
    "flash.dies": 1,
    "flash.blocks": 2000,
    "timing": "none",
}
"""Settings of a new drive with map units of 64 KiB."""


@pytest.mark.parametrize(("size", "factor"), [("4KiB", 16.0), ("16KiB", 4.0), ("64KiB", 1.0)])
def test_small_writes_to_large_map_units_cost_the_whole_unit(size: str, factor: float) -> None:
    workload = f"uniform:span=64MiB,writes=4000,size={size},seed=1"
    result = fg.run(workload, device="qlc-capacity", set=LARGE_UNITS)
    assert result.write_amplification == factor
    assert result.amplification.host == 1
    assert result.amplification.partial == factor - 1
    assert result.page_write_amplification == 1
    written, capacity = result.workload.write_bytes, result.drive.logical_bytes
    assert result.workload.volumes_written == pytest.approx(written / capacity)
    assert result.timeline["host_bytes"][-1] == written


def test_sectors_on_a_drive_of_4k_pages_cost_eight_times_their_bytes() -> None:
    """With cleaning, every cause differs between bytes and pages by the same factor."""
    workload = "uniform:span=32MiB,writes=40k,size=512,aligned=true,seed=1"
    result = fg.run(workload, set={"start.fill": "random", "timing": "none", "flash.page": "4KiB"})
    pages, factor = result.page_write_amplification, result.write_amplification
    assert pages is not None and factor is not None and pages > 2
    assert factor == pytest.approx(8 * pages)
    cleaned = result.flash.programs.gc * result.drive.page_bytes
    assert result.amplification.gc == pytest.approx(cleaned / result.workload.write_bytes)


def test_drives_are_compared_in_bytes(cli: Cli) -> None:
    """In map units, a drive with large map units would look better than it is."""
    done = cli(
        *("run", "uniform:span=64MiB,writes=4000,size=4KiB", "--device", "qlc-capacity"),
        *(f"--set={key}={value}" for key, value in LARGE_UNITS.items()),
    )
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "16.000 = host writes 1.000 + partial pages 15.000" in text
    assert "1.000 programs per page of 64 KiB that writes touched" in text
    assert "page_write_amplification 1.000 counts map pages" in text


def test_a_buffer_that_holds_all_writes_is_no_empty_drive(cli: Cli) -> None:
    done = cli("run", "uniform:span=64MiB,writes=100k,seed=1", "--device", "mqsim18", "-q")
    text = " ".join(done.stdout.split())
    assert "8 192 pages (64 MiB) are still in the write buffer" in text.replace("\u202f", " ")
    assert "nothing has reached the flash: of 100000 pages written 91808 overwrote" in text
    assert "empty drive" not in text
