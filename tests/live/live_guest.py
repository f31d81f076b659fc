"""A Linux virtual machine in QEMU: Debian's kernel, an initramfs made here, and a live drive as
disk or over a network."""

from __future__ import annotations

import lzma
import os
import re
import signal
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from live_needs import needs, program

KERNELS = sorted(Path("/boot").glob("vmlinuz-*-amd64")) if Path("/boot").is_dir() else []
MODULES = ("virtio_blk", "virtio_pci", "ext4", "f2fs", "crc32c_generic", "crc32_generic")
TOOLS = ("mke2fs", "e2fsck", "mkfs.f2fs", "fsck.f2fs")

PROMPT_S = 300
"""Seconds of silence after which the virtual machine counts as hung. An emulated one boots in a
few."""

SETTINGS = (
    "console=ttyS0 panic=-1 quiet reboot=t tsc=reliable no_timer_check mitigations=off "
    "random.trust_cpu=on cryptomgr.notests"
)

AWAIT_DISK = "while [ ! -b /dev/vda ]; do sleep 0.05; done\n"
"""Begins a job that uses the disk."""

NETWORK = ("-netdev", "user,id=network", "-device", "virtio-net-pci,netdev=network,romfile=")
"""A network in which the address HOST is that of loopback on this machine."""

START_NETWORK = """
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
"""
"""Begins a job that uses the network."""

HOST = "10.0.2.2"

INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /mnt
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod /modules/$module || echo "no $module"; done
exec >/dev/ttyS1 2>&1
. /job
"""


def needs_guest(*more: str) -> list[pytest.MarkDecorator]:
    """Skips a test where no virtual machine can boot, and names the missing packages."""
    kernel = pytest.mark.skipif(
        not KERNELS, reason="no kernel of Debian in /boot (package: linux-image-amd64)"
    )
    return [needs("qemu-system-x86_64", "busybox", *TOOLS, *more), kernel]


def accelerator() -> str:
    """Returns what runs the virtual machine's instructions: `kvm`, or `tcg` for software
    emulation."""
    flags = re.search(r"^flags\s*:.*\b(vmx|svm)\b", Path("/proc/cpuinfo").read_text(), re.M)
    return "kvm" if flags and os.access("/dev/kvm", os.R_OK | os.W_OK) else "tcg"


def _kernel(path: Path) -> bytes:
    """Returns the kernel as ELF if it is packed with xz, because it unpacks itself slowly when
    emulated.

    The field offsets come from the boot protocol, Documentation/x86/boot.rst of Linux.
    """
    image = path.read_bytes()
    setup = (image[0x1F1] or 4) + 1
    offset, length = struct.unpack_from("<II", image, 0x248)
    packed = image[setup * 512 + offset : setup * 512 + offset + length]
    if packed[:6] != b"\xfd7zXZ\0":
        return image
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(packed)


def _modules(version: str, names: Sequence[str]) -> list[Path]:
    """Returns the modules and their dependencies, in load order."""
    found: dict[Path, None] = {}
    for module in names:
        command = [program("modprobe") or "modprobe", "-S", version, "-D", module]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in said.splitlines():
            if line.startswith("insmod "):
                found[Path(line.split()[1])] = None
    return list(found)


def _libraries(binary: Path) -> list[Path]:
    said = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=True).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", said)]


def archive(files: Mapping[str, bytes]) -> bytes:
    """Returns a cpio archive, in the format of
    Documentation/driver-api/early-userspace/buffer-format.rst.

    It contains the directories of the files, and marks all files as executable.
    """
    entries = {str(parent): None for name in files for parent in Path(name).parents[:-1]}
    pieces = []
    for name, content in [*sorted(entries.items()), *files.items(), ("TRAILER!!!", b"")]:
        mode = 0o40755 if content is None else 0o100755
        data = content or b""
        numbers = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % number for number in numbers)
        pieces.append(_padded(head + name.encode() + b"\0") + _padded(data))
    return b"".join(pieces)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def disk(uri: str) -> tuple[str, ...]:
    """Returns the arguments of QEMU for the drive at an NBD address as /dev/vda."""
    drive = f"file={uri},format=raw,if=virtio,cache=none,discard=unmap"
    return ("-drive", f"{drive},werror=report,rerror=report")


def system(
    directory: Path,
    tools: Sequence[str],
    modules: Sequence[str] = MODULES,
    more: Mapping[str, bytes] | None = None,
) -> tuple[Path, Path]:
    """Makes a kernel and an initramfs that contains `tools`, `modules`, and `more` files."""
    kernel = KERNELS[-1]
    files = {"init": INIT.encode(), "bin/busybox": Path(program("busybox") or "").read_bytes()}
    files |= more or {}
    for tool in tools:
        binary = Path(program(tool) or "")
        files[f"tools/{tool}"] = binary.read_bytes()
        for library in _libraries(binary):
            files[str(library)[1:]] = library.read_bytes()
    paths = _modules(kernel.name.removeprefix("vmlinuz-"), modules)
    for module in paths:
        files[f"modules/{module.name}"] = module.read_bytes()
    files["modules/order"] = "\n".join(module.name for module in paths).encode()
    made = directory / "kernel", directory / "initramfs"
    made[0].write_bytes(_kernel(kernel))
    made[1].write_bytes(archive(files))
    return made


class Guest:
    """A virtual machine that runs a job, a shell script, and has the devices of `attached`, which
    are arguments of QEMU.

    The job's output goes to a serial line, and from there to a file, byte by byte, or to another
    character device of QEMU.
    """

    def __init__(
        self,
        made: tuple[Path, Path],
        directory: Path,
        attached: Sequence[str],
        job: str,
        serial: str | None = None,
    ) -> None:
        self.said_by_kernel = directory / "kernel.txt"
        self.said_by_job = directory / "job.txt"
        kernel, base = made
        initramfs = directory / "job.cpio"
        initramfs.write_bytes(base.read_bytes() + archive({"job": job.encode()}))
        command = ["qemu-system-x86_64", "-nodefaults", "-display", "none"]
        command += ["-machine", "pc", "-accel", accelerator(), "-cpu", "max", "-m", "512"]
        command += ["-kernel", str(kernel), "-initrd", str(initramfs), "-append", SETTINGS]
        command += ["-serial", f"file:{self.said_by_kernel}"]
        command += ["-serial", serial or f"file:{self.said_by_job}", *attached, "-no-reboot"]
        self.said_by_job.unlink(missing_ok=True)
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Freezes the virtual machine, so that it sends no more requests to the drive."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets a frozen virtual machine continue."""
        self._process.send_signal(signal.SIGCONT)

    def check(self) -> None:
        """Checks that the virtual machine runs."""
        assert self._process.poll() is None, self.report()

    def lines(self) -> list[str]:
        """Returns the complete lines that the job has written so far."""
        if not self.said_by_job.exists():
            return []
        text = self.said_by_job.read_text(errors="replace")
        return text.replace("\r", "").split("\n")[:-1]

    def wait(self, count: int, beginning: str) -> None:
        """Returns once the job has written `count` lines that start with `beginning`."""
        end = time.monotonic() + PROMPT_S
        while sum(line.startswith(beginning) for line in self.lines()) < count:
            assert self._process.poll() is None, self.report()
            assert time.monotonic() < end, self.report()
            time.sleep(0.02)

    def finish(self) -> list[str]:
        """Waits until the virtual machine has switched itself off, and returns the job's lines."""
        assert self._process.wait(PROMPT_S) == 0, self.report()
        return self.lines()

    def report(self) -> str:
        """Returns the last lines of the kernel and of the job."""
        kernel = self.said_by_kernel.read_text(errors="replace")
        return "\n".join(["", kernel[-2000:], *self.lines()[-40:]])
