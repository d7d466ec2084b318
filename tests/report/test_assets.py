"""Style of the sources of the pages that no linter checks."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

ASSETS = Path(str(files("drgst.report"))) / "assets"
SOURCES = sorted(path for path in ASSETS.rglob("*") if path.suffix in (".js", ".css", ".html"))
SCRIPTS = [path for path in SOURCES if path.suffix == ".js"]
TOP_LEVEL = re.compile(r"^(?:export )?(?:const|let|function|class) (\w+)", re.MULTILINE)


def test_there_are_sources() -> None:
    """The checks below have something to check."""
    assert {path.suffix for path in SOURCES} == {".js", ".css", ".html"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ASSETS).as_posix())
def test_lines_are_short(path: Path) -> None:
    """At most 120 characters, as in Python."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    assert [number for number, line in lines if len(line) > 120] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ASSETS).as_posix())
def test_names_say_what_they_are(path: Path) -> None:
    """No name of one letter at the top level of a module, and a first line that says what the module does."""
    text = path.read_text(encoding="utf-8")
    assert [name for name in TOP_LEVEL.findall(text) if len(name) < 2] == []
    assert text.startswith("// ")


def test_every_module_is_used() -> None:
    """Each is the entry of a page or imported by another module."""
    imported = {
        (path.parent / target).resolve()
        for path in SCRIPTS
        for target in re.findall(r"from '([^']+)';", path.read_text(encoding="utf-8"))
    }
    assert [path for path in SCRIPTS if path.resolve() not in imported and path.name != "main.js"] == []
