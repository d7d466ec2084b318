"""What a figure is made from: runs of a store, or a run that is made for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drgst.bench.results import READ, CellName, Row, Runs, Wanted, choose
from drgst.graph.datasets.registry import DATASETS

if TYPE_CHECKING:
    from drgst.runs.result import Result

DATASET = "cora"  # of figures that are about one


@dataclass(frozen=True)
class Sizes:
    """Of the toy: 500 labelled Gaussian nodes and 4,000 on circles, as in the paper, which leaves the pool unsaid."""

    gaussian: int = 500
    circles: int = 4000
    pool_gaussian: int = 2000
    pool_circles: int = 4000
    rounds: int = 4
    picks: int = 250  # a class and round


@dataclass(frozen=True)
class Request:
    """What was asked for; a figure takes what it needs of it."""

    store: Path = Path("runs.db")
    wanted: Wanted = field(default_factory=Wanted)
    dataset: str | None = None  # None: Cora, or all that the store has
    per_class: int | None = None  # None: as the figure likes
    seed: int = 0  # of a run that is made for the figure
    changes: Mapping[str, Any] = field(default_factory=dict)  # of its settings
    root: str | None = None  # folder with the data sets' files
    toy: Sizes = field(default_factory=Sizes)
    results: dict[Any, Result] = field(default_factory=dict)  # runs made for figures; several figures show the same

    @cached_property
    def rows(self) -> list[Row]:
        """The runs of the store (or of its export) that did not fail; none where there is no store."""
        if not self.store.is_file():
            return []
        if self.store.suffix in (".csv", ".parquet"):
            from drgst.bench.export import readable_rows

            rows = readable_rows(self.store)
        else:
            from drgst.bench.store import Store

            with Store(self.store) as opened:
                rows = opened.all_rows(READ)
        return [row for row in rows if row["error"] is None]

    @cached_property
    def cells(self) -> dict[CellName, Runs]:
        """The cells of the wanted runs, of the data set where one is named."""
        found = choose(self.rows, self.wanted)
        return {cell: runs for cell, runs in found.items() if self.dataset is None or cell[0] == self.named}

    @property
    def named(self) -> str:
        """The data set as the store calls it: a graph of one's own goes by the name of its file."""
        asked = self.dataset or DATASET
        return asked.lower() if asked.lower() in DATASETS else Path(asked).stem

    def run(self, recipe: str, per_class: int, **changes: Any) -> Result:
        """The result of ``recipe`` on the data set, run when it is first needed; ``self.changes`` override ``changes``.

        One thread: on small graphs more threads are slower.
        """
        from drgst.graph.io.open import open_graph
        from drgst.runs.config import RunConfig  # imports torch
        from drgst.runs.run import Run

        data, k, settings = self.dataset or DATASET, self.per_class or per_class, {**changes, **self.changes}
        key = (data, recipe, k, self.seed, *sorted(settings.items()))
        if key not in self.results:
            config = RunConfig(data, recipe, k, seed=self.seed, threads=1, settings=settings)
            opened = {result.config.data: result.graph for result in self.results.values()}
            run = Run.from_config(config, lambda name: opened[name] if name in opened else open_graph(name, self.root))
            self.results[key] = run.execute()
        return self.results[key]
