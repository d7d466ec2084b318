"""The pages name parts, files and pages that exist."""

import re
from pathlib import Path

import pytest

from drgst.selftrain.parts import SLOTS

HOME = Path(__file__).parents[1]
PAGES = [HOME / "README.md", HOME / "CONTRIBUTING.md", HOME / "results" / "README.md", *(HOME / "docs").rglob("*.md")]
EXAMPLES = {"src/drgst/recipes/entropy.py"}  # CONTRIBUTING.md writes them


def names_of(page: Path) -> str:
    return page.relative_to(HOME).as_posix()


def test_recipes_page_lists_every_part() -> None:
    text = (HOME / "docs" / "recipes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]*[^|`] \| (`.*`) \|$", text, flags=re.MULTILINE)
    listed = {slot: set(re.findall(r"`(\w+)`", parts)) for slot, parts in rows}
    assert {slot: listed.get(slot) for slot in SLOTS} == {
        slot: {part.__name__ for part in parts} for slot, parts in SLOTS.items()
    }


@pytest.mark.parametrize("page", PAGES, ids=names_of)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=names_of)
def test_named_source_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = set(re.findall(r"\b(?:src/drgst|scripts|benchmarks)/[\w/]*(?:\.py|\.txt|/)?", text)) - EXAMPLES
    assert sorted(path for path in found if not (HOME / path).exists()) == []
