"""Identity of this build of the engine."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from floatgate import _core


@cache
def build() -> str:
    """Returns a digest of the engine's binary, 16 hexadecimal digits. Two builds can have the same
    version, but not the same digest.
    """
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]
