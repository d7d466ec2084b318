"""The rows and cells that a figure reads."""

from __future__ import annotations

from pathlib import Path

from drgst.lab.figures.request import Request
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv


def test_a_store_and_its_export_have_the_same_cells(store: Path, tmp_path: Path) -> None:
    with Store(store) as opened:
        to_csv(opened.all_rows(), tmp_path / "runs.csv")
    assert Request(store).cells.keys() == Request(tmp_path / "runs.csv").cells.keys()
    assert len(Request(store).rows) == len(Request(tmp_path / "runs.csv").rows)


def test_without_a_store_there_are_no_rows(tmp_path: Path) -> None:
    assert Request(tmp_path / "none.db").rows == []


def test_one_data_set(store: Path) -> None:
    assert {cell[0] for cell in Request(store).cells} == {"cora", "flickr"}
    assert {cell[0] for cell in Request(store, dataset="Flickr").cells} == {"flickr"}
    assert Request(dataset="folder/mine.npz").dataset_name == "mine"
    assert Request().dataset_name == "cora"
