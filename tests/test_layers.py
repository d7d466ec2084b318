"""The one rule of the house: a package may import the ones above it, never one below."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "drgst"
FLOORS = [
    "errors",
    "files",
    "processes",
    "graph",
    "nn",
    "uncertainty",
    "selftrain",
    "recipes",
    "runs",
    "bench",
    "report",
    "estimator",
    "cli",
]


def imports(path: Path) -> list[tuple[int, str]]:
    """(line, floor) of every drgst import of a file, also the ones inside functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module] if node.module != "drgst" else [f"drgst.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found += [(node.lineno, n.split(".")[1]) for n in names if n.startswith("drgst.")]
    return found


def test_no_import_points_down() -> None:
    """Fails on the first import of a lower floor, and on a file that belongs to no floor."""
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        floor = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if floor in ("__init__", "__main__"):
            continue
        assert floor in FLOORS, f"{path} is on no floor of {FLOORS}"
        for line, other in imports(path):
            if other in FLOORS and FLOORS.index(other) > FLOORS.index(floor):
                wrong.append(f"{path.relative_to(SOURCE)}:{line} imports drgst.{other}")
    assert not wrong, "\n".join(wrong)


def test_relative_imports_are_not_used() -> None:
    """The rule above reads absolute imports only, so there must be no others."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}:{node.lineno}"
