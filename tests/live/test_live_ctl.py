"""`floatgate.live.Live` and `floatgate ctl`, on a control socket that answers from a document."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from live_fake import ZONES, FakeDrive, blocks_document

from floatgate import RunError
from floatgate.live import Live


def test_the_status_is_typed_with_the_whole_result(
    drive: FakeDrive, document: dict[str, Any]
) -> None:
    with Live(drive.path) as live:
        status = live.status()
        assert status.result.to_dict() == document["result"]
        assert status.also[0].result is not None
        assert status.also[0].result.write_amplification == pytest.approx(
            document["also"][0]["result"]["write_amplification"]
        )
        assert status.server.holding is not None
        assert status.server.holding.error_us.p99 == 40.0
        assert (status.also[1].result, status.also[1].behind) == (None, 5)
        assert status.all_warnings[-1] == "also broken: it has failed: a bug: it broke"
        assert (status.image, status.record) == (None, None)
        drive.status["record"] = {"path": "/x.parquet.part", "requests": 7}
        drive.status["server"]["holding"] = None
        status = live.status()
        assert status.record is not None and status.record.requests == 7
        assert status.server.holding is None


def test_a_field_that_is_missing_is_named(drive: FakeDrive) -> None:
    del drive.status["server"]["holding"]
    with Live(drive.path) as live, pytest.raises(ValueError, match=r"status\.server: holding exp"):
        live.status()
    del drive.status["result"]["wear"]
    with Live(drive.path) as live, pytest.raises(ValueError, match=r"wear expected"):
        live.status()


def test_each_request_says_what_it_is_to_say(drive: FakeDrive, tmp_path: Path) -> None:
    with Live(drive.path) as live:
        assert live.blocks().valid[:4] == (0, 1, 2, 0)
        assert live.smart().critical_warnings == ()
        assert len(live.lanes(2.5).spans.lane) > 10
        assert live.plug().cuts == 1
        assert live.faults(read_error_share=0.5).read_error_share == 0.5
        assert live.faults(read_only=True).read_only
        assert live.snapshot(tmp_path / "copy.img").bytes == 5
        live.reset()
        live.check()
    assert [asked["do"] for asked in drive.asked] == [
        *("blocks", "smart", "lanes", "plug", "faults", "faults", "snapshot", "reset", "check")
    ]
    assert drive.asked[2]["window_ms"] == 2.5
    assert drive.asked[4:6] == [
        {"do": "faults", "read_error_share": 0.5},
        {"do": "faults", "read_only": True},
    ]


def test_what_is_refused_or_gone_is_a_run_error(drive: FakeDrive, tmp_path: Path) -> None:
    taken = tmp_path / "taken.img"
    taken.write_bytes(b"")
    with Live(drive.path) as live, pytest.raises(RunError, match=r"snapshot: .*taken.img: exists"):
        live.snapshot(taken)
    with pytest.raises(RunError, match="no server there"):
        Live(tmp_path / "nobody.control")


def test_ctl_prints_for_people_and_as_json(
    drive: FakeDrive, document: dict[str, Any], cli: Any
) -> None:
    def call(*words: object) -> str:
        done = cli("ctl", "--control", drive.path, *words)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        return done.stdout

    assert json.loads(call("status", "--json")) == document
    assert json.loads(call("blocks", "--json")) == blocks_document()
    assert json.loads(call("smart", "--json")) == document["smart"]
    assert json.loads(call("lanes", "--json")) == {"lanes": document["result"]["lanes"]}
    text = call("status")
    for words in (
        "small-nvme",
        "write amplification",
        "answers missed by",
        "also twice",
        "it began erased",
        "nearly full",
        "read, as modelled",
        "in reserve",
        "cleaning begins after 7.9 GiB more",
        "warning: also twice: ",
        "also broken it has failed",
        "warning: also broken: it has failed: a bug: it broke",
        "1.00 % of the replies came more than a tenth later than the drive answers; ",
        "on average replies took 12.50 % longer",
    ):
        assert words in " ".join(text.split()), words
    assert "zones" not in text
    drive.status["zones"] = ZONES
    text = " ".join(call("status").split())
    assert "zones of 12 MiB: 7 empty, 2 implicitly open, 5 full" in text
    assert [line.split() for line in call("blocks").splitlines()[1:4]] == [
        ["free", "225"],
        ["being", "written", "1"],
        ["full", "674"],
    ]
    assert "98.5 %" in call("smart")
    assert "busy" in call("lanes")
    assert "500" not in call("faults", "--read-error-share", "0.25")
    assert "25 %" in call("faults")


def test_a_server_that_hangs_is_given_up(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "mute.control"))
        mute.listen()
        words = "no answer to status in time"
        with Live(tmp_path / "mute.control", 0.1) as live, pytest.raises(RunError, match=words):
            live.status()


def test_ctl_ends_as_other_commands_do(drive: FakeDrive, tmp_path: Path, cli: Any) -> None:
    done = cli("ctl", "--control", tmp_path / "nobody", "status")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("floatgate: ") and done.stderr.count("\n") == 1
    (tmp_path / "file").touch()
    done = cli("ctl", "--control", "file", "status")
    assert (done.returncode, "file: is no socket; expected the control" in done.stderr) == (1, True)
    done = cli("ctl", "--control", drive.path, "faults", "--read-error-share", "2")
    assert done.returncode == 2
    done = cli("ctl", "--control", drive.path, "snapshot", "copy.img")
    assert done.returncode == 0
    assert (tmp_path / "copy.img").exists(), "a name is from where the command was called"
    done = cli("ctl", "--control", drive.path, "snapshot", "copy.img")
    assert (done.returncode, "exists" in done.stderr) == (1, True)
