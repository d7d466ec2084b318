"""Pages that lie outside of docs/, such as CONTRIBUTING.md, and links that lead to them.

A link in a page is a path in the repository, so that it also works where the repository is browsed. While the site is
built, a link to a file that is a page of the site leads to that page; every other file can be downloaded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from made import expanded, plain_docstring

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HOME = Path(__file__).parents[2]
OUTSIDE = {  # page of the site -> file of the repository that holds its text
    "development/changelog": "CHANGELOG.md",
    "development/contributing": "CONTRIBUTING.md",
    "development/security": "SECURITY.md",
    "paper/results": "results/README.md",
    "reference/cora": "src/drgst/datasets/data/NOTICE.md",
}
TABLES = "results/tables"  # every file there is a page paper/tables/NAME, and needs a title
TITLES = {
    "ablation": "Parts of DR-GST left out",
    "calibration": "Calibration",
    "drgst-plus": "Runs of drgst-plus",
    "main": "Test accuracy",
    "time": "Time",
}
LINK = re.compile(r"(\]\()([^)\s#:]+\.(?:md|png))(?=[)#])")


def outside() -> dict[str, str]:
    """Every page of the site whose text is a file outside of docs/."""
    return OUTSIDE | {f"paper/tables/{p.stem}": f"{TABLES}/{p.name}" for p in sorted((HOME / TABLES).glob("*.md"))}


def moved(text: str, path: str, page: str, pages: dict[str, str]) -> str:
    """``text`` of the file ``path`` with its links as they must be in ``docs/{page}.md``."""
    places = {file: f"docs/{name}.md" for name, file in pages.items()}

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(path).parent / found[2])
        return found[1] + os.path.relpath(places.get(target, target), PurePosixPath(f"docs/{page}").parent)

    return LINK.sub(link, text)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the text of a page that lies outside of docs/, and the links of every page."""
    pages = outside()
    path = pages.get(page, f"docs/{page}.md")
    if page in pages:
        source[0] = (HOME / path).read_text(encoding="utf-8")
        if path.startswith(TABLES):
            source[0] = f"# {TITLES[Path(path).stem]}\n\n" + re.sub(r"^###? ", "## ", source[0], flags=re.MULTILINE)
        app.env.note_dependency(str(HOME / path))
    if (HOME / path).suffix == ".md":
        source[0] = expanded(moved(source[0], path, page, pages))


def write_stubs(_: Sphinx) -> None:
    """A file for every page whose text lies elsewhere, so that Sphinx finds it."""
    for page, path in outside().items():
        stub = HOME / "docs" / f"{page}.md"
        stub.parent.mkdir(parents=True, exist_ok=True)
        words = f"<!-- The text of this page is {path}. -->\n"
        if not stub.exists() or stub.read_text(encoding="utf-8") != words:
            stub.write_text(words, encoding="utf-8")


def write_llms(app: Sphinx, error: Exception | None) -> None:
    """``llms.txt``: every page but the laboratory notes, with its title and first sentences, for programs that read."""
    from docutils import nodes  # the tests read this module where Sphinx is not installed

    if error is not None or app.builder.name != "html":
        return
    lines = [
        "# drgst",
        "",
        "> Node classification on graphs and tables with few labels: a Python library and a command.",
        "",
    ]

    def walk(page: str, depth: int) -> None:
        for child in app.env.toctree_includes.get(page, []):
            if child.startswith("notebook/") and child != "notebook/README":
                continue
            first = next(iter(app.env.get_doctree(child).findall(nodes.paragraph)), None)
            words = " ".join(first.astext().split()) if first is not None else ""
            title = app.env.titles[child].astext()
            lines.append(f"{'' if depth else chr(10)}- [{title}]({child}.html): {words}")
            walk(child, depth + 1)

    walk("index", 0)
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the two steps."""
    app.connect("builder-inited", write_stubs)
    app.connect("source-read", read)
    app.connect("build-finished", write_llms)
    app.connect("autodoc-process-docstring", plain_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
