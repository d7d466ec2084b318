"""What a fitted estimator shows: data frames, its network, and its card in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from drgst.decide.labels.suggest import suggest
from drgst.decide.review import review
from drgst.errors import RunError
from drgst.extras import import_extra
from drgst.runs.model import Model
from drgst.runs.result import Result
from drgst.selftrain.learners.network import Network
from drgst.selftrain.recipe import own_state

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn

STYLE = (
    "border:1px solid #8884;border-radius:6px;padding:10px 14px;display:inline-block;font-family:sans-serif;"
    "font-size:13px;max-width:640px"
)
BAR = "display:inline-block;height:9px;border-radius:2px;background:#0072B2;margin-right:6px;vertical-align:middle"
TABLE = "margin:0;font-size:inherit"
MOST_CLASSES = 12  # the largest classes are shown, the others are summed up


def predictions_frame(result: Result) -> pd.DataFrame:
    """The rows of ``predictions.csv``, by node id."""
    pieces = result.predictions.pieces(len(result.node_ids))
    return _frame(next(pieces)).astype({"gain": float, "out_of_fold": float})


def suggestions_frame(result: Result, n: int, by: str | None) -> pd.DataFrame:
    """Nodes to label next, by node id; ``attrs["note"]`` says how they were chosen."""
    found = suggest(result, n, by)
    rows = [
        {"id": result.node_ids[row.pop("node")], **row, "predicted": result.model.class_names[row["predicted"]]}
        for row in found.rows(result.probabilities)
    ]
    frame = _frame(rows)
    frame.attrs["note"] = found.note
    return frame


def review_frame(result: Result) -> pd.DataFrame:
    """The contradicted labels, by node id."""
    return _frame(review(result).rows(result.node_ids, result.model.class_names), "given", "suggested")


def _frame(rows: Any, *columns: str) -> pd.DataFrame:
    pandas = import_extra("pandas", "notebook", "a data frame")
    return pandas.DataFrame(rows, columns=None if rows else ["id", *columns]).set_index("id")


def fitted_network(model: Model) -> nn.Module:
    """The network of ``model`` with its weights, in evaluation mode."""
    learner = model.parts.learner
    if not isinstance(learner, Network):
        raise RunError(f"recipe {model.recipe} trains no network")
    classes = len(model.class_names)
    columns = model.num_features if model.input_features is None else model.input_features
    from drgst.nn.pyg_module import PyGModule  # imports torch, which is slow

    made = learner.restored(own_state(model.state), columns, classes, model.settings)
    return (made.module if isinstance(made, PyGModule) else made).eval()


def card_html(title: str, result: Result) -> str:
    """Accuracy where labels are known, stages, stop reason and the shares of the predicted classes."""
    rows = [*_accuracies(result), *_stages(result), ("stopped", result.history.stop_reason)]
    note = result.stage.note
    rows += [("note", note)] if note and note != result.history.stop_reason else []
    facts = "".join(
        f"<tr><td style='text-align:left;color:#777;vertical-align:top'>{escape(name)}</td>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    shares = "".join(_share_row(*row) for row in class_shares(result))
    return (
        f"<div style='{STYLE}'><div style='font-weight:600;font-family:monospace'>{escape(title)}</div>"
        f"<div style='color:#777;margin:2px 0 6px'>{escape(repr(result.graph))}</div>"
        f"<table style='{TABLE}'>{facts}</table>"
        f"<div style='color:#777;margin-top:6px'>predicted classes</div><table style='{TABLE}'>{shares}</table></div>"
    )


def class_shares(result: Result) -> list[tuple[str, int, float]]:
    """(class, nodes, share of all nodes) of the predicted classes, largest first; small ones together at the end."""
    counts, total = list(result.predictions.counts.items()), len(result.node_ids)
    rest = sum(count for _, count in counts[MOST_CLASSES:])
    others = [(f"{len(counts) - MOST_CLASSES} other classes", rest)] if rest else []
    return [(name, count, count / total) for name, count in counts[:MOST_CLASSES] + others]


def _accuracies(result: Result) -> list[tuple[str, str]]:
    rows = []
    for part, name in (("test", "test accuracy"), ("val", "validation accuracy")):
        after, before = result.metrics[f"{part}_accuracy"], result.metrics[f"teacher_{part}_accuracy"]
        if after is not None and before is not None:
            teacher = f" (teacher {before:.1%})" if result.stage.number else " (the teacher)"
            rows.append((name, f"{after:.1%}{teacher}"))
    return rows


def _stages(result: Result) -> list[tuple[str, str]]:
    sizes = [stage.pseudo_labels.nodes.size for stage in result.history.stages[1:]]
    added = ", ".join(f"{size:,}" for size in sizes)
    words = f"{len(sizes)}, pseudo-labelled nodes: {added}" if sizes else "teacher only"
    result_words = f"; the result is stage {result.stage.number}" if result.stage.number != len(sizes) else ""
    seconds = f"{result.seconds:.1f} s" + (f", {result.epochs:,} epochs" if result.epochs else "")
    return [("stages", f"{words}{result_words}"), ("time", seconds)]


def _share_row(name: str, count: int, share: float) -> str:
    return (
        f"<tr><td style='text-align:left'>{escape(name)}</td>"
        "<td style='text-align:left;white-space:nowrap'>"
        f"<span style='{BAR};width:{max(1, round(160 * share))}px'></span>{count:,} ({share:.0%})</td></tr>"
    )
