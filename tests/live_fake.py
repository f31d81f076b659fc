"""A control socket that answers from a recorded document instead of a drive."""

from __future__ import annotations

import contextlib
import copy
import json
import socket
import threading
from pathlib import Path
from typing import Any

import floatgate as fg

UNITS = 900
"""Erase units of the drive."""

SPREAD = {"count": 10, "mean": 12.5, "p50": 10.0, "p99": 40.0, "p999": 55.0, "max": 60.0}
NONE = dict.fromkeys(SPREAD, None) | {"count": 0}
DRIVE = {"start.fill": "none", "flash.channels": 2, "flash.dies": 2, "lanes.window": "5ms"}

SMART = {
    "host_bytes_written": 8192000,
    "host_bytes_read": 4096000,
    "host_writes": 2000,
    "host_reads": 1000,
    "media_bytes_written": 12288000,
    "media_bytes_read": 6144000,
    "media_bytes_erased": 11534336,
    "write_amplification": 1.5,
    "lifetime_media_bytes_written": 13107200,
    "power_cycles": 5,
    "unsafe_shutdowns": 2,
    "media_errors": 1,
    "available_spare_percent": 98.5,
    "available_spare_threshold_percent": 10.0,
    "percentage_used": 3.25,
    "endurance_erases": 3000,
    "erases_mean": 97.5,
    "erases_max": 110,
    "erases_min": 80,
    "critical_warnings": [],
}

HISTORY = {
    "interval_s": 1.0,
    "at_s": [1.0, 2.0, 3.0, 4.0],
    "write_amplification": [None, 1.0, 1.25, 1.5],
    "write_amplification_max": [None, 1.0, 2.5, 1.5],
    "hit_ratio": [None, 0.5, 0.75, 0.875],
    "hit_ratio_min": [None, 0.25, 0.75, 0.875],
    "host_mb_s": [0.0, 10.0, 20.0, 15.0],
    "host_mb_s_max": [0.0, 10.0, 80.0, 15.0],
    "requests_s": [0.0, 2500.0, 5000.0, 3750.0],
    "requests_s_max": [0.0, 2500.0, 20000.0, 3750.0],
    "free_units": [40, 30, 20, 12],
    "p99_us": [None, 100.0, 200.0, 150.0],
}

MOUNT = {
    "from_checkpoint": True,
    "journal_reads": 3,
    "tag_reads": 120,
    "moved": 0,
    "map_programs": 0,
    "erased": 1,
    "seconds": 0.012,
}


def run_document(seed: int = 1) -> dict[str, Any]:
    """Returns the document of a small run."""
    trace = "uniform:span=16MiB,requests=6k,reads=0.3,flush=0.01,interarrival=1ms"
    device = {"flash": {"pages_per_block": 32}, "mapping": {"scheme": "dftl", "cache": "4KiB"}}
    return fg.run(trace, device=device, set=DRIVE, seed=seed).to_dict()


def status_document() -> dict[str, Any]:
    """Returns the status of a drive with a shadow, on which every kind of event has happened."""
    result = run_document()
    server = {
        "connections": 2,
        "in_flight": 1,
        "requests": {"read": 1000, "write": 2000, "trim": 3, "zero": 4, "flush": 50},
        "errors": 1,
        "latency_us": {"read": SPREAD, "write": SPREAD | {"p99": 80.0}},
        "lock_wait_us": SPREAD,
        "lock_held_us": SPREAD,
        "parallel_reads": 7,
        "holding": {"error_us": SPREAD, "late_share": 0.01, "mean_excess": 0.125},
    }
    return {
        "floatgate": result["floatgate"],
        "pid": 4711,
        "image": None,
        "image_gone": None,
        "failure": None,
        "aged": False,
        "bytes": 16 << 20,
        "page_bytes": 4096,
        "device": "small-nvme",
        "timing": "simulated",
        "transport_us": 0.0,
        "uptime_s": 4.5,
        "result": result,
        "server": server,
        "history": HISTORY,
        "power": {"cuts": 0, "mount": MOUNT},
        "faults": {"read_error_share": 0.0, "read_only": False},
        "free_units": 12,
        "cleaning_begins_after_bytes": 8_482_560_000,
        "zones": None,
        "record": None,
        "also": [
            {"name": "twice", "result": run_document(2), "behind": 3, "failure": None},
            {"name": "broken", "result": None, "behind": 5, "failure": "a bug: it broke"},
        ],
        "smart": SMART,
        "warnings": ["the drive is nearly full"],
    }


ZONES = {
    "bytes": 16 << 20,
    "capacity_bytes": 12 << 20,
    "active_max": 4,
    "states": {"empty": 7, "implicitly_open": 2, "explicitly_open": 0, "closed": 0, "full": 5},
}
"""Zones of a drive that has some."""


def blocks_document(units: int = UNITS, pages: int = 32) -> dict[str, Any]:
    """Returns the state of erase units: every fourth is free, and one is open."""
    free = [number % 4 == 3 for number in range(units)]
    sealed = [not one and number > 0 for number, one in enumerate(free)]
    return {
        "units": units,
        "pages_per_unit": pages,
        "valid": [0 if one else number % (pages + 1) for number, one in enumerate(free)],
        "written": [0 if one else pages for one in free],
        "erases": [number % 7 for number in range(units)],
        "stream": [-1 if one else number % 2 for number, one in enumerate(free)],
        "sealed": sealed,
        "streams": 2,
    }


class FakeDrive:
    """Answers on a control socket, and records the requests."""

    def __init__(self, path: Path, status: dict[str, Any], units: int = UNITS) -> None:
        self.path = path
        self.status = copy.deepcopy(status)
        self.asked: list[dict[str, Any]] = []
        self.hold = threading.Event()
        """While this event is clear, answers wait."""
        self.hold.set()
        self._blocks = blocks_document(units)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        path.chmod(0o600)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> FakeDrive:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as lines:
            for line in lines:
                request = json.loads(line)
                self.asked.append(request)
                self.hold.wait()
                lines.write(json.dumps(self._answer(**request)).encode() + b"\n")
                lines.flush()

    def _answer(self, do: str, **given: Any) -> dict[str, Any]:
        if do in ("status", "stop", "smart"):
            return {"ok": self.status["smart"] if do == "smart" else self.status}
        if do == "blocks":
            return {"ok": self._blocks}
        if do == "lanes":
            return {"ok": {"lanes": self.status["result"]["lanes"]}}
        if do == "plug":
            self.status["power"]["cuts"] += 1
            return {"ok": self.status["power"]}
        if do == "faults":
            self.status["faults"] |= given
            return {"ok": self.status["faults"]}
        if do == "snapshot":
            if Path(given["to"]).exists():
                return {"error": f"{given['to']}: exists"}
            Path(given["to"]).write_bytes(b"image")
            return {"ok": {"path": given["to"], "bytes": 5}}
        if do in ("reset", "check"):
            return {"ok": {}}
        return {"error": f"{do}: unknown"}
