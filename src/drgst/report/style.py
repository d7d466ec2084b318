"""Style of the figures: one column wide, colours for colour-blind readers, reproducible files."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drgst.errors import SettingError
from drgst.extras import import_extra
from drgst.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.4  # inches, one column of the paper
LINE = 82  # characters of the caption in that width
FORMATS = ("png", "pdf", "svg")
BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"  # Okabe and Ito
PURPLE, SKY, YELLOW, BLACK, GREY = "#CC79A7", "#56B4E9", "#F0E442", "#000000", "#9A9A9A"
CLASSES = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK, YELLOW)
FAINT = 0.45  # opacity of intervals, so that means stand out
Entries = dict[str, dict[str, Any]]  # of a legend: label -> line style
SHADES = "cividis"  # dark is low, light is high; also in grey print


def check_matplotlib() -> None:
    """Raise an error with the command that installs matplotlib where it is missing."""
    import_extra("matplotlib.figure", "report", "a figure")


@contextmanager
def styled() -> Iterator[None]:
    """The matplotlib settings of the figures; the previous ones are restored afterwards."""
    import matplotlib

    with matplotlib.rc_context(fname=Path(__file__).with_name("paper.mplstyle")):
        yield


def new_figure(height: float, rows: int = 1, columns: int = 1, **more: Any) -> tuple[Figure, Any]:
    """A figure of column width and its panels, (rows, columns), without the global state of pyplot."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    setattr(figure, "_repr_png_", partial(_png, figure))  # noqa: B010 (a notebook calls it)
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def _png(figure: Figure) -> bytes:
    """The figure as a notebook shows it; without pyplot, IPython has no printer for figures."""
    picture = io.BytesIO()
    with styled():
        figure.savefig(picture, format="png", dpi=144)
    return picture.getvalue()


def accuracy_panels(count: int, x_label: str) -> tuple[Figure, list[Any]]:
    """A figure with ``count`` panels of test accuracy, two per row."""
    columns = min(2, count)
    rows = math.ceil(count / columns)
    figure, axes = new_figure(0.6 + 1.7 * rows / columns**0.35, rows, columns)
    panels = list(axes.flat)
    for place, panel in enumerate(panels):
        if place >= count:
            panel.set_axis_off()
        elif place % columns == 0:
            panel.set_ylabel("test accuracy (%)")
        if place < count <= place + columns:
            panel.set_xlabel(x_label)
    return figure, panels[:count]


def legend(figure: Figure, panel: Any, entries: Entries, columns: int, not_run: bool = False) -> None:
    """A legend of label -> line style above the panels, with an entry for the crosses of :func:`mark_not_run`."""
    crosses = {"not run": {"color": GREY, "marker": "x", "ls": "none", "ms": 3}} if not_run else {}
    handles = [panel.plot([], [], label=label, **style)[0] for label, style in {**entries, **crosses}.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handletextpad=0.4)


def error_bars(panel: Any, x: Any, mean: Any, half: Any, colour: str) -> None:
    """Faint intervals mean ± half."""
    panel.errorbar(x, mean, half, ls="none", color=colour, alpha=FAINT, elinewidth=0.7, capsize=1.5)


def mark_not_run(panel: Any, places: Sequence[tuple[float, str]]) -> None:
    """A small cross at the lower edge of a panel for each (x, colour) that was not run."""
    height: dict[float, int] = {}
    for x, colour in places:
        height[x] = height.get(x, -1) + 1
        at = panel.get_xaxis_transform()
        panel.plot([x], [0.04 + 0.07 * height[x]], "x", color=colour, ms=3, mew=0.8, transform=at, clip_on=False)


def caption(figure: Figure, text: str) -> None:
    """Small print below the panels."""
    figure.supxlabel("\n".join(textwrap.wrap(text, LINE)), fontsize=5.5, color="#555555", linespacing=1.3)


def count_draws(counts: Iterable[int]) -> str:
    """``10 draws``, ``1 draw``, ``3 to 5 draws``."""
    found = sorted(set(counts))
    if len(found) > 1:
        return f"{found[0]} to {found[-1]} draws"
    return f"{found[0]} draw{'' if found[0] == 1 else 's'}"


def limit_y(panel: Any, means: Sequence[float]) -> None:
    """Fit the y axis to the means: an interval that is much wider is cut off.

    At least 4 points are shown, so that a difference of a tenth does not fill the panel.
    """
    low, high = min(means), max(means)
    room = max(4.0, 0.3 * (high - low))
    bottom, top = panel.get_ylim()
    spare = max(0.0, (4.0 - (top - bottom)) / 2)
    panel.set_ylim(max(bottom - spare, low - room), min(top + spare, high + room))


def frame_map(panel: Any) -> None:
    """A map: no ticks, equal scales, a thin frame."""
    panel.set(xticks=[], yticks=[], aspect="equal")
    for side in panel.spines.values():
        side.set(visible=True, linewidth=0.4, color=GREY)


def freeze_layout(figure: Figure) -> None:
    """Fix the layout. Otherwise each save would shift the panels by a fraction of a pixel."""
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def check_picture(path: Path) -> None:
    """Refuse a file whose name does not end as a figure's, and an installation without matplotlib."""
    check_matplotlib()
    if path.suffix.removeprefix(".") not in FORMATS:
        raise SettingError(f"{path} is not the name of a figure: it must end in .{', .'.join(FORMATS)}")


def save(figure: Figure, path: Path) -> None:
    """Write the figure atomically and without a date, so that the same figure gives the same file."""
    check_picture(path)
    how = path.suffix.removeprefix(".")
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
    with styled(), replacing(path) as temporary:
        figure.savefig(temporary, format=how, metadata=undated[how])
