"""Tables of text, and of HTML for notebooks, in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def text_table(rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Rows of cells in columns, aligned right but for the columns ``left``."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [str.ljust if k in left else str.rjust for k in range(len(widths))]
    lines = [[pad(cell, w) for pad, cell, w in zip(pads, row, widths, strict=True)] for row in rows]
    return "\n".join("  ".join(cells).rstrip() for cells in lines)


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()) -> str:
    """An HTML table with a title, column names, rows and notes below it."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    below = "".join(f"<p>{escape(str(note))}</p>" for note in notes)
    top = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f"<div><p><strong>{escape(title)}</strong></p><table>{top}<tbody>{body}</tbody></table>{below}</div>"
