"""Handmade tables of write amplification, a drive to start the fit from, and a drive to find."""

from __future__ import annotations

from pathlib import Path

from floatgate.calibrate import measured, scaled
from floatgate.simulation import configs

HEADER = "run,namespace_gib,phase,host_volumes,wa"
GIB = 1 << 30

START = """\
timing = "none"

[flash]
page = "4KiB"
pages_per_block = 4096
blocks = 160        # 2.0 GiB for the host: 80 % of 2.5 GiB

[capacity]
spare_factor = 0.2
"""


def write_table(path: Path, rows: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def wa_rows(name: str = "d1-a", span: float = 2.0, phase: str = "uniform") -> list[str]:
    """Returns a fill at write amplification 1.1, then four volumes at 2.2 after half a volume at
    1.1."""
    fill = [f"{name},{span},seq fill,{0.05 * (i + 0.5):.3f},1.1" for i in range(20)]
    waves = [
        f"{name},{span},{phase},{0.05 * (i + 0.5):.3f},{1.1 if i < 10 else 2.2}" for i in range(80)
    ]
    return fill + waves


def write_start(tmp_path: Path) -> Path:
    path = tmp_path / "start.toml"
    path.write_text(START)
    return path


def synthetic_in(folder: Path) -> Path:
    """Writes a table that the simulator measured on a drive with spare factor 0.27, the value that
    `calibrate` has to find."""
    config = configs.resolve(write_start(folder), {"capacity.spare_factor": "0.27"}).table()
    rows = []
    for name, span in (("s-a", 2.0), ("s-b", 1.6)):
        blank = write_table(folder / "blank.csv", wa_rows(name, span))
        [run] = measured.read_wa(blank)
        drive = scaled.drive(config, 2 * GIB)
        curve = scaled.simulate(drive, run, 8, seed=9)
        fill = [row for row in wa_rows(name, span) if "seq fill" in row]
        load = zip(run.volumes, curve, strict=True)
        rows += fill + [f"{name},{span},uniform,{at:.3f},{1.1 * wa:.6f}" for at, wa in load]
    return write_table(folder / "synthetic.csv", rows)
