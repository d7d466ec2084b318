"""The bench: paired draws, no run twice, failures kept, the rest goes on."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drgst.errors import TrainingError
from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.run_grid import BenchCallback, BenchResult, code_version, run_grid
from drgst.lab.store import Store
from drgst.recipes import recipe
from drgst.recipes.registry import _TABLE
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings

MakeGrid = Callable[..., Grid]


@pytest.fixture
def breaking() -> Iterator[None]:
    """A recipe that fails, in draw 1 with an error of drgst's own."""

    @recipe("breaking", "fails", "nobody")
    def breaking_recipe(settings: Settings) -> Recipe:
        return Recipe(select=select)

    def select(beliefs: Beliefs) -> PseudoLabels:
        raise TrainingError("the loss is not a number") if beliefs.seed == 1 else KeyError("x")

    yield
    del _TABLE["breaking"]


def run(grid: Grid, store: Store, callback: BenchCallback | None = None) -> BenchResult:
    return run_grid(grid, store, Inline(), callback)


def test_a_second_bench_runs_nothing_and_has_the_same_result(make_grid: MakeGrid, store: Store) -> None:
    first, second = run(make_grid(), store), run(make_grid(), store)
    assert (first.ran, first.reused, first.failed) == (4, 0, 0)
    assert (second.ran, second.reused, second.failed) == (0, 4, 0)
    assert first.document()["cells"] == second.document()["cells"]
    assert [(*cell, len(runs.rows)) for cell, runs in first.cells.items()] == [
        ("tiny", 3, "drgst-de", 2),
        ("tiny", 3, "gcn", 2),
    ]


def test_a_wider_grid_runs_only_what_is_new(make_grid: MakeGrid, store: Store) -> None:
    run(make_grid(), store)
    wider = run(make_grid(draws=3, recipes=["gcn", "drgst-de", "drgst-do"]), store)
    assert (wider.ran, wider.reused) == (5, 4)


def test_every_recipe_has_the_same_draws(make_grid: MakeGrid, store: Store) -> None:
    run(make_grid(), store)
    rows = store.all_rows()
    for draw in (0, 1):
        assert len({row["split_sha256"] for row in rows if row["draw"] == draw}) == 1
        assert {row["seed"] for row in rows if row["draw"] == draw} == {draw}
    assert len({row["split_sha256"] for row in rows}) == 2


def test_a_row_holds_all_figures(make_grid: MakeGrid, store: Store) -> None:
    run(make_grid(), store)
    for row in store.all_rows():
        for name in ("test_accuracy", "val_accuracy", "teacher_test_accuracy", "macro_f1", "ece", "brier"):
            assert 0 <= row[name] <= 2, name
        assert row["seconds"] > 0
        assert row["peak_memory_mb"] > 0
        assert row["stop_reason"]
        assert row["error"] is None
        assert row["code"] == code_version()
        assert row["variant"].startswith("epochs=5,samples=3")


def test_the_figures_are_those_of_the_python_api(make_grid: MakeGrid, tiny: Path, store: Store) -> None:
    from drgst.estimator import SelfTraining
    from drgst.io.npz import load_graph
    from drgst.runs.config import RunConfig

    run(make_grid(draws=1, recipes=["drgst-de"]), store)
    graph = load_graph(tiny)
    split = RunConfig(per_class=3, seed=0).make_split(graph)
    fitted = SelfTraining("drgst-de", dict(make_grid().changes), seed=0).fit(graph, split)
    assert store.all_rows()[0]["test_accuracy"] == pytest.approx(fitted.score(graph, split.test), abs=1e-6)


def test_a_failing_recipe_is_recorded_and_the_rest_goes_on(
    make_grid: MakeGrid, store: Store, breaking: list[int]
) -> None:
    report = run(make_grid(recipes=["breaking", "gcn"], changes={"epochs": 5}), store)
    assert report.failed == 2
    assert report.ran == 4
    errors = {row["draw"]: row["error"] for row in report.failures}
    assert errors[1] == "TrainingError: the loss is not a number"
    assert errors[0].startswith("KeyError: 'x' (at ")
    assert "test_run_grid.py" in errors[0]  # where, since it is no error of drgst's own
    assert [recipe for *_, recipe in report.cells] == ["gcn"]
    again = run(make_grid(recipes=["breaking", "gcn"], changes={"epochs": 5}), store)
    assert (again.ran, again.reused, again.failed) == (2, 2, 2)  # what failed is tried again


def test_quick_cells_come_first(make_grid: MakeGrid, store: Store) -> None:
    order = []

    class Record(BenchCallback):
        def done(self, task: object, row: dict[str, object]) -> None:
            order.append(row["recipe"])

    run(make_grid(recipes=["drgst-de", "gcn"]), store, Record())
    assert order == ["gcn", "gcn", "drgst-de", "drgst-de"]


def test_without_validation_nothing_validates(make_grid: MakeGrid, store: Store) -> None:
    run(make_grid(validation="none", recipes=["gcn"], changes={"epochs": 5}), store)
    report = run(make_grid(recipes=["gcn"], changes={"epochs": 5}), store)
    assert report.ran == 2  # another key
    found = {row["validation"]: row["val_accuracy"] for row in store.all_rows()}
    assert found["none"] is None
    assert found["public"] is not None


def test_a_preset_counts_for_its_cell_alone(make_grid: MakeGrid, tiny: Path, store: Store) -> None:
    from drgst.runs.config import RunConfig

    preset = RunConfig(data=str(tiny), recipe="drgst-de", per_class=3, settings={"threshold": 0.25})
    wanted = make_grid(presets=[preset], changes={"epochs": 5}, draws=1)
    run(wanted, store)
    assert {row["recipe"]: row["variant"] for row in store.all_rows()} == {
        "gcn": "epochs=5",
        "drgst-de": "epochs=5,threshold=0.25",
    }
