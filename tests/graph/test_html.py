"""HTML tables for notebooks."""

from __future__ import annotations

import numpy as np

from drgst.graph.core import make_graph
from drgst.graph.html import graph_html, html_table


def test_all_text_is_escaped() -> None:
    bad = "<script>&"
    shown = html_table(bad, [bad], [[bad, 1]], [bad])
    assert "<script>" not in shown
    assert shown.count("&lt;script&gt;&amp;") == 4
    assert "<td>1</td>" in shown


def test_a_graph_in_a_notebook() -> None:
    graph = make_graph(None, [[0, 2], [0, 0]], [0, 1], class_names=["a", "b"], name="two")
    shown = graph_html(graph)
    assert shown == graph._repr_html_()
    for text in ("two", "<td>1, weighted</td>", "a (1), b (1)", "directed edges were made undirected"):
        assert text in shown
    assert ", weighted" not in graph_html(graph.with_(adjacency=(graph.adjacency > 0).astype(np.float32)))
