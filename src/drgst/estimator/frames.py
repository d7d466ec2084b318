"""Data frames and the network of a fitted estimator."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from drgst.decide.labels.suggest import suggest
from drgst.errors import RunError
from drgst.extras import import_extra
from drgst.nn.models.module import PyGModule
from drgst.runs.model import Model
from drgst.runs.result import Result
from drgst.selftrain.learners.network import Network
from drgst.selftrain.predict import own_state

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn


def predictions_frame(result: Result) -> pd.DataFrame:
    """The rows of ``predictions.csv``, by node id."""
    pandas = import_extra("pandas", "notebook", "a data frame")
    text = {"id": str, "label": str, "given": str}
    frame = pandas.read_csv(
        io.StringIO(result.predictions_csv()),
        dtype=text,
        keep_default_na=False,
        na_values={name: [""] for name in ("gain", "out_of_fold", "given")},
    )
    frame["id"] = result.node_ids
    return frame.set_index("id")


def suggestions_frame(result: Result, n: int, by: str | None) -> pd.DataFrame:
    """Nodes to label next, by node id; ``attrs["note"]`` says how they were chosen."""
    pandas = import_extra("pandas", "notebook", "a data frame")
    found = suggest(result, n, by)
    rows = [
        {"id": result.node_ids[row.pop("node")], **row, "predicted": result.model.class_names[row["predicted"]]}
        for row in found.rows(result.probabilities)
    ]
    frame = pandas.DataFrame(rows).set_index("id")
    frame.attrs["note"] = found.note
    return frame


def fitted_network(model: Model) -> nn.Module:
    """The network of ``model`` with its weights, in evaluation mode."""
    learner = model.parts.learner
    if not isinstance(learner, Network):
        raise RunError(f"recipe {model.recipe} trains no network")
    classes = len(model.class_names)
    columns = model.num_features if model.input_features is None else model.input_features
    made = learner.restored(own_state(model.state), columns, classes, model.settings)
    return (made.module if isinstance(made, PyGModule) else made).eval()
