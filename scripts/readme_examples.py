"""Runs the examples of README.md and of pages in docs/ and writes what they print.

The ``python`` blocks of a page run one after the other in one namespace. In a ``console`` block every line that starts
with ``$`` is a command, and the lines below it are replaced by its standard output. All blocks of a page run in one
temporary folder. An example that fails ends the script, and its page stays as it was.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from drgst.files import write_text

HOME = Path(__file__).parents[1]
EXECUTED = ("start", "guides/tables")  # pages with output of commands; tests/docs runs the Python of every page
PAGES = (HOME / "README.md", *(HOME / "docs" / f"{name}.md" for name in EXECUTED))
BLOCK = re.compile(r"(?<=```)(python|console)\n(.*?)(?=```)", flags=re.DOTALL)


def printed(command: str) -> str:
    """The standard output of a shell command without trailing blanks."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path}
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines() if line.strip())


def example(kind: str, text: str, namespace: dict[str, Any]) -> str:
    """Run one block; the block with the output of its commands."""
    if kind == "python":
        exec(text, namespace)
        return text
    commands = [line for line in text.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{printed(line[2:])}\n" for line in commands)


def rewritten(page: str) -> str:
    """Run every block of ``page``; the page with the output of its commands."""
    namespace: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(lambda m: f"{m[1]}\n{example(m[1], m[2], namespace)}", page)


def main() -> None:
    """Rewrite the pages."""
    for page in PAGES:
        write_text(page, rewritten(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
