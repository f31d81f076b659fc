"""Files of a run in `--out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floatgate.results.result import Result

    from .options import PictureKind

RUN_FILES = (
    *("result.json", "timeline.parquet", "report.html", "fio.json"),
    *(f"latencies.{suffix}" for suffix in ("parquet", "csv")),
)
"""Names of the files that `write_run` and `write_fio` write, without pictures."""


def write_run(result: Result, directory: Path, pictures: PictureKind | None = None) -> None:
    """Writes result.json, timeline.parquet, report.html, and latencies and pictures if any."""
    from floatgate.files.writing import write_frame, write_table
    from floatgate.report import write_pictures, write_report

    (directory / "result.json").write_text(result.to_json() + "\n", "utf-8")
    write_frame(directory / "timeline.parquet", result.timeline)
    if result.distributions:
        write_table(directory, "latencies", result.latencies)
    write_report([result], directory / "report.html")
    if pictures:
        write_pictures([result], directory, pictures)


def write_fio(result: Result, directory: Path, job_file: Path) -> None:
    """Writes fio.json for a job file with full latencies: the jobs as fio prints them."""
    import json

    from floatgate.simulation.fio_output import fio_document

    if result.distributions:
        text = json.dumps(fio_document(result, job_file))
        (directory / "fio.json").write_text(text + "\n", "utf-8")
