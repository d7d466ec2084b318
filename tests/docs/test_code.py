"""The Python of every page runs, page by page, in a folder of its own; commands that pages name exist."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from drgst.cli import app

HOME = Path(__file__).parents[2]
PAGES = [HOME / "README.md", HOME / "CONTRIBUTING.md", HOME / "results" / "README.md"]
PAGES += [p for p in sorted((HOME / "docs").rglob("*.md")) if not {"_build", "gallery", "notebook"} & {*p.parts}]
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
SLOW = {"guides/sklearn.md", "guides/pyg.md", "README.md", "start.md"}  # the last three train networks on Cora
WRITTEN = {"CONTRIBUTING.md"}  # its blocks are files to write


def blocks(page: Path, *kinds: str) -> list[str]:
    return [text for kind, text in FENCED.findall(page.read_text(encoding="utf-8")) if kind in kinds]


def name(page: Path) -> str:
    return page.relative_to(HOME).as_posix().removeprefix("docs/")


def with_python() -> list[Any]:
    pages = [page for page in PAGES if name(page) not in WRITTEN and blocks(page, "python")]
    return [pytest.param(p, id=name(p), marks=[pytest.mark.slow] * (name(p) in SLOW)) for p in pages]


@pytest.mark.parametrize("page", with_python())
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch_geometric")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for text in blocks(page, "python"):
        exec(compile(text, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_python_of_a_page_is_sound(page: Path) -> None:
    for text in blocks(page, "python"):
        compile(re.sub(r"^ {3}", "", text, flags=re.MULTILINE) if text.startswith("   ") else text, str(page), "exec")


def command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that ``drgst WORDS`` runs, and the words after its name."""
    found = typer.main.get_command(app)
    while words and words[0] in getattr(found, "commands", {}):
        found, words = found.commands[words[0]], words[1:]
        found = found.load() if hasattr(found, "load") else found
    return found, words


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_of_a_page_have_these_options(page: Path) -> None:
    """Of every line ``drgst ...`` in a block, without its comment and what it pipes to."""
    for text in blocks(page, "", "console"):
        for line in text.replace("\\\n", " ").splitlines():
            line = line.strip().removeprefix("$ ")
            if not line.startswith("drgst ") or " on cora (" in line or "[OPTIONS]" in line:
                continue
            words = shlex.split(line.partition(" | ")[0], comments=True)[1:]
            if words and words[0] == "--import":
                words = words[2:]
            found, rest = command(words)
            known = {option for parameter in found.params for option in parameter.opts} | {"--help", "-h"}
            given = {word.partition("=")[0] for word in rest if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)}
            assert given <= known, f"{line}: {found.name} has no option {', '.join(sorted(given - known))}"
