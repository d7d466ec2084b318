"""Values that depend on the features and edges of a graph alone, each computed once per run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drgst.graph.core import Features, Graph


class GraphCache:
    """Keeps values of one graph by name; another graph empties it.

    A problem owns one, and problems that differ in labels alone may share one: the fold problems of cross-fitting,
    and the runs of a bench on the same graph. Nothing that depends on a label may be put into it.
    """

    def __init__(self) -> None:
        self._features: Features = None
        self._adjacency: Any = None
        self._values: dict[str, Any] = {}

    def get(self, graph: Graph, name: str, make: Callable[[], Any]) -> Any:
        """The value of that name for ``graph``, made by ``make`` where it is not there yet."""
        if self._features is not graph.features or self._adjacency is not graph.adjacency:
            self._features, self._adjacency, self._values = graph.features, graph.adjacency, {}
        if name not in self._values:
            self._values[name] = make()
        return self._values[name]
