"""The tasks of the cells of a grid: data opened, splits drawn, settings resolved, everything checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from drgst.datasets.load import open_graph
from drgst.datasets.registry import DATASETS
from drgst.errors import DataFileError, SettingError, unknown
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.lab.grid.grid import Cell, Grid, Task, variant
from drgst.recipes import find_recipe
from drgst.recipes.registry import resolve
from drgst.runs.config import RunConfig
from drgst.runs.fingerprint import data_fingerprint, split_fingerprint


class Expander:
    """Makes the tasks of cells; graphs and splits are cached, since all recipes share them."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.graph = lru_cache(maxsize=None)(open_graph)
        self.data_sha256 = lru_cache(maxsize=None)(lambda source: data_fingerprint(self.graph(source)))
        self.split = lru_cache(maxsize=None)(self._split)

    def check(self) -> None:
        """Refuse unknown names before any data is opened, and data that can't be opened before any run is made."""
        read = {name for cell in self.grid.cells() for name in self._changes(cell)}
        for name in self.grid.changes:
            if name not in read:
                recipes = ", ".join(self.grid.recipes)
                raise SettingError(f"no recipe of the grid reads the setting {name!r} (recipes: {recipes})")
        for source in self.grid.datasets:
            if source not in DATASETS and not Path(source).exists():
                raise DataFileError(unknown("data set or path", Path(source).name, DATASETS))
            self.graph(source)

    def tasks(self, cell: Cell) -> list[Task]:
        """One per draw; draw d of every recipe has the same split and seed."""
        return [self._task(cell, number) for number in self.grid.draws]

    def _task(self, cell: Cell, number: int) -> Task:
        graph = self.graph(cell.source)
        split, fingerprint = self.split(cell.source, cell.per_class, number)
        facts = resolved(cell.recipe, graph, split, self._changes(cell))
        return Task(
            source=cell.source,
            dataset=graph.name,
            per_class=cell.per_class,
            recipe=cell.recipe,
            pool=self.grid.pool,
            validation=self.grid.validation,
            draw=number,
            data_sha256=self.data_sha256(cell.source),
            split_sha256=fingerprint,
            cost=graph.num_entries * (1 + 2 * facts["settings"].get("stages", 0)),
            **facts,
        )

    def _changes(self, cell: Cell) -> dict[str, Any]:
        """The settings of the grid for this cell that its recipe reads."""
        return find_recipe(cell.recipe).readable(self.grid.changes_of(cell))

    def _split(self, source: str, per_class: int, number: int) -> tuple[Split, str]:
        graph, grid = self.graph(source), self.grid
        config = RunConfig(per_class=per_class, seed=number, pool=grid.pool, validation=grid.validation)
        split = config.make_split(graph)
        return split, split_fingerprint(graph, split)


def resolved(recipe: str, graph: Graph, split: Split, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a task that the recipe decides: settings, variant, version, and the digest of its source."""
    spec = find_recipe(recipe)
    settings, _ = resolve(recipe, graph, split, changes)
    usual = resolve(recipe, graph, split, {})[0] if changes else settings
    return {
        "settings": settings.as_dict(),
        "variant": variant(settings.as_dict(), usual.model_dump()),
        "recipe_version": spec.version,
        "recipe_sha256": spec.source_sha256,
    }
