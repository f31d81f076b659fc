"""A live drive as text for a terminal."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from floatgate.live.documents import (
    Blocks,
    Holding,
    Server,
    Shadow,
    Smart,
    Spread,
    Status,
    modelled,
)
from floatgate.result_types import LanesResult
from floatgate.results.causes import blame_names
from floatgate.results.values import TIMES, count, measured, percent, ratio, size, unit_of

from .columns import Column, label, print_columns
from .grids import Lines, fact_grid, print_messages
from .output import console

if TYPE_CHECKING:
    from floatgate.live.serving import Setup
    from floatgate.live.web import Page

FIO_BYTES = 64 << 20
"""Bytes that the printed fio command writes on a drive that is large enough."""

PARTS = 10
"""Number of steps in the distribution of valid pages."""


def announced(setup: Setup, pid: int, page: Page | None) -> dict[str, Any]:
    """Returns the facts that a script needs about a server ready for clients."""
    from floatgate.live import nvme

    endpoint, image = setup.endpoint, setup.backing.image
    of_nvme: dict[str, Any] = {}
    if isinstance(endpoint, nvme.Endpoint):
        of_nvme = {"nqn": endpoint.nqn, "handles": setup.backing.handles, "target_pid": pid}
        of_nvme["zoned"] = endpoint.zoned
    return {
        "ready": True,
        "uri": endpoint.uri,
        "socket": None if endpoint.socket is None else str(endpoint.socket.absolute()),
        "port": endpoint.port or None,
        "address": endpoint.address if endpoint.port else None,
        "control": str(setup.control.absolute()),
        "page": None if page is None else page.url,
        "metrics": None if page is None else page.metrics_url,
        "token": None if page is None else page.token,
        "image": None if image is None else str(image.absolute()),
        "bytes": setup.backing.bytes,
        "device": setup.backing.name,
        "timing": setup.timing,
        **(of_nvme or {"nbdkit_pid": pid}),
    }


def print_announced(document: Mapping[str, Any]) -> None:
    """Prints the location of the drive, and the ways to attach it."""
    out = console()
    where = document["image"] or "in memory"
    out.print(f"serving     {document['device']}, {size(document['bytes'])}, {where}")
    for name, text in _ways(document):
        # Lines are not wrapped, so that users can copy them.
        out.print(f"{name:<12}{text}", soft_wrap=True)
    out.print("Ctrl-C stops it in order.")
    # A program that waits for these lines may read them through a pipe.
    out.file.flush()


def _ways(document: Mapping[str, Any]) -> Lines:
    yield from _ways_of_nvme(document) if "nqn" in document else _ways_of_nbd(document)
    yield "control", f"floatgate ctl --control {shlex.quote(document['control'])} status"
    if document["page"]:
        yield "page", document["page"]
        yield "metrics", document["metrics"]


def _ways_of_nvme(document: Mapping[str, Any]) -> Lines:
    """Yields the commands of a Linux host; `nvme list` prints the device's name."""
    nqn, port = document["nqn"], document["port"]
    yield "NVMe/TCP", f"{document['address']} port {port}, without authentication"
    yield "attach", f"nvme connect -t tcp -a {document['address']} -s {port} -n {nqn}"
    yield "device", "nvme list"
    fio = f"fio --name=a --rw=randwrite --bs=4k {_fio_size(document)}"
    if document["zoned"]:
        fio = "fio --name=a --rw=write --bs=4k --zonemode=zbd"
        yield "fio", f"{fio} --ioengine=libaio --direct=1 --filename=/dev/nvmeXn1"
        yield "zones", "nvme zns report-zones /dev/nvmeXn1"
    elif document["handles"]:
        yield "fio", f"{fio} --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ngXn1 --fdp=1"
        yield "FDP", "nvme fdp stats /dev/nvmeX --endgrp-id=1"
    else:
        yield "fio", f"{fio} --ioengine=libaio --direct=1 --filename=/dev/nvmeXn1"
        yield "health", "nvme smart-log /dev/nvmeX"
    yield "detach", f"nvme disconnect -n {nqn}"


def _fio_size(document: Mapping[str, Any]) -> str:
    """Returns fio's option for the bytes to write, which fit on the drive."""
    return "--size=64M" if document["bytes"] >= FIO_BYTES else f"--size={document['bytes']}"


def _ways_of_nbd(document: Mapping[str, Any]) -> Lines:
    uri = shlex.quote(document["uri"])
    yield "NBD", document["uri"]
    yield "look", f"nbdinfo {uri}"
    yield "as a file", f"nbdfuse drive/ {uri}"
    # Over TLS, the tools below need their own options for keys and certificates, or have none.
    if not document["uri"].startswith("nbds"):
        if document["socket"]:
            yield "attach", f"nbd-client -unix {shlex.quote(document['socket'])} /dev/nbd0"
        else:
            yield "attach", f"nbd-client {document['address']} {document['port']} /dev/nbd0"
        yield "qemu", f"qemu-system-x86_64 -drive file={uri},format=raw,if=virtio ..."
        yield "fio", f"fio --name=a --ioengine=nbd --uri={uri} --rw=randwrite {_fio_size(document)}"


