"""Features that are shown and left out together: the columns of a table, or single features."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.tables.schema import TableSchema

EPOCH = date(1970, 1, 1)
WORDS = 5  # of a text that are shown
DENSE = 256  # features up to which all are groups of their own, also where they are 0


@dataclass(frozen=True, eq=False)
class FeatureGroup:
    """Features of one node with their means over all nodes."""

    name: str
    detail: str  # its value, and the average of the class
    columns: np.ndarray  # (K,)
    means: np.ndarray  # (K,)


def feature_groups(graph: Graph, node: int, same_class: np.ndarray, schema: TableSchema | None) -> list[FeatureGroup]:
    """The groups of the node, farthest from their means first; ``same_class`` are the nodes of its predicted class."""
    x = graph.features
    row = x[[node]].toarray()[0] if not isinstance(x, np.ndarray) else x[node]
    means, typical = (np.asarray(x[rows].mean(axis=0)).ravel() for rows in (slice(None), same_class))
    if schema is not None and len(schema.feature_names) == graph.num_features:
        return _table_groups(schema, row, means, typical)
    shown = np.arange(row.size) if row.size <= DENSE else np.flatnonzero(row)
    order = shown[np.argsort(-np.abs(row - means)[shown], kind="stable")]
    return [
        FeatureGroup(f"feature {k}", f"{row[k]:.4g} (class average {typical[k]:.4g})", np.array([k]), means[[k]])
        for k in order.tolist()
    ]


def _table_groups(schema: TableSchema, row: np.ndarray, means: np.ndarray, typical: np.ndarray) -> list[FeatureGroup]:
    columns = np.array(schema.feature_columns)
    encoders: dict[str, Any] = {e.column: e for e in schema.columns} | {e.name: e for e in schema.edge_columns}
    groups = []
    for name in dict.fromkeys(columns.tolist()):
        places = np.flatnonzero(columns == name)
        encoder = encoders.get(name)
        names = [schema.feature_names[k] for k in places]
        detail = "" if encoder is None else _detail(encoder, names, row[places], typical[places])
        groups.append(FeatureGroup(name, detail, places, means[places]))
    return groups


def _detail(encoder: Any, names: list[str], x: np.ndarray, typical: np.ndarray) -> str:
    """The value of a column as it stood in the table, and what is usual in the class."""
    if getattr(encoder, "flag", False) and x[-1] > 0.5:
        return f"missing ({typical[-1]:.0%} of the class)"
    kind = getattr(encoder, "kind", "number")
    if kind == "category":
        k = int(x.argmax())
        return f"{names[k].partition(' = ')[2]} ({typical[k]:.0%} of the class)" if x[k] > 0 else "another"
    if kind == "text":
        words = [names[k].partition(": ")[2] for k in np.argsort(-x)[:WORDS] if x[k] > 0]
        return ", ".join(words) or "none of the frequent words"
    if kind == "boolean":
        return f"{'yes' if x[0] > 0.5 else 'no'} ({typical[0]:.0%} yes in the class)"
    value, usual = (float(np.interp(z, encoder.scale.scores, encoder.scale.knots)) for z in (x[0], typical[0]))
    if kind == "date":
        return f"{EPOCH + timedelta(days=value)} (class average {EPOCH + timedelta(days=usual)})"
    return f"{value:,.6g} (class average {usual:,.4g})"
