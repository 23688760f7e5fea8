"""The program in docs/python.md prints what docs/cookbook.md says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import rowhouse

DOCS = Path(__file__).parents[2] / "docs"


def block(page: str, info: str) -> str:
    """Returns the only block that begins with this line."""
    _, text = (DOCS / page).read_text().split(f"\n```{info}\n")
    return text.split("\n```\n")[0] + "\n"


def test_the_program_prints_what_the_cookbook_says(url: str, tmp_path: Path) -> None:
    program = tmp_path / "cookbook.py"
    program.write_text(block("python.md", "python cookbook"))
    printed = subprocess.run(
        [sys.executable, program, url], check=True, stdout=subprocess.PIPE, text=True, timeout=60
    )
    with rowhouse.open(url) as database:
        database.drop("mail")
    assert printed.stdout == block("cookbook.md", "text")
