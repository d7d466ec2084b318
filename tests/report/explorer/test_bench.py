"""The page of a bench: means, wins and best runs worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.store import Store
from drgst.cli import main
from drgst.errors import SettingError, StoreError
from drgst.report.explorer.bench import bench_page

Row = Callable[..., dict[str, Any]]


@pytest.fixture
def store(tmp_path: Path, make_row: Row) -> Path:
    """Two recipes on three draws, and one of them on one draw with 20 labels."""
    path = tmp_path / "runs.db"
    with Store(path, create=True) as made:
        for draw, (a, b) in enumerate([(0.6, 0.7), (0.5, 0.5), (0.7, 0.6)]):
            made.add(make_row(f"a{draw}", draw=draw, seed=draw, test_accuracy=a, val_accuracy=a))
            made.add(make_row(f"b{draw}", draw=draw, seed=draw, recipe="drgst-de", test_accuracy=b, val_accuracy=0.9))
        made.add(make_row("c", per_class=20, test_accuracy=0.8, val_accuracy=None))
    return path


def test_figures(store: Path) -> None:
    """Means, values, and wins with a tie as half; a recipe has no wins against itself."""
    data = bench_page(store).data
    assert data["classes"] == ["gcn", "drgst-de"]
    assert data["places"] == [["cora", 3], ["cora", 20]]
    first = next(cell for cell in data["cells"] if cell["recipe"] == 0 and cell["labels"] == 3)
    assert first["mean"] == pytest.approx(0.6)
    assert first["values"] == [0.6, 0.5, 0.7]
    assert data["wins"][0]["share"] == [[None, 0.5], [0.5, None]]
    assert data["wins"][0]["count"][0][1] == 3
    assert data["wins"][2]["share"] == [[None, None], [None, None]]


def test_the_best_run_is_chosen_by_validation(store: Path) -> None:
    """Never by test accuracy; where there is no validation there is no best."""
    best = bench_page(store).data["best"]
    assert [run["recipe"] for run in best] == ["drgst-de"]
    assert best[0]["command"] == "drgst run cora --recipe drgst-de --per-class 3 --seed 0"


def test_against(store: Path) -> None:
    """A recipe that was not run is refused; without gcn the first there is is compared with."""
    assert bench_page(store, "drgst-de").data["against"] == "drgst-de"
    with pytest.raises(SettingError, match="did you mean 'drgst-de'"):
        bench_page(store, "drgst-dee")


def test_command(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page lies beside the store; a run or a store, one of them."""
    with pytest.raises(SystemExit):
        main(["report", "--store", str(store)])
    assert store.with_suffix(".html").is_file()
    for words in ([], ["run", "--store", str(store)]):
        with pytest.raises(SystemExit) as stopped:
            main(["report", *words])
        assert stopped.value.code == 2
    assert "name either" in capsys.readouterr().err


def test_no_store(tmp_path: Path) -> None:
    """Said by name."""
    with pytest.raises(StoreError, match="there is no store"):
        bench_page(tmp_path / "none.db")
