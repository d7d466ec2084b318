"""The bench in Python: ``drgst.lab.bench(datasets, recipes, ...)`` and its results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from drgst.datasets.registry import DATASETS
from drgst.errors import SettingError
from drgst.estimator.base import SelfTraining
from drgst.estimator.inputs import as_graph, is_graph
from drgst.extras import import_extra
from drgst.io.npz import save_graph
from drgst.lab.grid.execute import execute_own
from drgst.lab.grid.executors import Inline, Local
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.run_grid import run_grid
from drgst.lab.progress import bench_display
from drgst.lab.statistics import compare
from drgst.lab.store import Store
from drgst.lab.store.cells import READ, CellName, Runs, check_recipe, grouped
from drgst.lab.tables.layout import render
from drgst.lab.tables.runs import make_table
from drgst.recipes import find_recipe, recipe_names
from drgst.recipes.registry import RecipeSpec, as_spec, own_spec, registered, with_backbone
from drgst.runs.config import PAPERS_RECIPE
from drgst.selftrain.recipe import part_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLUMNS = (
    *("dataset", "per_class", "recipe", "draw", "test_accuracy", "teacher_test_accuracy", "val_accuracy", "macro_f1"),
    *("ece", "brier", "stages", "result_stage", "epochs", "seconds", "peak_memory_mb", "stop_reason", "variant"),
)
Data = Any  # a name, a path, or a graph that SelfTraining fits


@dataclass(frozen=True, eq=False)
class Results:
    """The runs of a bench: as a data frame, a table, a comparison or a figure."""

    rows: tuple[dict[str, Any], ...]  # of the runs that did not fail
    failures: tuple[dict[str, Any], ...] = ()
    seconds: float = 0.0

    def to_frame(self) -> pd.DataFrame:
        """One row per run: data set, labels per class, recipe, draw and its metrics, as fractions."""
        return import_extra("pandas", "notebook", "a data frame").DataFrame(self.rows, columns=COLUMNS)

    @property
    def cells(self) -> dict[CellName, Runs]:
        """(data set, labels per class, recipe) -> its runs."""
        return grouped(self.rows)

    def table(self, how: str = "text", *, against: str | None = None) -> str:
        """Mean ± standard deviation of the test accuracy, as ``text``, ``md``, ``latex``, ``html`` or ``csv``.

        Each recipe is compared with ``against`` (default: gcn, where it was run).
        """
        return render(make_table("main", self.cells, against), how)

    def compare(self, a: str, b: str) -> pd.DataFrame:
        """Test accuracy of ``a`` minus that of ``b`` on the same draws: mean, 95 % interval, p of the signed ranks."""
        pandas = import_extra("pandas", "notebook", "a data frame")
        cells = self.cells
        for name in (a, b):
            check_recipe(name, cells, "of the bench")
        rows = []
        for dataset, labels in dict.fromkeys((d, k) for d, k, _ in cells):
            ours, theirs = (cells.get((dataset, labels, name)) for name in (a, b))
            if ours is None or theirs is None:
                continue
            found = compare(ours.figure("test_accuracy"), theirs.figure("test_accuracy"))
            if found is not None:
                rows.append({"dataset": dataset, "per_class": labels, "a": a, "b": b, **vars(found)})
        return pandas.DataFrame(rows)

    def plot(self) -> Figure:
        """Test accuracy against labels per class, one panel per data set."""
        from drgst.lab.figures import labels
        from drgst.report.style import check_matplotlib, styled

        check_matplotlib()
        with styled():
            return labels.draw(labels.curves(self.cells))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"Results({len(self.rows)} runs in {len(self.cells)} cells{failed})"

    def _repr_html_(self) -> str:
        return self.table("html") if self.rows else repr(self)


def bench(
    datasets: Data | Iterable[Data] = "cora",
    recipes: Any = ("gcn", "drgst-do", "drgst-de"),
    labels_per_class: int | Iterable[int] = (3, 5, 10, 20),
    draws: int | Sequence[int] = 10,
    *,
    store: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    pool: str = "unlabelled",
    validation: str = "public",
    jobs: int | None = None,
    progress: bool | None = None,
) -> Results:
    """Run recipes on data sets with a few labels per class, on the same splits and seeds.

    ``datasets``: names, paths and graphs, also of PyG. ``recipes``: names, ``"module:function"``, Recipe objects,
    functions from Settings to a Recipe, estimators, and PyG modules (trained alone); a dict names them. ``draws``:
    their number, or the draws themselves, as in ``range(100, 105)``. Runs are kept in the file ``store``, and a run
    that is there is not made again; without ``store`` they are kept in memory only. ``settings`` are changes for all
    recipes that read them. ``jobs`` is the number of processes (default: one per core; 1: this process). The
    environment variable ``DRGST_DATA`` names the folder with the files of the data sets.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drgst-bench-")))
        names, own = _recipes(recipes)
        stack.enter_context(registered(own))
        per_class = [labels_per_class] if isinstance(labels_per_class, int) else list(labels_per_class)
        grid = Grid(_sources(datasets, folder), per_class, names, draws, dict(settings or {}), (), pool, validation)
        work = partial(execute_own, own)
        executor = stack.enter_context(Inline(work) if jobs == 1 else Local(jobs, work=work))
        opened = stack.enter_context(Store(store or folder / "runs.db", create=True))
        callback = stack.enter_context(bench_display(progress))
        result = run_grid(grid, opened, executor, callback)
        rows = opened.rows(result.keys, READ)
    rows.sort(key=lambda row: (row["dataset"], row["per_class"], names.index(row["recipe"]), row["draw"]))
    return Results(tuple(rows), tuple(result.failures), result.seconds)


