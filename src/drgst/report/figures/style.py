"""How figures look: a column wide, colours that every eye tells apart, the same file for the same figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drgst.errors import SettingError, unknown
from drgst.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.4  # inches, a column of the paper
LINE = 82  # letters of small print in that width
FORMATS = ("png", "pdf", "svg")
BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"  # Okabe and Ito
PURPLE, SKY, YELLOW, BLACK, GREY = "#CC79A7", "#56B4E9", "#F0E442", "#000000", "#9A9A9A"
CLASSES = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK, YELLOW)
FAINT = 0.45  # of intervals, so that means stand out
FEWEST = 3  # draws that have an interval: that of two is 12.7 standard errors to each side and hides all else
SHADES = "cividis"  # dark is low, light is high; also in grey print

_RULES: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so a figure is the same everywhere
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.titlepad": 4,
    "axes.labelsize": 7,
    "axes.labelpad": 2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.0,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.2,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # text stays text
    "svg.hashsalt": "drgst",  # else ids differ from file to file
}


def check_matplotlib() -> None:
    """Refuse to go on where matplotlib is not installed, with a word on how to get it."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise SettingError("figures need matplotlib, which is not installed: pip install 'drgst[figures]'") from None


@contextmanager
def styled() -> Iterator[None]:
    """matplotlib's settings inside, those from before afterwards."""
    import matplotlib

    with matplotlib.rc_context(_RULES):
        yield


def new_figure(height: float, rows: int = 1, columns: int = 1, **more: Any) -> tuple[Figure, Any]:
    """A figure of column width and its panels, (rows, columns); no pyplot, so nothing global and no window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def note(figure: Figure, words: str) -> None:
    """Small print below the panels, in as many lines as it takes."""
    figure.supxlabel("\n".join(textwrap.wrap(words, LINE)), fontsize=5.5, color="#555555", linespacing=1.3)


def draws_said(counts: Iterable[int]) -> str:
    """``10 draws``, ``1 draw``, ``3 to 5 draws``."""
    found = sorted(set(counts))
    if len(found) > 1:
        return f"{found[0]} to {found[-1]} draws"
    return f"{found[0]} draw{'' if found[0] == 1 else 's'}"


def name_axes(panels: Any, used: int) -> None:
    """Accuracy beside the leftmost panels, labels a class below the lowest of each column."""
    columns = panels.shape[1]
    for place in range(used):
        panel = panels.flat[place]
        if place % columns == 0:
            panel.set_ylabel("test accuracy, %")
        if place + columns >= used:
            panel.set_xlabel("labels a class")


def bound(panel: Any, means: list[float]) -> None:
    """Keep the means rank_normalised: an interval of two draws may be wider than all else, and is then cut off.

    At least 4 points are shown, so that a difference of a tenth does not fill the panel.
    """
    low, high = min(means), max(means)
    room = max(4.0, 0.3 * (high - low))
    bottom, top = panel.get_ylim()
    spare = max(0.0, (4.0 - (top - bottom)) / 2)
    panel.set_ylim(max(bottom - spare, low - room), min(top + spare, high + room))


def bare(axes: Any) -> None:
    """A map: no ticks, equal scales, a thin frame."""
    axes.set(xticks=[], yticks=[], aspect="equal")
    for side in axes.spines.values():
        side.set(visible=True, linewidth=0.4, color=GREY)


def settle(figure: Figure) -> None:
    """Lay the panels out for good: else every file that is saved moves them by a hair."""
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def check_format(how: str) -> None:
    """Refuse an unknown format, with the nearest known one."""
    if how not in FORMATS:
        raise SettingError(unknown("format", how, FORMATS))


def save(figure: Figure, path: Path, how: str) -> None:
    """Write the figure, whole or not at all; without a date, so that the same figure is the same file."""
    check_format(how)
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
    with styled(), replacing(path) as temporary:
        figure.savefig(temporary, format=how, metadata=undated[how])
