"""Renews docs/images/report.png, the picture of a report in the README.

    python tools/readme_picture.py

Runs the command of the README's section "A report", opens the report in Chromium and takes a
picture of the top of the page. The PNG stores the numbers of the table "Main metrics" as text. A
test compares them with the output of the command.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "report.png"
KEY = b"floatgate"
WIDTH = 1280
MARGIN = 40
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def command() -> list[str]:
    """Returns the words of the README's command, starting with `floatgate`."""
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## A report\n")[2].partition("\n## ")[0]
    text = re.sub(r"\\\n\s*", "", section)
    found = re.search(r"^    (floatgate compare .*)$", text, re.MULTILINE)
    assert found, "the README has no command of a report"
    return shlex.split(found[1])


def table(report: Path) -> list[list[str]]:
    """Returns the cells of the table "Main metrics" of a report, row by row."""
    html = report.read_text("utf-8")
    rows = re.search(r"<caption>Main metrics.*?<tbody>(.*?)</tbody>", html, re.DOTALL)
    assert rows, "the report has no table of main metrics"
    cells = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>", re.DOTALL)
    return [
        [re.sub(r"<[^>]+>|\s+", " ", cell).strip() for cell in cells.findall(row)]
        for row in rows[1].split("</tr>")
        if cells.search(row)
    ]


def texts(png: bytes) -> dict[bytes, bytes]:
    """Returns the texts (tEXt chunks) of a PNG by their keys."""
    found = {}
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, content = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if kind == b"tEXt":
            key, _, text = content.partition(b"\0")
            found[key] = text
        at += 12 + length
    return found


def with_text(png: bytes, text: bytes) -> bytes:
    """Returns the PNG with a text before its last chunk."""
    body = b"tEXt" + KEY + b"\0" + text
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:-12] + chunk + png[-12:]


def main() -> None:
    from playwright import sync_api

    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-m", *command(), "-q"]
        subprocess.run(call, cwd=folder, check=True)
        report = Path(folder, call[call.index("--out") + 1], "report.html")
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": 900})
            page.goto(report.as_uri())
            page.wait_for_selector("html[data-drawn]", state="attached")
            # The picture ends above the heading that follows the first figure.
            box = page.locator("h2").nth(1).bounding_box()
            assert box, "the report has no second figure"
            height = round(box["y"]) - MARGIN
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
            png = page.screenshot(full_page=True, clip=clip)
            browser.close()
        shown = json.dumps(table(report)).encode("ascii")
    PICTURE.write_bytes(with_text(png, shown))
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
