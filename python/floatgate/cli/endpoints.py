"""Options of `floatgate serve` for the endpoint of a drive: over NBD or over NVMe/TCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from . import output

if TYPE_CHECKING:
    from floatgate.live.nbdkit import Endpoint as NbdEndpoint
    from floatgate.live.nvme import Endpoint as NvmeEndpoint

HANDLES = 8
"""Placement handles of a new drive that is served over NVMe."""

TlsMode = Literal["on", "require"]


@dataclass(frozen=True)
class Where:
    """The options as given."""

    socket: Path | None
    port: int | None
    listen: str | None
    tls: TlsMode | None
    tls_certificates: Path | None
    tls_psk: Path | None
    tls_verify_peer: bool
    nvme: bool
    handles: int | None
    block_size: str | None
    allow_remote: bool
    zns: bool

    def check(self) -> None:
        """Raises `BadParameter` for options that conflict, or that need another option."""
        self.tls_options()
        if self.nvme:
            return self._check_nvme()
        given = {
            "--handles": self.handles is not None,
            "--block-size": self.block_size is not None,
            "--allow-remote": self.allow_remote,
            "--zns": self.zns,
        }
        for option in (name for name, is_given in given.items() if is_given):
            raise typer.BadParameter("is for NVMe; expected --nvme", param_hint=f"'{option}'")
        if self.socket is not None and self.port is not None:
            raise typer.BadParameter("is for TCP; leave out --socket", param_hint="'--port'")
        if self.listen is not None and self.port is None:
            raise typer.BadParameter("is for TCP; expected --port", param_hint="'--listen'")

    def _check_nvme(self) -> None:
        given = {
            "--socket": self.socket is not None,
            "--tls": self.tls is not None,
            "--tls-certificates": self.tls_certificates is not None,
            "--tls-psk": self.tls_psk is not None,
            "--tls-verify-peer": self.tls_verify_peer,
        }
        for option in (name for name, is_given in given.items() if is_given):
            raise typer.BadParameter("is for NBD; leave out --nvme", param_hint=f"'{option}'")
        if self.zns and self.handles == 0:
            raise typer.BadParameter(
                "0 given; expected at least 1 with --zns: each active zone has a handle",
                param_hint="'--handles'",
            )

    def _with_zones_of(self, image: Path | None) -> Where:
        """Returns the options for the drive of an image, which is a drive in zones or is none.

        Raises ConfigError for `--zns` with a drive without zones, and for a drive in zones over
        NBD.
        """
        if image is None or not image.exists():
            return self
        from floatgate._core import ConfigError
        from floatgate.live import images

        is_zoned = images.info(image)["zoned"]
        if self.zns and not is_zoned:
            raise ConfigError(
                f"--zns: {image} exists and is a drive without zones; leave out --zns, or name "
                "another image"
            )
        if is_zoned and not self.nvme:
            raise ConfigError(f"{image} is a drive in zones; expected --nvme to serve it")
        return replace(self, zns=is_zoned)

    def sockets(self, control: Path | None) -> tuple[Path | None, Path]:
        from floatgate.live import places

        default = places.default_socket()
        is_tcp = self.nvme or self.port is not None
        socket = self.socket or (None if is_tcp else default)
        return socket, control or places.control_of(socket or default)

    def claimed(
        self, socket: Path | None, control: Path, image: Path | None
    ) -> NbdEndpoint | NvmeEndpoint:
        """Returns the endpoint, after a check that it and the control socket can be made.

        Raises ConfigError, also for a wrong key file or folder, or RunError.
        """
        from floatgate.live import serving

        endpoint = self._with_zones_of(image)._endpoint(socket)
        serving.claim(endpoint, control)
        return endpoint

    def _endpoint(self, socket: Path | None) -> NbdEndpoint | NvmeEndpoint:
        from floatgate.live import nbdkit, nvme

        listen = self.listen or "127.0.0.1"
        if self.nvme:
            block_bytes = int(self.block_size or nvme.BLOCK_BYTES)
            port = self.port or nvme.PORT
            return nvme.Endpoint(listen, port, self.allow_remote, block_bytes, self.zns)
        needed = nbdkit.Tls.needed(self.tls, self.tls_psk, self.tls_certificates)
        return nbdkit.Endpoint(socket, listen, self.port or 0, needed)

    def tls_options(self) -> list[str]:
        certificates, psk = self.tls_certificates, self.tls_psk
        given = {
            "--tls-certificates": certificates,
            "--tls-psk": psk,
            "--tls-verify-peer": self.tls_verify_peer,
        }
        if self.tls is None:
            for option in (name for name, value in given.items() if value):
                raise typer.BadParameter(
                    "needs --tls require, or --tls on", param_hint=f"'{option}'"
                )
            return []
        found = [f"--tls={self.tls}"]
        found += [] if certificates is None else [f"--tls-certificates={certificates.absolute()}"]
        found += [] if psk is None else [f"--tls-psk={psk.absolute()}"]
        return found + ["--tls-verify-peer"] * self.tls_verify_peer

    def threads(self, wanted: int | None, timing: str, depth: int) -> int:
        """Returns the number of a client's requests served at a time; prints a warning, if any."""
        from floatgate.live import nbdkit, nvme

        if self.nvme:
            return nvme.threads(wanted, timing, depth)
        several, warning = nbdkit.threads(nbdkit.find(), wanted, timing, depth)
        if warning is not None:
            output.say(f"warning: {warning}")
        return several

    def with_handles(
        self, settings: Mapping[str, Any], device: str | None, image: Path | None
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns the settings of the drive with its placement handles, and the options of those
        that are not in `settings`. An NVMe drive has `HANDLES` handles unless it has another
        placement or cannot have handles. An existing drive keeps its handles, so that a command
        also opens the drive that it has made.
        """
        if not self.nvme or self.handles == 0:
            return dict(settings), {}
        asked = {"placement.scheme": "host", "placement.handles": self.handles or HANDLES}
        if self.handles is None and not self._may_have_handles(settings, asked, device, image):
            return dict(settings), {}
        for key in sorted(asked.keys() & settings.keys()):
            if self.handles is not None and settings[key] != asked[key]:
                from floatgate._core import ConfigError

                raise ConfigError(
                    f"--handles {self.handles}: --set {key}={settings[key]} given, too; expected "
                    "one of them"
                )
        named = dict.fromkeys(asked.keys() - settings.keys(), "--handles")
        return {**settings, **asked}, named

    def _may_have_handles(
        self,
        settings: Mapping[str, Any],
        asked: Mapping[str, Any],
        device: str | None,
        image: Path | None,
    ) -> bool:
        from floatgate._core import ConfigError
        from floatgate.simulation import configs

        if image is not None and image.exists():
            return _has_default_handles(image) and (device is not None or bool(settings))
        try:
            placement = configs.resolve(device, settings).table()["placement"]["scheme"]
            configs.resolve(device, {**settings, **asked})
        except ConfigError:
            # The drive cannot have handles, or its config is wrong and is refused later.
            return False
        return bool(placement == "single") and not any(
            key.startswith("placement.") for key in settings
        )


def _has_default_handles(image: Path) -> bool:
    from floatgate.live import images

    placement = images.info(image)["config"]["placement"]
    return (placement["scheme"], placement["handles"]) == ("host", HANDLES)
