"""The rows that a figure reads; every figure is drawn, and a figure without runs is refused."""

from pathlib import Path

import pytest

from drgst.errors import SettingError, StoreError
from drgst.lab.figures.registry import FIGURES, Request, draw, find_figure, make_figure, prepare
from drgst.lab.figures.toy import Toy
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv
from drgst.report.style import WIDTH, save

SMALL = {"epochs": 4, "fixed_epochs": 4, "samples": 4, "threshold": 0.1}


@pytest.mark.parametrize("name", [name for name, spec in FIGURES.items() if spec.from_store])
def test_figures_of_a_store(name: str, store: Path, tmp_path: Path) -> None:
    figure = make_figure(name, Request(store))
    assert figure.get_figwidth() == WIDTH
    for how, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        path = tmp_path / f"out/{name}.{how}"
        save(figure, path)
        assert path.read_bytes().startswith(start)
    first = path.read_bytes()
    save(make_figure(name, Request(store)), path)
    assert path.read_bytes() == first  # no date, no random ids


@pytest.mark.parametrize("name", ["confidence-gain", "embedding-gain", "stages"])
def test_figures_that_make_their_own_run(name: str, tiny: Path, tmp_path: Path) -> None:
    save(make_figure(name, Request(dataset=str(tiny), per_class=5, changes=SMALL)), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_toy(toy: Toy, tmp_path: Path) -> None:
    save(draw("toy", toy), tmp_path / "toy.svg")
    assert (tmp_path / "toy.svg").stat().st_size > 5000


def test_missing_runs_are_refused_in_one_sentence(tmp_path: Path) -> None:
    with Store(tmp_path / "empty.db", create=True):
        pass
    for name, path in (("ablation-do", "none.db"), ("beta", "empty.db"), ("labels", "none.csv")):
        with pytest.raises(
            StoreError, match=rf"{path} holds no runs for the figure {name}; drgst lab reproduce"
        ) as caught:
            prepare(name, Request(tmp_path / path))
        assert "\n" not in str(caught.value)


def test_an_unknown_figure_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="did you mean 'threshold'"):
        find_figure("treshold")


def test_a_store_and_its_export_have_the_same_cells(store: Path, tmp_path: Path) -> None:
    with Store(store) as opened:
        to_csv(opened.all_rows(), tmp_path / "runs.csv")
    assert Request(store).cells.keys() == Request(tmp_path / "runs.csv").cells.keys()
    assert len(Request(store).rows) == len(Request(tmp_path / "runs.csv").rows)


def test_one_data_set(store: Path) -> None:
    assert {cell[0] for cell in Request(store).cells} == {"cora", "flickr"}
    assert {cell[0] for cell in Request(store, dataset="Flickr").cells} == {"flickr"}
    assert Request(dataset="folder/mine.npz").dataset_name == "mine"
    assert Request().dataset_name == "cora"
