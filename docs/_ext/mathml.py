"""Formulas as MathML, made when the site is built: the pages need no script and no connection."""

from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx


def inline(self: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """A formula of its own."""
    formula = latex2mathml.converter.convert(node.astext(), display="block")
    self.body.append(self.starttag(node, "div", CLASS="math") + formula + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
