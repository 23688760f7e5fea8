"""Finds the program: named by a variable, in this package, or on the PATH."""

import os
import shutil
import sys
from pathlib import Path

VARIABLE = "ROWHOUSE_BINARY"
PACKAGED = Path(__file__).parent / "bin" / "rowhouse"


def find():
    """Returns the path of the program; raises FileNotFoundError if there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"{VARIABLE} names no program: {named}")
        return os.path.abspath(named)
    if PACKAGED.exists():
        return str(PACKAGED)
    on_path = shutil.which("rowhouse")
    # The script of this package runs what this function returns.
    if on_path and Path(on_path).read_bytes()[:2] != b"#!":
        return on_path
    raise FileNotFoundError(
        f"no program rowhouse: set {VARIABLE}, install a wheel of rowhouse-server for this platform, or put it on the PATH"
    )


def main():
    """Becomes the program."""
    program = find()
    os.execv(program, [program, *sys.argv[1:]])
