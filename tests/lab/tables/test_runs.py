"""Tables of stored runs, and their layout."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import SettingError, StoreError
from drgst.graph.stats import statistics
from drgst.lab.store import Store
from drgst.lab.store.cells import RunFilter, read_runs, runs_by_cell
from drgst.lab.tables.layout import Column, Entry, ResultTable, latex_escape, render
from drgst.lab.tables.runs import TABLES, ablation, calibration, datasets, main, make_table, ranks, time

Row = Callable[..., dict[str, Any]]
Dicts = Callable[[ResultTable], list[dict[str, str]]]


def on_cora(cells: Callable[..., Any], **accuracies: float) -> Any:
    """Ten draws of each recipe on Cora with 3 labels per class, the accuracy growing by 0.1 points per draw."""
    return cells(
        {
            ("cora", 3, recipe.replace("_", "-")): [value + draw / 1000 for draw in range(10)]
            for recipe, value in accuracies.items()
        }
    )


def test_main_shows_what_was_run_beside_the_papers_figure(cells: Callable[..., Any], as_dicts: Dicts) -> None:
    gcn, best = as_dicts(main(on_cora(cells, gcn=0.6455, drgst_de=0.7)))
    assert (gcn["data set"], gcn["labels per class"], gcn["recipe"]) == ("cora", "3", "gcn")
    assert gcn["accuracy"] == "65.00 ± 0.30"
    assert (gcn["paper"], gcn["ours - paper"], gcn["vs gcn"], gcn["best"]) == ("64.52", "+0.48", "", "")
    assert (best["vs gcn"], best["p (Holm)"], best["draws"], best["best"]) == ("+5.45", "0.002", "10", "yes")
    assert best["95 % of vs"] == "+5.45 to +5.45"


def test_without_a_published_figure_there_is_no_column_for_it(cells: Callable[..., Any], as_dicts: Dicts) -> None:
    (row,) = as_dicts(main(on_cora(cells, union=0.7)))
    assert "paper" not in row


def test_latex_has_recipes_by_labels_per_class(cells: Callable[..., Any]) -> None:
    found = cells(
        {
            ("cora", 3, "gcn"): [0.6, 0.62],
            ("cora", 5, "gcn"): [0.7, 0.7],
            ("cora", 3, "drgst-de"): [0.7, 0.7],
            ("cora", 3, "union"): [0.5],
            ("flickr", 3, "gcn"): [0.4, 0.4],
        }
    )
    lines = render(main(found), "latex").splitlines()
    assert r"& & \multicolumn{2}{c}{Labels per class} \\" in lines
    assert r"Data set & Method & 3 & 5 \\" in lines
    assert r"Cora & GCN & \underline{61.0 $\pm$ 1.4} (64.5) & 70.0 $\pm$ 0.0 (69.5) \\" in lines
    assert r" & DR-GST (dropedge) & \textbf{70.0 $\pm$ 0.0} (73.4) & -- \\" in lines
    assert r" & union & 50.0 & -- \\" in lines  # one draw has no deviation
    assert r"Flickr & GCN & 40.0 $\pm$ 0.0 (37.7) & -- \\" in lines
    assert sum(line == r"\midrule" for line in lines) == 2
    assert not any("GAT" in line for line in lines)


def test_holm_is_over_the_recipes_on_the_same_data_and_labels(cells: Callable[..., Any], as_dicts: Dicts) -> None:
    rows = as_dicts(main(on_cora(cells, gcn=0.6, gat=0.7, appnp=0.7)))
    assert {r["p (Holm)"] for r in rows if r["recipe"] in ("gat", "appnp")} == {"0.004"}


def test_ablation_compares_with_the_full_method(cells: Callable[..., Any], as_dicts: Dicts) -> None:
    found = on_cora(cells, drgst_de_wo=0.66, drgst_de=0.7, drgst_de_ig=0.69, gcn=0.6)
    rows = as_dicts(ablation(found))
    assert [r["recipe"] for r in rows] == ["drgst-de", "drgst-de-ig", "drgst-de-wo"]
    assert [r["vs full"] for r in rows] == ["", "-1.00", "-4.00"]


def test_an_ablation_without_ablated_recipes_is_refused(cells: Callable[..., Any]) -> None:
    with pytest.raises(StoreError, match="holds no run of an ablation"):
        ablation(on_cora(cells, drgst_de=0.7))


def test_few_draws_give_no_more_than_they_can(make_row: Row, as_dicts: Dicts) -> None:
    """Below five draws there is no interval and no test."""
    rows = [make_row(f"{d}", draw=d, test_accuracy=value) for d, value in enumerate((0.2, 0.9, 0.5, 0.4, 0.6))]
    rows += [make_row(f"c{d}", recipe="drgst-de", draw=d, test_accuracy=0.3 + d / 10) for d in range(4)]
    gcn, four = as_dicts(main(runs_by_cell(rows, RunFilter())))
    assert gcn["95 % interval"] == "19.9–84.1"
    assert (four["accuracy"], four["95 % interval"], four["vs gcn"]) == ("45.00 ± 12.91", "", "-5.00")
    assert (four["95 % of vs"], four["p (Holm)"]) == ("", "")


TRAINED = '{"val_labels": "train"}'


@pytest.mark.parametrize("name", ["main", "calibration"])
@pytest.mark.parametrize("how", ["text", "md", "latex", "html"])
def test_recipes_with_further_training_labels_have_a_table_of_their_own(make_row: Row, name: str, how: str) -> None:
    """drgst-plus is best by far, but it trains on the validation labels: it is neither bold nor compared."""
    facts = {"gcn": (0.6, 0.2, "{}"), "gat": (0.7, 0.3, "{}"), "drgst-plus": (0.9, 0.1, TRAINED)}
    rows = [
        make_row(f"{recipe}{d}", recipe=recipe, draw=d, test_accuracy=accuracy, ece=ece, settings=settings)
        for recipe, (accuracy, ece, settings) in facts.items()
        for d in range(5)
    ]
    table = make_table(name, runs_by_cell(rows, RunFilter()))
    assert [row[2].text for row in table.below.rows] == ["drgst-plus"]
    assert not any(entry.rank for row in table.below.rows for entry in row)
    assert any(entry.rank == 1 for row in table.rows for entry in row)
    text = render(table, how)
    if how != "latex" or name == "main":
        assert "drgst-plus trains on the validation labels, too" in text
        assert text.index("gcn" if how != "latex" else "GCN") < text.rindex("drgst-plus")
    every = make_table(name, runs_by_cell([r for r in rows if r["recipe"] == "drgst-plus"], RunFilter()))
    assert every.below is None


def test_ranks(cells: Callable[..., Any]) -> None:
    found = cells({("cora", 3, "a"): [0.5], ("cora", 3, "b"): [0.7], ("cora", 3, "c"): [0.6], ("cora", 5, "a"): [0.1]})
    assert ranks(found, "test_accuracy") == {("cora", 3, "b"): 1, ("cora", 3, "c"): 2}
    assert ranks(found, "test_accuracy", highest=False)["cora", 3, "a"] == 1
    equal = cells({("cora", 3, "a"): [0.7], ("cora", 3, "b"): [0.7], ("cora", 3, "c"): [0.6]})
    assert list(ranks(equal, "test_accuracy").values()) == [1, 1, 2]


def test_a_table_of_twenty_thousand_rows(tmp_path: Path, make_row: Row) -> None:
    path = tmp_path / "big.db"
    with Store(path, create=True) as store, store.transaction():
        for i in range(20_000):
            place = {"per_class": (3, 5, 10, 20)[i // 10 % 4], "recipe": f"r{i // 40 % 100}", "draw": i % 10}
            store.add(make_row(f"k{i}", **place, variant=f"v{i // 4000}" if i >= 4000 else "", stage_rows="x" * 1500))
    text = render(main(runs_by_cell(read_runs(path), RunFilter()), "r0"), "text")
    assert text.count("\n") > 400


def test_every_table_is_made(cells: Callable[..., Any]) -> None:
    found = cells({("cora", 3, recipe): [0.6, 0.7] for recipe in ("gcn", "drgst-de", "drgst-de-wo")})
    titles = {make_table(name, found).title for name in TABLES}
    assert len(titles) == len(TABLES)
    with pytest.raises(SettingError, match="did you mean 'main'"):
        make_table("mian", found)


def test_time_and_calibration(make_row: Row, as_dicts: Dicts) -> None:
    rows = [make_row("a", recipe="self-training", seconds=2.0, epochs=100, ece=0.2)]
    rows += [make_row("b", recipe="drgst-de", seconds=5.0, epochs=200, ece=0.1, stages=2, peak_memory_mb=300.0)]
    found = runs_by_cell(rows, RunFilter())
    timed = {r["recipe"]: r for r in as_dicts(time(found, "self-training"))}
    assert timed["drgst-de"]["ratio to self-training"] == "2.50"
    assert timed["drgst-de"]["ms per epoch"] == "25.0"
    assert timed["drgst-de"]["peak MB"] == "300"
    assert timed["self-training"]["stages"] == ""
    calibrated = {r["recipe"]: r for r in as_dicts(calibration(found))}
    assert (calibrated["drgst-de"]["ECE"], calibrated["drgst-de"]["best"]) == ("10.00", "yes")
    assert calibrated["self-training"]["best"] == ""


def test_the_worst_draw_stands_beside_the_mean(make_row: Row, as_dicts: Dicts) -> None:
    rows = [make_row(f"{d}", draw=d, ece=ece) for d, ece in enumerate((0.05, 0.248, None))]
    (row,) = as_dicts(calibration(runs_by_cell(rows, RunFilter())))
    assert (row["ECE"], row["worst draw"]) == ("14.90 ± 14.00", "24.80")


def test_datasets_beside_table_3(cora: Any, as_dicts: Dicts) -> None:
    rows = {r["data set"]: r for r in as_dicts(datasets({"cora": statistics(cora)}))}
    assert rows["cora"]["nodes"] == "2,708"
    assert rows["cora"]["homophily"] == "0.81"
    assert rows["pubmed"]["nodes"] == ""
    assert "5,278" in [entry.text for row in datasets({"cora": statistics(cora)}).rows for entry in row]


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
