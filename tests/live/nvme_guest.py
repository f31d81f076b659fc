"""A virtual machine whose kernel and tools are hosts of an NVMe/TCP drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from live_guest import HOST, MODULES, NETWORK, START_NETWORK, TOOLS, system
from live_shell import Shell
from nvme_drive import NvmeDrive

NVME_MODULES = ("virtio_net", "nvme-tcp", "zonefs", *MODULES)
NVME_TOOLS = ("nvme", "fio", "dd", *TOOLS)

HOST_ID = "11111111-2222-3333-4444-555555555555"

APPEARS = "until [ -b /dev/{0} ]; do sleep 0.1; done"
DISAPPEARS = "until [ ! -e /sys/class/nvme/{0} ]; do sleep 0.1; done"


def nvme_system(directory: Path) -> tuple[Path, Path]:
    """Makes a kernel and an initramfs with the tools of NVMe hosts."""
    names = {
        "etc/nvme/hostnqn": f"nqn.2014-08.org.nvmexpress:uuid:{HOST_ID}\n".encode(),
        "etc/nvme/hostid": f"{HOST_ID}\n".encode(),
    }
    return system(directory, NVME_TOOLS, NVME_MODULES, names)


class NvmeGuest(Shell):
    """A virtual machine with a network to a served drive."""

    def __init__(self, made: tuple[Path, Path], drive: NvmeDrive, functions: str = "") -> None:
        self._drive = drive
        functions = 'PATH=$PATH:/tools\nnvme() { /tools/nvme "$@"; }\n' + functions
        super().__init__(made, drive.directory, NETWORK, START_NETWORK + functions)

    def connect(self, *options: str, drive: NvmeDrive | None = None) -> str:
        """Connects the kernel to the drive, or to another one. Returns the name of the controller;
        the block device of its namespace has `n1` behind this name."""
        drive = drive or self._drive
        where = f"-t tcp -a {HOST} -s {drive.port} -n {drive.nqn}"
        said = self.run(f"nvme connect {where} -o json {' '.join(options)}")
        device = str(json.loads(said)["device"])
        self.run(APPEARS.format(f"{device}n1"))
        return device

    def disconnect(self, device: str) -> None:
        """Disconnects the kernel from the drive."""
        self.run(f"nvme disconnect -d {device}")
        self.run(DISAPPEARS.format(device))

    def ask(self, command: str) -> Any:
        """Runs a command of nvme-cli, and returns its JSON."""
        said = self.run(f"nvme {command} -o json")
        return json.loads(said[said.index("{") :])
