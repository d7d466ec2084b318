"""The formats of a table."""

from __future__ import annotations

import re

import pytest

from drgst.errors import SettingError
from drgst.lab.tables.layout import Column, Entry, ResultTable, latex_escape, render

TABLE = ResultTable(
    "Title",
    [Column("who", True), Column("how")],
    [[Entry("a_b"), Entry("1.5 ± 0.2", 1, "1.4")], [Entry("a_b"), Entry("1.2", 2)], [Entry("c<d"), Entry("1")]],
    1,
    ["A note."],
    heading="values",
)


def test_text() -> None:
    lines = render(TABLE, "text").splitlines()
    assert lines[2] == "who               how"
    assert lines[4] == "a_b  1.5 ± 0.2* (1.4)"
    assert lines[6] == ""  # between two groups
    assert lines[-2:] == ["* best of its group", "A note."]


def test_markdown() -> None:
    text = render(TABLE, "md")
    assert "| :-- | --: |" in text
    assert "| a_b | **1.5 ± 0.2** (1.4) |" in text


def test_latex_has_booktabs_rules_groups_and_ranks() -> None:
    assert render(TABLE, "latex").splitlines() == [
        "% Title",
        "% A note.",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"& \multicolumn{1}{c}{values} \\",
        r"\cmidrule(lr){2-2}",
        r"who & how \\",
        r"\midrule",
        r"a\_b & \textbf{1.5 $\pm$ 0.2} (1.4) \\",
        r" & \underline{1.2} \\",
        r"\midrule",
        r"c<d & 1 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_latex_can_have_a_layout_of_its_own() -> None:
    other = ResultTable("Other", [Column("x")], [[Entry("7")]])
    assert "% Other" in render(ResultTable("Title", [Column("who")], [], latex=other), "latex")


def test_html_escapes_every_text() -> None:
    text = render(TABLE, "html")
    assert '<td class="number"><b>1.5 ± 0.2</b> (1.4)</td>' in text
    assert "<td>c&lt;d</td>" in text
    assert TABLE._repr_html_() == text


def test_csv_marks_the_best_row() -> None:
    assert render(TABLE, "csv").splitlines() == ["who,how,best", "a_b,1.5 ± 0.2 (1.4),yes", "a_b,1.2,", "c<d,1,"]


def test_a_name_in_csv_is_no_formula_and_a_number_stays_one() -> None:
    row = [Entry("=x"), Entry("-0.50 to +1.20")]
    table = ResultTable("t", [Column("who", is_text=True), Column("how")], [row])
    assert render(table, "csv").splitlines()[1] == "'=x,-0.50 to +1.20,"


HOSTILE = "<script>alert(1)</script>|x\n| injected | \x1b[31m*b* [l](http://h)"


@pytest.mark.parametrize("how", ["text", "md", "latex", "html", "csv"])
def test_names_from_a_store_stay_in_their_cell(how: str) -> None:
    hostile = [Column(HOSTILE, True), Column("n")]
    text = render(ResultTable(HOSTILE, hostile, [[Entry(HOSTILE), Entry("1")]], notes=[HOSTILE]), how)
    assert "\x1b" not in text
    assert "\n| injected" not in text
    if how in ("md", "html"):
        assert "<script>" not in text
    if how == "md":
        row = text.splitlines()[4]
        assert len(re.findall(r"(?<!\\)\|", row)) == 3  # the borders of two cells
        assert r"\*b\* \[l\](http://h)" in row


def test_tables_below_are_shown_below_and_are_one_csv() -> None:
    table = ResultTable("A", [Column("x")], [[Entry("1", 1)]], below=ResultTable("B", [Column("x")], [[Entry("2")]]))
    assert render(table, "md").index("### A") < render(table, "md").index("### B")
    assert render(table, "csv").splitlines() == ["x,best,table", "1,yes,A", "2,,B"]


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="did you mean 'latex'"):
        render(TABLE, "latx")


def test_latex_escapes_special_characters() -> None:
    assert latex_escape(r"50% & a_b #1 {x} \ ^~") == (
        r"50\% \& a\_b \#1 \{x\} \textbackslash{} \textasciicircum{}\textasciitilde{}"
    )
