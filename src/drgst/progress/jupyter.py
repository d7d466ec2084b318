"""Whether a Jupyter kernel runs this process, and the look of its bars; imports no torch."""

from __future__ import annotations

import sys
from html import escape

OUTER = "background:#8883;border-radius:4px;height:8px;width:320px;display:inline-block;vertical-align:middle"
INNER = "background:#0072B2;border-radius:4px;height:8px;width:{:.0f}%"
TEXT = "margin-left:10px;font-family:sans-serif;font-size:13px"


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process; IPython is not imported for this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def bar_html(share: float, text: str) -> str:
    """A bar that is filled to ``share``, 0 to 1, and ``text`` beside it."""
    bar = f'<div style="{OUTER}"><div style="{INNER.format(100 * share)}"></div></div>'
    return f'<div>{bar}<span style="{TEXT}">{escape(text)}</span></div>'
