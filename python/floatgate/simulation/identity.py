"""Job of a simulation, and the digest that identifies its result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from floatgate import _core

from . import memory
from .configs import Resolved
from .load import Load
from .options import RunOptions


def digest_of(*what: object) -> str:
    """Returns 32 hexadecimal digits that are equal for values with equal JSON. They name the file
    of a stored result.
    """
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Job:
    """One simulation."""

    label: str
    """Label that distinguishes the job in an error; empty if it is the only job."""
    drive: Resolved
    load: Load
    how: RunOptions

    def pages(self) -> int:
        """Returns the logical pages of the map.

        Raises ConfigError if the drive cannot hold the workload.
        """
        try:
            size = self.drive.config.logical_bytes(self.load.span)
        except _core.ConfigError as error:
            raise labelled(error, self.label) from error
        return size // self.drive.config.page_bytes

    def check_memory(self) -> None:
        """Raises ConfigError if the drive does not fit into memory."""
        memory.check(self.pages(), self._page_takes, self.label)

    def memory_bytes(self) -> int:
        """Returns the bytes of memory that the drive takes. Raises as `pages` does."""
        return self.pages() * self._page_takes

    @property
    def _page_takes(self) -> int:
        return memory.VERIFIED if self.how.verify else memory.RUN

    @property
    def digest(self) -> str:
        """Digest of engine, config, requests and seed. It is equal for runs with equal results.

        A run with a Python policy has no digest: the policy's name does not identify its code.
        """
        assert not self.drive.guests, "two runs with one name for different code would be equal"
        load, how = self.load, self.how
        requests = (load.workload.name, load.workload.digest, load.workload.requests)
        played = (requests, load.span_bytes, how.seed, how.verify)
        return digest_of(_core.__version__, self.drive.config.text, *played)

    def notes(self, is_kept: bool) -> list[str]:
        """Returns notes on the workload, on the drive, and on a result or a start state that cannot
        be stored because of a Python policy. `is_kept` states whether results are stored.
        """
        names = " and ".join(sorted(self.drive.guests.names()))
        why = f"{names}: the name of a Python policy does not identify its code"
        return [
            *self.load.notes,
            *self.drive.notes,
            *self._without_handles(),
            *([f"not resumable: {why}, so this run is not kept"] if names and is_kept else []),
            *([f"start state not kept: {why}"] if names and self.how.start_cache else []),
        ]

    def _without_handles(self) -> list[str]:
        """Returns a note if the requests have placement handles, and the drive has none."""
        if not self.load.has_handles or "placement.scheme" in self.drive.guests.policies:
            return []
        scheme = self.drive.config.table()["placement"]["scheme"]
        if scheme == "host":
            return []
        why = f'the drive has none (placement.scheme = "{scheme}")'
        use = 'use placement.scheme = "host" with placement.handles'
        return [f"the placement handles of the trace have no effect: {why}; {use}"]


def labelled(error: BaseException, label: str) -> BaseException:
    """Returns the error with the label of its run."""
    if label and isinstance(error, (_core.ConfigError, _core.RunError)):
        labelled = type(error)(f"{label}: {error}")
        labelled.__dict__.update(vars(error))
        return labelled
    return error
