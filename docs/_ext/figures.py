"""The figures that drgst returns, which pyplot does not know, as pictures of the gallery."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


class FigureScraper:
    """Saves the matplotlib figures that a block of an example assigned to a name."""

    def __init__(self) -> None:
        self.saved: set[int] = set()

    def __repr__(self) -> str:
        return "FigureScraper()"

    def __call__(self, _block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
        paths = []
        for value in list(variables["example_globals"].values()):
            if isinstance(value, Figure) and id(value) not in self.saved and not hasattr(value, "number"):
                self.saved.add(id(value))
                paths.append(next(variables["image_path_iterator"]))
                value.savefig(paths[-1], dpi=110)
        return figure_rst(paths, conf["src_dir"])
