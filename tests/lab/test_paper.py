"""The published results, the ablations, and the labels of data sets and recipes."""

import pytest

from drgst.lab.paper import (
    METHODS,
    dataset_order,
    main_table,
    recipe_label,
    recipe_order,
)


def test_the_published_table_is_complete() -> None:
    table = main_table()
    assert len(table) == 8 * 5 * 4
    assert table["cora", 3, "drgst-de"] == 73.43
    assert table["flickr", 20, "gcn"] == 51.74
    assert {recipe for _, _, recipe in table} == set(METHODS)


def test_the_papers_order_comes_first() -> None:
    assert sorted(["mine", "flickr", "cora"], key=dataset_order) == ["cora", "flickr", "mine"]
    recipes = ["union", "drgst-do-tuned", "drgst-de", "abn", "drgst-do", "gcn"]
    wanted = ["gcn", "abn", "drgst-do", "drgst-do-tuned", "drgst-de", "union"]
    assert sorted(recipes, key=recipe_order) == wanted


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gcn", "GCN"),
        ("drgst-do", "DR-GST (dropout)"),
        ("drgst-de-ig", "DR-GST-ig (dropedge)"),
        ("drgst-do-wo", "DR-GST-w/o (dropout)"),
        ("drgst-de-tuned", "DR-GST (dropedge, tuned)"),
        ("drgst-plus", "drgst-plus"),
    ],
)
def test_labels_of_recipes(name: str, label: str) -> None:
    assert recipe_label(name) == label
