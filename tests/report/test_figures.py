"""Figures: what they show, worked out on small cases, and that they are drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.bench.results import Wanted, choose
from drgst.bench.store import Store
from drgst.errors import SettingError, StoreError
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph
from drgst.report.experiments import Plan, command, family
from drgst.report.figures import ablation, confidence_gain, embedding_gain, labels, stages, sweep, toy
from drgst.report.figures.density import gaussian, grid, kernel_density
from drgst.report.figures.maps import chained_maps, sample
from drgst.report.figures.registry import FIGURES, draw, find_figure, grids_of, make_figure, prepare
from drgst.report.figures.request import Request, Sizes
from drgst.report.figures.style import WIDTH, draws_said, save, styled
from drgst.report.figures.toy_run import BANDWIDTH, SIGMA, play

Row = Callable[..., dict[str, Any]]
SMALL = {"epochs": 4, "fixed_epochs": 4, "samples": 4, "threshold": 0.1}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "tiny.npz"
    save_graph(block_model(150, 500, seed=0, classes=3, features=40, words=6).with_(name="tiny"), path)
    return path


@pytest.fixture
def store(tmp_path: Path, make_row: Row) -> Path:
    """Three draws of curves, ablations and sweeps on Cora, and one more data set."""
    path = tmp_path / "runs.db"
    rows = []
    for draw_ in range(3):
        for k in (3, 5):
            for place, recipe in enumerate(("gcn", *family("drgst-do"), *family("drgst-de"))):
                rows.append(
                    {"per_class": k, "recipe": recipe, "test_accuracy": 0.6 + k / 50 + place / 100, "draw": draw_}
                )
        for setting in ("threshold", "beta"):
            for value in (0.4, 0.5):
                told = {"variant": f"{setting}={value}", "settings": json.dumps({setting: value})}
                rows.append({**told, "recipe": "drgst-de", "test_accuracy": 0.8 - value / 10, "draw": draw_})
    rows.append({"dataset": "flickr", "test_accuracy": 0.4})
    with Store(path, create=True) as opened:
        for number, row in enumerate(rows):
            opened.add(make_row(str(number), **row))
    return path


# confidence and gain


def test_points_are_of_the_nodes_asked_for() -> None:
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    found = confidence_gain.points("dropout", p, np.array([1.0, 2, 3, 4]), np.array([0, 0, 0, 1]), np.array([0, 1, 3]))
    assert found.confidence.tolist() == [0.9, 0.6, 0.8]
    assert found.gain.tolist() == [1, 2, 4]
    assert found.right.tolist() == [True, False, True]
    assert found.correlation is not None
    assert found.correlation.rho == pytest.approx(-0.5)


def test_medians_are_of_equally_many_nodes() -> None:
    confidence = np.array([0.9, 0.1, 0.2, 0.8])
    found = confidence_gain.Points("dropout", confidence, 1 - confidence, np.ones(4, bool), None)
    x, y = found.medians(2)
    assert x.tolist() == pytest.approx([0.15, 0.85])
    assert y.tolist() == pytest.approx([0.85, 0.15])


def test_shades_are_ranks() -> None:
    assert embedding_gain.shade(np.array([5.0, 0.1, 100.0])).tolist() == [0.5, 0, 1]


# maps


def test_a_map_that_starts_from_the_one_before_keeps_places() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(c, 0.2, (40, 5)) for c in (0, 3, 6)])
    first, second = chained_maps([rows, rows + rng.normal(0, 0.02, rows.shape)])
    size = np.ptp(first, axis=0).max()
    assert np.median(np.linalg.norm(first - second, axis=1)) < 0.15 * size
    again, _ = chained_maps([rows, rows])
    assert (again == first).all()


def test_a_sample_is_sorted_and_repeatable() -> None:
    nodes = np.arange(100)
    assert (sample(nodes, 0) == nodes).all()
    drawn = sample(nodes, 0, most=10)
    assert drawn.size == 10
    assert (np.diff(drawn) > 0).all()
    assert (drawn == sample(nodes, 0, most=10)).all()


def test_weights_are_spread_over_the_chosen_alone() -> None:
    found = stages.spread(np.array([1, 3]), np.array([2.0, 0.5]), 5)
    assert np.isnan(found[[0, 2, 4]]).all()
    assert found[[1, 3]].tolist() == [2, 0.5]


# the toy


def test_densities_integrate_to_one() -> None:
    places, area = grid(3, 121), (6 / 120) ** 2
    points = np.array([[0.0, 0.0], [0.5, -0.5]])
    assert kernel_density(points, places, 0.2).sum() * area == pytest.approx(1, abs=1e-3)
    assert gaussian(places, 0.3).sum() * area == pytest.approx(1, abs=1e-3)
    assert kernel_density(np.empty((0, 2)), places[:3], 0.2).tolist() == [0, 0, 0]


@pytest.fixture(scope="module")
def played() -> Any:
    return play(0, Sizes(100, 400, 300, 400, rounds=2, picks=50), {"fixed_epochs": 60, "samples": 20})


def test_the_toy_picks_near_the_centre_and_gamma_falls_there(played: Any) -> None:
    assert played.picked.shape == (100, 2)
    assert played.labelled.shape == (100, 2)
    assert played.gain.shape == (100,)
    assert played.right > 0.9
    far, near = (np.median(np.linalg.norm(part, axis=1)) for part in (played.labelled, played.picked))
    assert near < far
    centre, edge = played.gamma(np.array([[0.0, 0.0], [0.6, 0.0]]))
    assert centre < 1 < edge <= 2  # (n + m) / n is the most


def test_without_picks_nothing_has_shifted(played: Any) -> None:
    from dataclasses import replace

    bare = replace(played, picked=np.empty((0, 2)))
    places = grid(0.5, 5)
    assert bare.gamma(places) == pytest.approx(np.ones(25))
    assert bare.population(places) == pytest.approx(gaussian(places, float(np.hypot(SIGMA, BANDWIDTH))))


def test_the_ratio_is_not_shown_where_there_is_nothing(played: Any) -> None:
    shown = toy.ratio(played, half=2, steps=21)
    assert np.isnan(shown[0, 0])
    assert shown[10, 10] < 1


# from the store


def test_curves_leave_out_what_was_not_run(make_row: Row) -> None:
    rows = [make_row(f"{d}{k}", per_class=k, draw=d, test_accuracy=0.6 + d / 20) for d in range(3) for k in (3, 20)]
    (curve,) = labels.curves(choose(rows, Wanted()))["cora"]
    assert curve.recipe == "gcn"
    assert [point[0] for point in curve.ours] == [3, 20]
    _, mean, low, high = curve.ours[0]
    assert mean == pytest.approx(65)
    assert low < mean < high
    assert curve.paper[0] == (3, 64.52)
    assert labels.curves({}) == {}
    shown = labels.gapped(curve.ours, [3, 5, 20])
    assert [point[0] for point in shown] == [3, 5, 20]
    assert np.isnan(shown[1][1])  # no line is drawn across what was not run


@pytest.mark.parametrize("draws", [1, 2])
def test_one_draw_or_two_have_a_place_but_no_interval(draws: int, make_row: Row) -> None:
    rows = [make_row(str(d), draw=d, test_accuracy=0.6) for d in range(draws)]
    (curve,) = labels.curves(choose(rows, Wanted()))["cora"]
    (point,) = curve.ours
    assert point[:2] == (3, pytest.approx(60))
    assert np.isnan(point[2:]).all()
    assert curve.draws == [draws]


def test_how_many_draws_is_said() -> None:
    assert draws_said([1]) == "1 draw"
    assert draws_said([10, 10]) == "10 draws"
    assert draws_said([5, 3, 4]) == "3 to 5 draws"


def test_intervals_within_draws_forget_what_draws_share() -> None:
    base = np.array([0.5, 0.7, 0.9])
    even = ablation.within_draws(np.stack([base, base + 0.01]))
    assert even == pytest.approx([0, 0], abs=1e-12)
    apart = ablation.within_draws(np.stack([base, base + np.array([0.0, 0.1, 0.2])]))
    assert all(half is not None and half > 0.05 for half in apart)
    assert ablation.within_draws(np.ones((2, 1))) == [None, None]


def test_bars_are_of_shared_draws(make_row: Row) -> None:
    rows = [make_row("a", recipe="drgst-de", draw=0, test_accuracy=0.5)]
    rows += [make_row("b", recipe="drgst-de", draw=1, test_accuracy=0.9)]
    rows += [make_row("c", recipe="drgst-de-wo", draw=0, test_accuracy=0.4)]
    rows += [make_row("d", recipe="drgst-de", draw=0, per_class=5)]  # alone: nothing to compare with
    found = ablation.bars(choose(rows, Wanted()), family("drgst-de"))
    assert list(found["cora"]) == [3]
    assert [(bar.part, bar.mean, bar.draws) for bar in found["cora"][3]] == [(0, 50, 1), (3, 40, 1)]


def test_a_sweep_takes_runs_that_differ_in_the_setting_alone(make_row: Row) -> None:
    def row(key: str, **settings: float) -> dict[str, Any]:
        return make_row(key, recipe="drgst-de", settings=json.dumps(settings), test_accuracy=settings["threshold"])

    rows = [row("a", threshold=0.4, beta=0.5), row("b", threshold=0.5, beta=0.5)]
    rows += [row("c", threshold=0.7, beta=1.0), make_row("d", recipe="gcn", settings='{"threshold": 0.9}')]
    (line,) = sweep.lines(rows, "threshold")
    assert line.name == "de-3"
    assert dict(line.values) == {0.4: {0: 0.4}, 0.5: {0: 0.5}}
    assert line.means() == ([0.4, 0.5], pytest.approx([40, 50]))
    assert line.slopes() == pytest.approx({0: 1.0})
    assert sweep.lines(rows, "beta") == []  # no two runs differ in β alone


def test_sweep_means_are_over_draws_that_all_values_have() -> None:
    line = sweep.Line("drgst-do", 5, {0.4: {0: 0.6, 1: 0.2}, 0.5: {0: 0.7}})
    assert line.means()[1] == pytest.approx([60, 70])
    assert line.slopes() == pytest.approx({0: 1.0})
    assert line.name == "do-5"
    assert np.isnan(line.halves()).all()  # one draw can't tell
    assert sweep.Line("drgst-do", 5, {0.4: {0: 0.6}, 0.5: {1: 0.7}}).halves() == []  # no draw in common


def test_a_sweep_has_gaps_where_nothing_was_run() -> None:
    whole = sweep.Line("drgst-do", 3, {0.4: {0: 0.6}, 0.5: {0: 0.7}, 0.6: {0: 0.8}})
    part = sweep.Line("drgst-de", 3, {0.4: {0: 0.5}, 0.6: {0: 0.6}})
    panel = draw("threshold", sweep.Data("threshold", "cora", [whole, part])).axes[0]
    shown = {line.get_label(): np.asarray(line.get_ydata()) for line in panel.lines}
    assert shown["do-3"] == pytest.approx([60, 70, 80])
    assert shown["de-3"] == pytest.approx([50, np.nan, 60], nan_ok=True)


def test_a_sweep_without_a_shared_draw_is_refused(tmp_path: Path, make_row: Row) -> None:
    with Store(tmp_path / "runs.db", create=True) as opened:
        for number, value in enumerate((0.4, 0.5)):
            told = {"settings": json.dumps({"threshold": value}), "draw": number, "recipe": "drgst-de"}
            opened.add(make_row(str(number), variant=f"threshold={value}", **told))
    with pytest.raises(StoreError, match="holds no runs for the figure threshold"):
        prepare("threshold", Request(tmp_path / "runs.db"))


# all of them


@pytest.mark.parametrize("name", [name for name, spec in FIGURES.items() if spec.of_store])
def test_figures_of_a_store_are_drawn(name: str, store: Path, tmp_path: Path) -> None:
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
def test_figures_that_make_their_run_are_drawn(name: str, tiny: Path, tmp_path: Path) -> None:
    save(make_figure(name, Request(dataset=str(tiny), per_class=5, changes=SMALL)), tmp_path / "a.png", "png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_toy_is_drawn(played: Any, tmp_path: Path) -> None:
    save(draw("toy", played), tmp_path / "toy.svg", "svg")
    assert (tmp_path / "toy.svg").stat().st_size > 5000


def test_matplotlibs_settings_are_left_as_they_were() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with styled():
        assert matplotlib.rcParams["font.size"] == 7
    assert dict(matplotlib.rcParams) == before


def test_only_a_data_set_that_is_named_is_shown(store: Path) -> None:
    assert list(prepare("labels", Request(store))) == ["cora", "flickr"]
    assert list(prepare("labels", Request(store, dataset="flickr"))) == ["flickr"]


def test_missing_runs_are_one_sentence_with_the_words_that_make_them(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"drgst bench .*--recipes drgst-do,drgst-do-ig.*--store .*none\.db"):
        prepare("ablation-do", Request(tmp_path / "none.db"))
    with Store(tmp_path / "empty.db", create=True):
        pass
    with pytest.raises(StoreError, match=r"holds no runs for the figure beta.*--set beta=0\.333333.*--run") as caught:
        prepare("beta", Request(tmp_path / "empty.db"))
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match=r"none\.csv holds no runs .*--store runs\.db makes them"):
        prepare("labels", Request(tmp_path / "none.csv"))  # an export takes no runs


def test_grids_and_their_words() -> None:
    plan = Plan(("cora",), (3, 20), 2, {"epochs": 5})
    (curves,) = grids_of("labels", plan)
    words = command(curves, "x.db")
    assert words.startswith("drgst bench --datasets cora --per-class 3,20 --recipes gcn,gat,appnp,drgst-do,drgst-de")
    assert words.endswith("--draws 2 --set epochs=5 --store x.db")
    swept = grids_of("threshold", plan)
    assert [grid_.changes["threshold"] for grid_ in swept] == [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]
    assert swept[0].per_class == (3,)  # the paper sweeps at 3, 5 and 10
    assert grids_of("toy", plan) == []


def test_unknown_figures_are_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="did you mean 'threshold'"):
        find_figure("treshold")