def _sources(datasets: Data | Iterable[Data], folder: Path) -> list[str]:
    """Names and paths as they are; a graph as a file in ``folder``."""
    given = [datasets] if isinstance(datasets, str | Path) or is_graph(datasets) else list(datasets)
    sources: list[str] = []
    for number, one in enumerate(given):
        if not is_graph(one):
            sources.append(str(one))
            continue
        one = as_graph(one)
        if one.name in DATASETS or any(Path(other).stem == one.name for other in sources):
            one = replace(one, name=f"{one.name}-{number + 1}")
        sources.append(str(folder / f"{number}-{one.name}.npz"))
        save_graph(one, sources[-1])
    return sources


def _recipes(recipes: Any) -> tuple[list[str], dict[str, RecipeSpec]]:
    """The names of all recipes, and the specifications of those that only this process knows."""
    if isinstance(recipes, Mapping):
        given = list(recipes.items())
    else:
        single = isinstance(recipes, str) or not isinstance(recipes, Sequence | set | frozenset)
        given = [(None, one) for one in ([recipes] if single else recipes)]
    names: list[str] = []
    own: dict[str, RecipeSpec] = {}
    for name, one in given:
        if isinstance(one, str) and name in (None, one):  # {"gcn": "gcn"} names the recipe as it is
            names.append(find_recipe(one).name)
            continue
        label = name or _free(_label(one), names)
        own[label] = own_spec(_spec(one), label, one)
        names.append(label)
    return names, own


def _spec(one: Any) -> RecipeSpec:
    if isinstance(one, SelfTraining):
        spec = as_spec(one.recipe or PAPERS_RECIPE)
        if not isinstance(one.backbone, str | None):
            spec = with_backbone(spec, one.backbone)
        return replace(spec, defaults={**spec.defaults, **one._changes()})
    if isinstance(one, nn.Module) or (isinstance(one, type) and issubclass(one, nn.Module)):
        return with_backbone(find_recipe("gcn"), one)
    if isinstance(one, str) or hasattr(one, "with_parts") or isinstance(one, RecipeSpec):
        return as_spec(one)
    if callable(one):
        return RecipeSpec(part_name(one), one)
    raise SettingError(
        f"a recipe is {one!r} (allowed: a name, module:function, a Recipe, a function of Settings, an estimator or a "
        "torch module)"
    )


def _label(one: Any) -> str:
    if isinstance(one, SelfTraining):
        return str(one.recipe) if isinstance(one.recipe, str) else "own"
    return "own" if hasattr(one, "with_parts") else part_name(one)


def _free(label: str, taken: Iterable[str]) -> str:
    """``label``, or ``label-2`` and so on where it is taken, also by a recipe of drgst."""
    used = {*taken, *recipe_names()}
    return next(name for k in range(1, 10_000) if (name := label if k == 1 else f"{label}-{k}") not in used)
