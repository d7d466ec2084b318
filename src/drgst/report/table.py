"""A table as data, and as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from drgst.errors import SettingError, unknown


@dataclass(frozen=True)
class Entry:
    """One field: its text, and whether it is the best of its group."""

    text: str = ""
    best: bool = False


@dataclass(frozen=True)
class Column:
    """A heading, and whether the fields below are words (else figures, set to the right)."""

    title: str
    words: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under columns; a rule is drawn where the first ``group`` fields change."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry]]
    group: int = 0
    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        from drgst.graph.html import html_table

        rows = [[f"{entry.text}*" if entry.best else entry.text for entry in row] for row in self.rows]
        return html_table(self.title, [column.title for column in self.columns], rows, self.notes)


def to_text(table: Table) -> str:
    """Plain text; the best is marked with a star."""
    head = [column.title for column in table.columns]
    body = [[entry.text + ("*" if entry.best else "") for entry in row] for row in table.rows]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    lines = [table.title, "", _line(head, widths, table), "  ".join("-" * width for width in widths)]
    for number, row in enumerate(body):
        if number and _new_group(table, number):
            lines.append("")
        lines.append(_line(row, widths, table))
    notes = ["* best of its group", *table.notes] if _any_best(table) else table.notes
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"


def to_markdown(table: Table) -> str:
    """A pipe table; the best is bold."""
    rule = [":--" if column.words else "--:" for column in table.columns]
    lines = [f"### {table.title}", "", _pipes([column.title for column in table.columns]), _pipes(rule)]
    lines += [_pipes([f"**{e.text}**" if e.best else e.text for e in row]) for row in table.rows]
    return "\n".join([*lines, "", *(f"{note}  " for note in table.notes)]).rstrip() + "\n"


def to_latex(table: Table) -> str:
    """A tabular with booktabs' rules; the best is bold."""
    kinds = "".join("l" if column.words else "r" for column in table.columns)
    lines = [f"% {table.title}", *(f"% {note}" for note in table.notes), f"\\begin{{tabular}}{{{kinds}}}", "\\toprule"]
    lines += [" & ".join(escape(column.title) for column in table.columns) + " \\\\", "\\midrule"]
    for number, row in enumerate(table.rows):
        if number and _new_group(table, number):
            lines.append("\\midrule")
        fields = [f"\\textbf{{{escape(e.text)}}}" if e.best else escape(e.text) for e in row]
        lines.append(" & ".join(fields) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def to_csv(table: Table) -> str:
    """Fields as they are, and a last column that says whether the row is the best of its group."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(column.title for column in table.columns), "best"])
    writer.writerows([*(e.text for e in row), "yes" if any(e.best for e in row) else ""] for row in table.rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[Table], str]] = {"text": to_text, "md": to_markdown, "latex": to_latex, "csv": to_csv}


def render(table: Table, how: str) -> str:
    """The table as ``text``, ``md``, ``latex`` or ``csv``."""
    if how not in FORMATS:
        raise SettingError(unknown("format", how, FORMATS))
    return FORMATS[how](table)


def escape(text: str) -> str:
    """A text as LaTeX shows it."""
    pairs = {"\\": r"\textbackslash{}", "±": r"$\pm$", "–": "--", "−": "$-$", "~": r"\textasciitilde{}"}
    pairs |= {c: f"\\{c}" for c in "&%$#_{}"} | {"^": r"\textasciicircum{}"}
    return "".join(pairs.get(c, c) for c in text)


def _line(fields: Sequence[str], widths: Sequence[int], table: Table) -> str:
    shown = [
        field.ljust(width) if column.words else field.rjust(width)
        for field, width, column in zip(fields, widths, table.columns, strict=True)
    ]
    return "  ".join(shown).rstrip()


def _pipes(fields: Sequence[str]) -> str:
    return "| " + " | ".join(field.replace("|", "\\|") for field in fields) + " |"


def _new_group(table: Table, number: int) -> bool:
    here, before = table.rows[number], table.rows[number - 1]
    return any(here[i].text != before[i].text for i in range(table.group))


def _any_best(table: Table) -> bool:
    return any(entry.best for row in table.rows for entry in row)
