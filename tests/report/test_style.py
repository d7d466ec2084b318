"""Colours and shapes of the page, its assets, and the t-SNE map."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.report import style
from drgst.report.tsne import chained_maps, positions, principal_components, sample


def test_the_settings_of_matplotlib_are_restored() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style.styled():
        assert matplotlib.rcParams["font.size"] == 7
    assert dict(matplotlib.rcParams) == before


def test_panels_are_two_per_row_and_only_the_outer_ones_have_labels() -> None:
    _, panels = style.accuracy_panels(3, "labels per class")
    assert [panel.get_ylabel() for panel in panels] == ["test accuracy (%)", "", "test accuracy (%)"]
    assert [panel.get_xlabel() for panel in panels] == ["", "labels per class", "labels per class"]


def test_what_was_not_run_is_marked_at_the_lower_edge() -> None:
    _, (panel,) = style.accuracy_panels(1, "x")
    style.mark_not_run(panel, [(3.0, style.BLUE), (3.0, style.GREEN), (5.0, style.BLUE)])
    crosses = [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in panel.lines]
    assert [(x, m) for x, _, m in crosses] == [(3.0, "x"), (3.0, "x"), (5.0, "x")]
    assert crosses[0][1] < crosses[1][1] < 0.2  # stacked
    assert crosses[2][1] == crosses[0][1]


def test_at_least_four_points_are_shown() -> None:
    _, (panel,) = style.accuracy_panels(1, "x")
    panel.plot([0, 1], [70.0, 70.1])
    style.limit_y(panel, [70.0, 70.1])
    low, high = panel.get_ylim()
    assert high - low == pytest.approx(4)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(SettingError, match=r"a.pngs is not the name of a figure: it must end in .png, .pdf, .svg"):
        style.check_picture(Path("a.pngs"))


ASSETS = Path(str(files("drgst.report"))) / "assets"
SOURCES = sorted(path for path in ASSETS.rglob("*") if path.suffix in (".js", ".css", ".html"))
SCRIPTS = [path for path in SOURCES if path.suffix == ".js"]


def test_every_module_is_used() -> None:
    """Each is the entry of a page or imported by another module."""
    imported = {
        (path.parent / target).resolve()
        for path in SCRIPTS
        for target in re.findall(r"from '([^']+)';", path.read_text(encoding="utf-8"))
    }
    assert [path for path in SCRIPTS if path.resolve() not in imported and path.name != "main.js"] == []


def test_repeatable_and_in_the_unit_square() -> None:
    """The same embedding gives the same map, which fills one side of the square."""
    rows = np.random.default_rng(0).normal(size=(60, 8))
    first = positions(rows, seed=1)
    np.testing.assert_array_equal(first, positions(rows, seed=1))
    assert first.min() >= -1e-9
    assert first.max() <= 1 + 1e-9
    assert np.ptp(first, axis=0).max() == pytest.approx(1)


def test_clusters_stay_clusters() -> None:
    """Two distant groups are further apart on the map than they are wide."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (50, 5)), rng.normal(30, 1, (50, 5))])
    place = positions(rows)
    here, there = place[:50], place[50:]
    gap = np.linalg.norm(here.mean(axis=0) - there.mean(axis=0))
    assert gap > 2 * max(here.std(axis=0).max(), there.std(axis=0).max())


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 4), (9, 2)])
def test_few_nodes(shape: tuple[int, int]) -> None:
    """The map is two principal components; nothing is NaN."""
    place = positions(np.arange(shape[0] * shape[1], dtype=float).reshape(shape))
    assert place.shape == (shape[0], 2)
    assert np.isfinite(place).all()


def test_equal_rows() -> None:
    """A constant embedding puts all nodes in the middle."""
    np.testing.assert_allclose(positions(np.ones((40, 6))), 0.5)


def test_principal_components_do_not_depend_on_the_sign_of_the_axes() -> None:
    """The entry of largest size is positive in each component."""
    rows = np.random.default_rng(1).normal(size=(30, 4)) * [4, 3, 2, 1]
    turned = principal_components(rows)
    np.testing.assert_allclose(np.abs(principal_components(-rows)), np.abs(turned), atol=1e-9)
    for component in turned.T:
        assert component[np.abs(component).argmax()] > 0
    assert (turned.var(axis=0)[:-1] >= turned.var(axis=0)[1:]).all()


def test_a_map_that_starts_from_the_one_before_keeps_its_positions() -> None:
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
