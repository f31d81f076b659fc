"""Makes the measurements of docs/fitting.md from simulated drives, so that each fit has a known
answer.

    python tools/fitting_example.py

Writes docs/fitting/wa.csv from a drive with a spare factor of 0.27, and qd1.json and qd16.json, as
fio prints them, from a drive whose reads take 45 us.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from floatgate.calibrate import measured, scaled
from floatgate.calibrate.latency import LatencyStudy
from floatgate.simulation import configs

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "fitting"
SPARE = "0.27"
READ = "45us"
BASE = 1.03
"""Write amplification of the drive while it cleans nothing."""
SPANS = (("drive-a", 8.0), ("drive-b", 6.4))
SEED = 9
"""The fits of the page have the seed 1."""

DEVICE = "tlc-enterprise"
READS = 50_000


def write_amplification() -> str:
    """Returns a table of two runs of uniform writes, each after a fill in order."""
    drive = configs.resolve(FOLDER / "start.toml", {"capacity.spare_factor": SPARE}).table()
    capacity = round(SPANS[0][1] * (1 << 30))
    rows = []
    for name, span in SPANS:
        fill = [f"{name},{span},seq fill,{0.05 * (i + 0.5):.3f},{BASE}" for i in range(20)]
        blank = [f"{name},{span},uniform,{0.05 * (i + 0.5):.3f},{BASE}" for i in range(80)]
        [run] = measured.read_wa(_written(FOLDER / "wa.csv", [*fill, *blank]))
        curve = scaled.simulate(scaled.drive(drive, capacity), run, 64, seed=SEED)
        load = zip(run.volumes, curve, strict=True)
        rows += fill + [f"{name},{span},uniform,{at:.3f},{BASE * wa:.4f}" for at, wa in load]
    return _written(FOLDER / "wa.csv", rows).read_text("utf-8")


def _written(path: Path, rows: list[str]) -> Path:
    lines = ["run,namespace_gib,phase,host_volumes,wa", *rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def reads(depth: int) -> dict[str, Any]:
    """Returns a document of fio: random reads with `depth` outstanding."""
    path = FOLDER / f"qd{depth}.json"
    drive = configs.resolve(DEVICE, {"flash.read": READ}).table()
    drive = scaled.full_size(drive, 1_920_000_000_000)
    _write(path, _document(depth, 1.0, 100.0, (100.0, 100.0)))
    study = LatencyStudy([path], drive)
    found = study.tell(study.names[0], drive, 1024, SEED).numbers
    mean, p50, p99 = (found[f"r_{name}_us_simulated"] for name in ("mean", "p50", "p99"))
    document = _document(depth, found["iops_simulated"], mean, (p50, p99))
    _write(path, document)
    return document


def _document(depth: int, iops: float, mean: float, tail: tuple[float, float]) -> dict[str, Any]:
    percentile = dict(
        zip(("50.000000", "99.000000"), (round(us * 1e3) for us in tail), strict=True)
    )
    latency = {"mean": round(mean * 1e3), "percentile": percentile}
    side = {"iops": round(iops, 1), "total_ios": READS, "clat_ns": latency}
    idle = {"iops": 0.0, "total_ios": 0, "clat_ns": {"mean": 0}}
    options = {"rw": "randread", "bs": "4k", "iodepth": f"{depth}"}
    return {"jobs": [{"jobname": "randread", "job options": options, "read": side, "write": idle}]}


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def main() -> None:
    write_amplification()
    for depth in (1, 16):
        reads(depth)


if __name__ == "__main__":
    main()
