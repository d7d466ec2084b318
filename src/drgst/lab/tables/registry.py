"""The tables of finished runs by name."""

from __future__ import annotations

from drgst.errors import SettingError, unknown
from drgst.lab.tables import accuracy, resources
from drgst.lab.tables.accuracy import Cells
from drgst.lab.tables.table import Table

TABLES = ("main", "ablation", "calibration", "time")


def make_table(name: str, cells: Cells, against: str | None = None, paper: bool = False) -> Table:
    """One of :data:`TABLES`, compared with the recipe ``against``; ``paper`` adds cells that only the paper has."""
    if name == "main":
        return accuracy.main(cells, against or "gcn", paper)
    if name == "ablation":
        return accuracy.ablation(cells, against)
    if name == "calibration":
        return resources.calibration(cells)
    if name == "time":
        return resources.time(cells, against or "gcn")
    raise SettingError(unknown("table", name, TABLES))
