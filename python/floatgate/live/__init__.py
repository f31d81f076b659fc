"""Live drive: `Live` queries and controls a drive that `floatgate serve` has started.

See docs/live.md.

from floatgate.live import Live
with Live("/run/user/1000/floatgate/drive.control") as drive:
    print(drive.status().result.write_amplification)
"""

from __future__ import annotations

from .client import Live
from .documents import Blocks, Faults, Power, Smart, Snapshot, Status

__all__ = ["Blocks", "Faults", "Live", "Power", "Smart", "Snapshot", "Status"]
