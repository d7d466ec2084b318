"""Every figure is drawn, and a figure without runs is refused with the command that makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from drgst.errors import SettingError, StoreError
from drgst.lab.experiments import Experiment
from drgst.lab.figures.registry import FIGURES, draw, find_figure, grids_of, make_figure, prepare
from drgst.lab.figures.request import Request
from drgst.lab.figures.toy_run import Toy
from drgst.lab.store import Store
from drgst.report.style import WIDTH, save

SMALL = {"epochs": 4, "fixed_epochs": 4, "samples": 4, "threshold": 0.1}


@pytest.mark.parametrize("name", [name for name, spec in FIGURES.items() if spec.from_store])
def test_figures_of_a_store(name: str, store: Path, tmp_path: Path) -> None:
    figure = make_figure(name, Request(store))
    assert figure.get_figwidth() == WIDTH
    for how, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        path = tmp_path / f"out/{name}.{how}"
        save(figure, path, how)
        assert path.read_bytes().startswith(start)
    first = path.read_bytes()
    save(make_figure(name, Request(store)), path, "svg")
    assert path.read_bytes() == first  # no date, no random ids


@pytest.mark.parametrize("name", ["confidence-gain", "embedding-gain", "stages"])
def test_figures_that_make_their_own_run(name: str, tiny: Path, tmp_path: Path) -> None:
    save(make_figure(name, Request(dataset=str(tiny), per_class=5, changes=SMALL)), tmp_path / "a.png", "png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_toy(toy: Toy, tmp_path: Path) -> None:
    save(draw("toy", toy), tmp_path / "toy.svg", "svg")
    assert (tmp_path / "toy.svg").stat().st_size > 5000


def test_missing_runs_are_refused_in_one_sentence_with_the_command_that_makes_them(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"drgst lab bench .*--recipes drgst-do,drgst-do-ig.*--store .*none\.db"):
        prepare("ablation-do", Request(tmp_path / "none.db"))
    with Store(tmp_path / "empty.db", create=True):
        pass
    with pytest.raises(StoreError, match=r"holds no runs for the figure beta.*--set beta=0\.333333.*--run") as caught:
        prepare("beta", Request(tmp_path / "empty.db"))
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match=r"none\.csv holds no runs .*--store runs\.db makes them"):
        prepare("labels", Request(tmp_path / "none.csv"))  # an export takes no runs


def test_grids() -> None:
    experiment = Experiment(("cora",), (3, 20), 2, {"epochs": 5})
    (curves,) = grids_of("labels", experiment)
    assert curves.recipes == ("gcn", "gat", "appnp", "drgst-do", "drgst-de")
    (ablated,) = grids_of("ablation-de", experiment)
    assert ablated.recipes == ("drgst-de", "drgst-de-ig", "drgst-de-lc", "drgst-de-wo")
    swept = grids_of("threshold", experiment)
    assert [grid.changes["threshold"] for grid in swept] == [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]
    assert swept[0].per_class == (3, 20)
    assert grids_of("toy", experiment) == []


def test_an_unknown_figure_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="did you mean 'threshold'"):
        find_figure("treshold")