def print_status(status: Status) -> None:
    """Prints the drive's activity since the last reset of its counters."""
    out = console()
    out.print(fact_grid([*_drive(status), *_written(status)]))
    out.print()
    of = ", of this machine" if status.timing == "none" else ""
    kinds = {
        f"read{of}": status.server.latency_us.read,
        f"write{of}": status.server.latency_us.write,
        "waiting for the drive": status.server.lock_wait_us,
    }
    if status.server.holding is not None:
        kinds["answers missed by"] = status.server.holding.error_us
    if status.timing != "none":
        kinds["read, as modelled"] = modelled(status.result.latency.read)
        kinds["write, as modelled"] = modelled(status.result.latency.write)
    print_columns(out, _times(kinds))
    out.print()
    out.print(fact_grid([*_inside(status), *_server(status.server)]))
    for shadow in status.also:
        out.print(fact_grid([(f"also {shadow.name}", _beside(shadow))]))
    print_messages(out, status.all_warnings, status.result.notes)


def _beside(shadow: Shadow) -> str:
    if shadow.result is None:
        return "it has failed"
    fill = shadow.result.start.fill
    begun = "erased" if fill == "none" else f'as start.fill = "{fill}" makes it'
    late = f", {count(shadow.behind)} requests behind" if shadow.behind else ""
    wa = ratio(shadow.result.write_amplification)
    return f"write amplification {wa}{late}; it began {begun}"


def _drive(status: Status) -> Lines:
    where = status.image or "in memory"
    yield "drive", f"{status.device}, {size(status.bytes)}, {where}; timing {status.timing}"
    requests = {kind: n for kind, n in vars(status.server.requests).items() if n}
    yield "requests", ", ".join(f"{count(n)} {kind}" for kind, n in requests.items()) or "none"


def _written(status: Status) -> Lines:
    result, page = status.result, status.page_bytes
    host, media = result.workload.write_bytes, result.flash.programs.total
    read = size(result.workload.read_bytes)
    written = f"{size(host)} by the host, {size(media * page)} to flash"
    yield "written", f"{written}; {read} read by the host"
    yield "write amplification", ratio(result.write_amplification)
    names = blame_names([result])
    blame = {names[part]: n or 0.0 for part, n in vars(result.latency.blame_us).items()}
    if any(blame.values()):
        unit, us = unit_of([sum(blame.values())], TIMES)
        parts = sorted(((n, name) for name, n in blame.items() if n), reverse=True)
        text = " + ".join(f"{name} {measured(n / us)}" for n, name in parts)
        yield f"modelled mean by cause, {unit}", text


def _times(kinds: Mapping[str, Spread]) -> list[Column]:
    names = {"mean": "mean", "p50": "p50", "p99": "p99", "p99.9": "p999", "max": "max"}
    taken = {kind: spread for kind, spread in kinds.items() if spread.count}
    return [
        label("time, \u00b5s", taken),
        Column("requests", [count(spread.count) for spread in taken.values()]),
        *(
            Column(title, [measured(getattr(spread, name)) for spread in taken.values()])
            for title, name in names.items()
        ),
    ]


def _inside(status: Status) -> Lines:
    mapping = status.result.mapping
    if mapping.hit_ratio is not None:
        yield "map cache", f"{percent(mapping.hit_ratio)} hits, {count(mapping.misses)} misses"
    wear = status.result.wear
    drive = status.result.drive
    more = drive.reserve_units + drive.slc_units
    units = f"{count(drive.units)} and {count(more)} in reserve"
    yield "free units", f"{count(status.free_units)}, of {units}"
    if status.cleaning_begins_after_bytes is not None:
        yield "cleaning", f"cleaning begins after {size(status.cleaning_begins_after_bytes)} more"
    yield "erases per unit", f"{count(wear.erases_min)} to {count(wear.erases_max)}"
    if status.zones is not None:
        states = {name.replace("_", " "): n for name, n in vars(status.zones.states).items() if n}
        counts = ", ".join(f"{count(n)} {name}" for name, n in states.items())
        yield "zones", f"of {size(status.zones.capacity_bytes)}: {counts}"
    if status.power.cuts:
        took = f"{measured(status.power.mount.seconds)} s"
        yield "plug pulled", f"{count(status.power.cuts)} times; found last in {took}"
    if status.faults.read_error_share or status.faults.read_only:
        share = percent(status.faults.read_error_share)
        yield "faults", f"{share} of reads fail" + ", read-only" * status.faults.read_only
    if status.record is not None:
        path = status.record.path.removesuffix(".part")
        yield "recorded", f"{count(status.record.requests)} requests for {path}"


