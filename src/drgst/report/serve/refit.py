"""How the model follows the labels: a preview after every label, which a complete fit replaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from drgst.runs.metrics import wilson
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.history import History
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.postprocess import Context
from drgst.selftrain.views.ensemble import MultiViewEnsemble, fitted_weights

Document = dict[str, Any]
Publish = Callable[[str, Document], None]  # event, its content


class Overtaken(Exception):
    """The labels changed while the model was fitted to them."""


class Progress(Callback):
    """Publishes each step and stage of a fit, and ends it once it is ``overtaken``."""

    def __init__(self, publish: Publish, overtaken: Callable[[], bool] = lambda: False) -> None:
        self.publish, self.overtaken = publish, overtaken

    def step(self, what: str, number: int, total: int) -> None:
        self._go_on()
        self.publish("progress", {"text": f"{what} {number} of {total}"})

    def epoch(self, *_figures: float) -> None:
        self._go_on()

    def stage(self, history: History) -> None:
        self.publish("progress", {"text": f"stage {len(history) - 1} is done"})

    def _go_on(self) -> None:
        if self.overtaken():
            raise Overtaken


def preview(run: Run, last: Result) -> Result | None:
    """z ≈ z' + (t - t') / T for the labels of ``run``; None where only a complete fit will do (experiment 055).

    z' are the logits of the ``last`` complete fit and T its temperature, t' those before cross-fitting, and t the same
    for the labels of ``run`` with the view weights of ``last``. No label is held out, which saves most of a fit.
    """
    recipe, weights = run.recipe, tuple(fitted_weights(last.model.state).items())
    same = run.graph.class_names == last.model.class_names
    if not (same and weights and isinstance(recipe, Recipe) and isinstance(recipe.learner, MultiViewEnsemble)):
        return None
    before = last.history.accepted[-1].logits
    temperature = next((t for name, t in last.model.state.items() if name.endswith(".temperature")), np.float32(1))

    def moved(logits: np.ndarray, _context: Context) -> np.ndarray:
        return last.stage.final_logits + (logits - before) / temperature

    parts = recipe.with_parts(learner=replace(recipe.learner, weights=weights), postprocess=(moved,))
    return replace(run, recipe=parts).execute()


def curve_point(result: Result) -> Document:
    """Number of labels, out-of-fold accuracy with its 95 % interval, and the accuracy that the model itself expects.

    Nothing is measured on ``asked`` labels: they are not a random sample.
    """
    rest, count, accuracy = result.unlabelled, int(result.measured.sum()), result.oof_accuracy
    low, high = wilson(round(accuracy * count), count) if accuracy is not None else (None, None)
    return {
        "labels": int(result.train.size),
        "oof": accuracy,
        "low": low,
        "high": high,
        "expected": float(result.probabilities[rest].max(axis=1).mean()) if rest.size else None,
        "asked": int((~result.sampled).sum()),
    }
