"""Splits a trace with several volumes into a workload for each volume."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from floatgate.simulation.identity import digest_of
from floatgate.simulation.recorded import notes_of
from floatgate.traces import Stream, Trace, gaps, open_trace
from floatgate.traces.write import parquet_bytes

from .plan import Played
from .spec import Options
from .store import Folder

VOLUMES = "volumes"
"""Folder in the directory of a study with its traces, volume by volume."""

PIECE = 1 << 23
"""Requests, some 300 MB, that are collected in memory before they are written."""

INDEX = "volumes.json"


def split(folder: Folder, played: Played) -> Sequence[Played]:
    """Returns the volumes of a trace; writes them into the study's directory unless they exist.

    All parts of a study share them. Raises TraceError, and OSError if a volume cannot be written.
    """
    played = _as_read(played)
    place = f"{VOLUMES}/{played.identity}"
    index = folder.read(f"{place}/{INDEX}")
    names = json.loads(index) if index else _write(folder, place, played)
    # The format applies to the file that is split, the other options to its volumes.
    options = Options(**(played.options.given() | {"format": None}))
    return [
        replace(
            played,
            source=folder.path(f"{place}/{_file(number, name)}"),
            options=options,
            volume=name,
            format=played.options.format,
        )
        for number, name in enumerate(names)
    ]


def _as_read(played: Played) -> Played:
    """Returns the trace with its format in the identity: another format reads other requests."""
    form = played.options.format
    identity = played.identity if form is None else digest_of(played.identity, form)
    return replace(played, identity=identity)


def _write(folder: Folder, place: str, played: Played) -> list[str]:
    trace = open_trace(played.source, format=played.options.format)
    about = _told(trace)
    held: dict[int, list[pl.DataFrame]] = {}
    pieces = requests = 0
    for frame in frames_of(trace):
        for part in frame.partition_by("device"):
            held.setdefault(int(part["device"][0]), []).append(part)
        requests += frame.height
        if requests >= PIECE:
            _put(folder, place, about, held, pieces)
            held, pieces, requests = {}, pieces + 1, 0
    _put(folder, place, about, held, pieces)
    # The index is written last: without it the volumes count as missing.
    folder.write(f"{place}/{INDEX}", json.dumps(about.devices).encode())
    return about.devices


def _told(trace: Trace | Stream) -> Trace:
    """Returns the description of the trace that each of its volumes gets.

    It includes the note about lines that could not be read, because their volume is unknown. Notes
    about long gaps are left out, because each volume has its own gaps.
    """
    if isinstance(trace, Stream):
        about = trace.unread()
    else:
        seen_again = gaps.told(trace.frame["at_ns"])
        about = replace(trace, notes=[note for note in trace.notes if note not in seen_again])
    notes = [note for note in notes_of(about) if note not in about.units.guessed]
    return replace(about, notes=notes, unparsed_lines=0)


def frames_of(trace: Trace | Stream) -> Iterator[pl.DataFrame]:
    """Returns the requests of a trace, in batches if it is long."""
    return trace.batches() if isinstance(trace, Stream) else iter([trace.frame])


def _put(
    folder: Folder, place: str, about: Trace, held: dict[int, list[pl.DataFrame]], piece: int
) -> None:
    """Writes one more file for each volume that has requests."""
    for number, frames in held.items():
        name = about.devices[number]
        frame = pl.concat(frames).with_columns(device=pl.lit(0, pl.UInt32))
        one = replace(about, name=name, frame=frame, devices=[name])
        path = f"{place}/{_file(number, name)}/{piece:06}.parquet"
        folder.write(path, parquet_bytes(one))


def _file(number: int, name: str) -> str:
    """Returns a name for a folder of Parquet files that every file system accepts."""
    return f"{number}-{re.sub(r'[^A-Za-z0-9._-]', '_', name)[:80]}"
