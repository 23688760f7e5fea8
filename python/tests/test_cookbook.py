"""The program in docs/cookbook prints what the others do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import rowhouse

COOKBOOK = Path(__file__).parents[2] / "docs/cookbook"


def test_the_program_prints_what_the_cookbook_says(url: str) -> None:
    program = COOKBOOK / "module.py"
    printed = subprocess.run(
        [sys.executable, program, url], check=True, stdout=subprocess.PIPE, text=True, timeout=60
    )
    with rowhouse.open(url) as database:
        database.drop("mail")
    assert printed.stdout == (COOKBOOK / "printed.txt").read_text()
