"""A table as data, and its rendering as text, Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from drgst.cli.console import printable
from drgst.errors import SettingError, unknown
from drgst.files import csv_text


@dataclass(frozen=True)
class Entry:
    """One field: its text, its rank (1 best, 2 second best, 0 not marked), and a remark shown in brackets."""

    text: str = ""
    rank: int = 0
    remark: str = ""

    def show(self, best: str = "{}", second: str = "{}", escape: Callable[[str], str] = str) -> str:
        """The escaped text in the markup of its rank, and the remark."""
        text = {1: best, 2: second}.get(self.rank, "{}").format(escape(self.text))
        return f"{text} ({escape(self.remark)})" if self.remark else text


@dataclass(frozen=True)
class Column:
    """A heading, and whether the fields below it are text (aligned left) or numbers (aligned right)."""

    title: str
    is_text: bool = False


@dataclass(frozen=True)
class ResultTable:
    """Rows under columns; rows are grouped by their first ``group`` fields."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry]]
    group: int = 0
    notes: Sequence[str] = ()
    heading: str = ""  # above the number columns, in LaTeX
    latex: ResultTable | None = None  # another layout for LaTeX
    below: ResultTable | None = None  # a table with the same columns, shown below this one

    @property
    def titles(self) -> list[str]:
        """The headings of the columns."""
        return [column.title for column in self.columns]

    def starts_group(self, number: int) -> bool:
        """Whether row ``number`` differs from the row above in a field that rows are grouped by."""
        if number == 0:
            return True
        row, above = self.rows[number], self.rows[number - 1]
        return any(row[i].text != above[i].text for i in range(self.group))

    def cleaned(self) -> ResultTable:
        """The table with every text on one line and without characters that control a terminal."""
        return replace(
            self,
            title=_one_line(self.title),
            columns=[replace(column, title=_one_line(column.title)) for column in self.columns],
            rows=[[replace(e, text=_one_line(e.text), remark=_one_line(e.remark)) for e in row] for row in self.rows],
            notes=[_one_line(note) for note in self.notes],
            latex=self.latex and self.latex.cleaned(),
        )

    def _repr_html_(self) -> str:
        return render(self, "html")


def _one_line(text: str) -> str:
    return printable(re.sub(r"[\r\n\t]+", " ", text))


def to_text(table: ResultTable) -> str:
    """Plain text; the best of each group has a star."""
    body = [[entry.show("{}*") for entry in row] for row in table.rows]
    widths = [max(len(row[i]) for row in [table.titles, *body]) for i in range(len(table.columns))]

    def line(fields: Sequence[str]) -> str:
        aligned = (
            field.ljust(width) if column.is_text else field.rjust(width)
            for field, width, column in zip(fields, widths, table.columns, strict=True)
        )
        return "  ".join(aligned).rstrip()

    lines = [table.title, "", line(table.titles), "  ".join("-" * width for width in widths)]
    for number, row in enumerate(body):
        if number and table.starts_group(number):
            lines.append("")
        lines.append(line(row))
    marked = any(entry.rank == 1 for row in table.rows for entry in row)
    return "\n".join([*lines, "", *(["* best of its group"] if marked else []), *table.notes]).rstrip() + "\n"


def to_markdown(table: ResultTable) -> str:
    """A pipe table; the best of each group is bold."""

    def line(fields: Iterable[str]) -> str:
        return f"| {' | '.join(fields)} |"

    rule = [":--" if column.is_text else "--:" for column in table.columns]
    lines = [f"### {markdown_escape(table.title)}", "", line(map(markdown_escape, table.titles)), line(rule)]
    lines += [line(entry.show("**{}**", escape=markdown_escape) for entry in row) for row in table.rows]
    return "\n".join([*lines, "", *(f"{markdown_escape(note)}  " for note in table.notes)]).rstrip() + "\n"


def to_latex(table: ResultTable) -> str:
    """A tabular for the package booktabs; the best of each group is bold, the second best underlined."""
    table = table.latex or table
    kinds = "".join("l" if column.is_text else "r" for column in table.columns)
    lines = [f"% {table.title}", *(f"% {note}" for note in table.notes), f"\\begin{{tabular}}{{{kinds}}}", "\\toprule"]
    if table.heading:
        first, last = kinds.index("r") + 1, len(kinds)
        lines.append("& " * (first - 1) + f"\\multicolumn{{{last - first + 1}}}{{c}}{{{table.heading}}} \\\\")
        lines.append(f"\\cmidrule(lr){{{first}-{last}}}")
    lines.append(" & ".join(latex_escape(title) for title in table.titles) + " \\\\")
    for number, row in enumerate(table.rows):
        starts = table.starts_group(number)
        if starts:
            lines.append("\\midrule")
        shown = [entry.show("\\textbf{{{}}}", "\\underline{{{}}}", latex_escape) for entry in row]
        if not starts:
            shown[: table.group] = [""] * table.group
        lines.append(" & ".join(shown) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def to_html(table: ResultTable) -> str:
    """A table element with the notes below; every text is escaped."""
    kinds = ["" if column.is_text else ' class="number"' for column in table.columns]

    def line(tag: str, fields: Sequence[str]) -> str:
        cells = (f"<{tag}{kind}>{field}</{tag}>" for kind, field in zip(kinds, fields, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    head = line("th", [html.escape(title) for title in table.titles])
    body = "".join(line("td", [e.show("<b>{}</b>", "<u>{}</u>", html.escape) for e in row]) for row in table.rows)
    notes = "".join(f'<p class="soft">{html.escape(note)}</p>' for note in table.notes)
    return (
        f'<div class="scroll"><table><caption>{html.escape(table.title)}</caption>'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div>{notes}"
    )


def to_csv(tables: Sequence[ResultTable]) -> str:
    """The fields of all rows, a column that marks the best row of each group, and of several tables their titles."""
    several = len(tables) > 1
    lines = [[*tables[0].titles, "best", *(["table"] if several else [])]]
    for table in tables:
        for row in table.rows:
            best = "yes" if any(entry.rank == 1 for entry in row) else ""
            lines.append([*(entry.show() for entry in row), best, *([table.title] if several else [])])
    return csv_text(lines)


FORMATS: dict[str, Callable[[ResultTable], str]] = {
    "text": to_text,
    "md": to_markdown,
    "markdown": to_markdown,
    "latex": to_latex,
    "html": to_html,
}


def check_format(how: str) -> None:
    """Refuse an unknown format with the nearest name."""
    if how not in (*FORMATS, "csv"):
        raise SettingError(unknown("format", how, (*FORMATS, "csv")))


def render(table: ResultTable, how: str) -> str:
    """The table, and those below it, in one of :data:`FORMATS` or as CSV."""
    check_format(how)
    tables, last = [table.cleaned()], table.below
    while last is not None:
        tables.append(last.cleaned())
        last = last.below
    return to_csv(tables) if how == "csv" else "\n".join(FORMATS[how](each) for each in tables)


def markdown_escape(text: str) -> str:
    """``text`` with the characters that mean something in a cell of a Markdown table escaped."""
    return re.sub(r"([\\|*`\[\]])", r"\\\1", html.escape(text, quote=False))


def latex_escape(text: str) -> str:
    """``text`` with the characters that are special in LaTeX escaped."""
    pairs = {"\\": r"\textbackslash{}", "±": r"$\pm$", "–": "--", "−": "$-$", "~": r"\textasciitilde{}"}
    pairs |= {c: f"\\{c}" for c in "&%$#_{}"} | {"^": r"\textasciicircum{}"}
    return "".join(pairs.get(c, c) for c in text)
