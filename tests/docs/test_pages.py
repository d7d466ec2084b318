"""The pages of the site: they name what exists, every one can be reached, and their code is sound."""

import re
from pathlib import Path

import pages
import pytest

from drgst.selftrain.parts import SLOTS

HOME = Path(__file__).parents[2]
DOCS = HOME / "docs"
GENERATED = ("gallery", "_build", "_made")

OUTSIDE = pages.outside()
INSIDE = [p for p in DOCS.rglob("*.md") if not {*p.relative_to(DOCS).parts} & {*GENERATED}]
INSIDE = [p for p in INSIDE if p.relative_to(DOCS).with_suffix("").as_posix() not in OUTSIDE]
PAGES = [HOME / "README.md", *(HOME / path for path in OUTSIDE.values()), *INSIDE]
EXAMPLES = {"src/drgst/recipes/entropy.py"}  # CONTRIBUTING.md writes them


def names_of(page: Path) -> str:
    return page.relative_to(HOME).as_posix()


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_recipes_page_lists_every_part() -> None:
    text = (DOCS / "methods" / "recipes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]*[^|`] \| (`.*`) \|$", text, flags=re.MULTILINE)
    listed = {slot: set(re.findall(r"`(\w+)`", parts)) for slot, parts in rows}
    assert {slot: listed.get(slot) for slot in SLOTS} == {
        slot: {part.__name__ for part in parts} for slot, parts in SLOTS.items()
    }


@pytest.mark.parametrize("page", PAGES, ids=names_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for path, anchor in re.findall(r"\]\(([^)#:\s]*)#?([^):\s]*)\)", text):
        if path.startswith("gallery/"):  # made when the site is built
            continue
        target = (page.parent / path) if path else page
        assert target.exists(), f"{path} does not exist"
        assert not anchor or anchor in anchors(target), f"{path} has no heading #{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=names_of)
def test_named_source_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = set(re.findall(r"\b(?:src/drgst|scripts|benchmarks)/[\w/]*(?:\.\w+|/)?", text)) - EXAMPLES
    assert sorted(path for path in found if not (HOME / path).exists()) == []


def listed(page: Path) -> set[str]:
    """The pages that the toctrees of ``page`` name, without their ending."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = {line for block in blocks for line in block.splitlines() if line and not line.startswith(":")}
    found = set()
    for line in lines:
        place = (page.parent / line).resolve().relative_to(DOCS)
        globbed = (
            {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.glob(f"{place}.md")} if "*" in line else set()
        )
        found |= globbed or {place.as_posix()}
    return found


def test_every_page_is_reached_from_the_first_one() -> None:
    known = {p.relative_to(DOCS).with_suffix("").as_posix() for p in INSIDE} | set(OUTSIDE)
    reached, new = set(), {"index"}
    while new:
        reached |= new
        new = {
            name for page in new if (DOCS / f"{page}.md").is_file() for name in listed(DOCS / f"{page}.md")
        } - reached
    written = {name for name in reached if not {*Path(name).parts} & {*GENERATED}}
    assert written == known


@pytest.mark.parametrize("page", INSIDE, ids=names_of)
def test_a_page_says_first_what_the_reader_can_do_after_it(page: Path) -> None:
    section = page.relative_to(DOCS).parts[0]
    if section == "notebook" or page.stem in ("index", "notebook"):
        return
    assert page.read_text(encoding="utf-8").split("\n\n")[1].startswith("After this page you "), page
