"""The tables of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping

from drgst.graph.core import Graph
from drgst.graph.stats import statistics
from drgst.report import tables_accuracy, tables_other
from drgst.report.claims.base import Cells
from drgst.report.table import Table


def make_tables(cells: Cells, graphs: Mapping[str, Graph]) -> dict[str, Table]:
    """Name -> table; those of cells only where there are cells."""
    made = {"datasets": tables_other.datasets({name: statistics(graph) for name, graph in graphs.items()})}
    if not cells:
        return made
    return {
        "main": tables_accuracy.main(cells, "gcn"),
        "ablation": tables_accuracy.ablation(cells),
        "calibration": tables_other.calibration(cells),
        "time": tables_other.time(cells, "gcn"),
        **made,
    }
