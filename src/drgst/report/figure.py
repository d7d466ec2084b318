"""The picture of an evaluation: precision and recall, calibration, confusion matrix and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.decide.evaluate import Evaluation
from drgst.report.style import BLUE, CLASSES, GREY, VERMILLION, check_matplotlib, new_figure, styled
from drgst.runs.metrics import reliability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 10
MOST_CLASSES = 7  # whose calibration is drawn


def evaluation_figure(found: Evaluation) -> Figure:
    """Precision over recall, stated against true share, precision and recall by threshold, and the confusion matrix."""
    check_matplotlib()
    with styled():
        figure, axes = new_figure(3.3, 2, 2)
        curve, calibration, thresholds, confusion = axes.flat
        _calibration(calibration, found)
        _confusion(confusion, found)
        if found.positive is None:
            for panel in (curve, thresholds):
                panel.set_axis_off()
            return figure
        recall, precision = found.ranking.curve
        curve.plot(recall, precision, color=BLUE, drawstyle="steps-pre")
        value = found.figures["average_precision"]
        curve.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
        curve.set_title(f"average precision {value.value:.3f}")
        curve.text(0.04, 0.06, f"95%: {value.low:.3f} to {value.high:.3f}", transform=curve.transAxes, fontsize=5.5)
        _thresholds(thresholds, found)
    return figure


def _calibration(panel: Any, found: Evaluation) -> None:
    """True share against mean stated probability in ten bins: of the predicted class, and of each class.

    Of two classes one is shown, the positive one; of more than seven none.
    """
    p, shown = found.probabilities, [one.label for one in found.calibration]
    shown = (
        shown[:1] if len(shown) == 2 else shown if len(shown) <= MOST_CLASSES else shown[: found.positive is not None]
    )
    series = [(name, p[:, c], found.truth == c) for name in shown for c in (found.class_names.index(name),)]
    series.append(("predicted class", p.max(axis=1), p.argmax(axis=1) == found.truth))
    panel.plot([0, 1], [0, 1], color=GREY, lw=0.6)
    for (name, stated, hit), colour in zip(series, CLASSES, strict=False):
        count, mean, true = reliability(stated, hit, BINS)
        filled = count > 0
        panel.plot(mean[filled], true[filled], color=colour, lw=0.6, alpha=0.6)
        sizes = 3 + 14 * np.sqrt(count[filled] / count.max())
        label = name if len(name) <= 16 else name[:15] + "…"
        panel.scatter(mean[filled], true[filled], s=sizes, color=colour, label=label)
    panel.set(xlabel="stated probability", ylabel="true share", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    panel.set_title("calibration")
    panel.legend(fontsize=4.5)


def _thresholds(panel: Any, found: Evaluation) -> None:
    t = [row.threshold for row in found.thresholds]
    for name, colour in (("precision", BLUE), ("recall", VERMILLION)):
        each = [getattr(row, name) for row in found.thresholds]
        panel.plot(t, [e.value for e in each], color=colour, label=name)
        panel.fill_between(t, [e.low for e in each], [e.high for e in each], color=colour, alpha=0.2, lw=0)
    panel.set(xlabel="threshold", ylim=(0, 1.02))
    panel.legend()


def _confusion(panel: Any, found: Evaluation) -> None:
    """Row shares as shades, counts as text where there are few classes."""
    table = found.confusion
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    panel.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    few = len(found.class_names) <= 8
    if few:
        for (i, j), value in np.ndenumerate(table):
            colour = "white" if shares[i, j] > 0.5 else "black"
            panel.text(j, i, f"{int(value):,}", ha="center", va="center", color=colour, fontsize=5)
    ticks = range(len(found.class_names)) if few else []
    names = [name if len(name) <= 12 else name[:11] + "…" for name in found.class_names] if few else []
    panel.set_xticks(ticks, names, rotation=30 if few and len(names) > 3 else 0)
    panel.set_yticks(ticks, names)
    panel.set(xlabel="predicted", ylabel="true")