def _server(server: Server) -> Lines:
    yield "clients", f"{count(server.connections)}, {count(server.in_flight)} requests under way"
    if server.errors:
        yield "errors", f"{count(server.errors)} requests failed"
    if server.holding is not None:
        yield "held", _holding(server.holding)


def _holding(holding: Holding) -> str:
    share, excess = percent(holding.late_share), percent(holding.mean_excess)
    late = f"{share} of the replies came more than a tenth later than the drive answers"
    return f"{late}; on average replies took {excess} longer"


def print_smart(smart: Smart) -> None:
    """Prints the drive's health log."""
    out = console()
    out.print(fact_grid(_log(smart)))
    print_messages(out, smart.critical_warnings, [])


def _log(smart: Smart) -> Lines:
    yield "written by the host", size(smart.host_bytes_written)
    yield "read by the host", size(smart.host_bytes_read)
    yield (
        "requests of the host",
        f"{count(smart.host_writes)} write, {count(smart.host_reads)} read",
    )
    yield "written to flash", size(smart.media_bytes_written)
    yield "read from flash", size(smart.media_bytes_read)
    yield "erased", size(smart.media_bytes_erased)
    yield "write amplification", ratio(smart.write_amplification)
    yield "written, by the flash's count", size(smart.lifetime_media_bytes_written)
    spare = f"{smart.available_spare_percent:g} %"
    yield (
        "available spare",
        f"{spare}; it warns below {smart.available_spare_threshold_percent:g} %",
    )
    if smart.percentage_used is not None:
        yield (
            "used",
            f"{measured(smart.percentage_used)} % of {count(smart.endurance_erases)} erases a unit",
        )
    least, most = count(smart.erases_min), count(smart.erases_max)
    yield "erases per unit, in all", f"{least} to {most}, mean {measured(smart.erases_mean)}"
    yield "starts", count(smart.power_cycles)
    yield "unsafe shutdowns", count(smart.unsafe_shutdowns)
    yield "media errors", count(smart.media_errors)


def print_blocks(blocks: Blocks) -> None:
    """Prints the numbers of free, open and sealed units, and the valid pages of sealed units."""
    free = sum(stream < 0 for stream in blocks.stream)
    sealed = sum(blocks.sealed)
    out = console()
    out.print(
        fact_grid(
            [
                ("erase units", f"{count(blocks.units)} of {count(blocks.pages_per_unit)} pages"),
                ("free", count(free)),
                ("being written", count(blocks.units - free - sealed)),
                ("full", count(sealed)),
            ]
        )
    )
    if sealed:
        out.print()
        print_columns(out, _valid(blocks))


def _valid(blocks: Blocks) -> list[Column]:
    counts = [0] * PARTS
    erases = [0] * PARTS
    for valid, is_sealed, erased in zip(blocks.valid, blocks.sealed, blocks.erases, strict=True):
        if is_sealed:
            part = min(valid * PARTS // blocks.pages_per_unit, PARTS - 1)
            counts[part] += 1
            erases[part] += erased
    steps = [100 * part // PARTS for part in range(PARTS + 1)]
    means = [measured(n / units) if units else "" for units, n in zip(counts, erases, strict=True)]
    return [
        label("valid pages", [f"{low} to {high} %" for low, high in pairwise(steps)]),
        Column("full units", [count(units) for units in counts]),
        Column("mean erases", means),
    ]


def print_lanes(lanes: LanesResult) -> None:
    """Prints the share of the window in which each lane was busy, by cause."""
    out = console()
    if lanes.from_ns is None or lanes.to_ns is None:
        out.print("no request was under way")
        return
    window = max(lanes.to_ns - lanes.from_ns, 1)
    busy: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    spans = lanes.spans
    for lane, cause, begin, end in zip(
        spans.lane, spans.cause, spans.from_ns, spans.to_ns, strict=True
    ):
        busy[lane][cause] += end - begin
    causes: Sequence[str] = sorted({cause for parts in busy.values() for cause in parts})
    out.print(f"{window / 1e6:g} ms, dies and then channels")
    lanes_of = sorted(busy)
    all_of = [sum(busy[lane].values()) / window for lane in lanes_of]
    parts = {cause: [busy[lane][cause] / window for lane in lanes_of] for cause in causes}
    columns = [Column(name, [*map(percent, of)]) for name, of in (parts | {"busy": all_of}).items()]
    print_columns(out, [label("lane", map(str, lanes_of)), *columns])
