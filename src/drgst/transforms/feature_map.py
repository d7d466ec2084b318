"""Features of any kind -> a dense table of at most k columns; fitted on one graph, applied to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from drgst.graph.core import Features
from drgst.transforms.features import GRAM_COLUMNS, idf, project, projection, row_l2, scale_columns
from drgst.transforms.rank_normalise import RankTable, is_numeric

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """x -> (x - m) ∘ s / ‖·‖₂ V, (N, k): columns weighted, rows of unit length, columns reduced.

    Numeric features are rank-normalised first (:class:`~.RankTable`). Without negative values, m = 0 and s is the
    square root of the inverse document frequency, so that rare words count more (experiment 021); otherwise m is the
    mean and 1/s the standard deviation of each column. V are the leading right singular vectors.
    """

    ranks: RankTable | None
    shift: np.ndarray | None  # m, (F,); None for 0
    scale: np.ndarray  # s, (F,)
    vectors: np.ndarray | None  # V, (F, k); None where there are few columns

    @classmethod
    def fit(cls, x: Features, k: int) -> FeatureMap:
        """The map of at most ``k`` columns for features like ``x``, (N, F)."""
        ranks = RankTable.fit(x) if is_numeric(x) else None
        x = x if ranks is None else ranks(x)
        values = x if isinstance(x, np.ndarray) else x.data
        shift = None
        if values.min(initial=0) < 0:
            mean, deviation = _moments(x)
            scale = (1 / np.where(deviation > 0, deviation, 1)).astype(np.float32)
            shift = mean.astype(np.float32) if x.shape[1] <= GRAM_COLUMNS else None
        else:
            scale = np.sqrt(idf(x))
        plain = cls(None, shift, scale, None)
        return cls(ranks, shift, scale, projection(plain.weighted(x), k))

    def __call__(self, x: Features, columns: slice = slice(None)) -> np.ndarray:
        """The table of the nodes with features ``x``, (N, ≤k) float32, or some of its columns."""
        if self.vectors is None:
            return project(self.weighted(x)[:, columns], None)
        return project(self.weighted(x), np.ascontiguousarray(self.vectors[:, columns]))

    @property
    def width(self) -> int:
        """The number of columns of the table."""
        return int(self.scale.size if self.vectors is None else self.vectors.shape[1])

    def weighted(self, x: Features) -> Features:
        """The rows of unit length before their columns are reduced, (N, F)."""
        x = x if self.ranks is None else self.ranks(x)
        if self.shift is None:
            return row_l2(scale_columns(x, self.scale))
        return row_l2(((x if isinstance(x, np.ndarray) else x.toarray()) - self.shift) * self.scale)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that the map consists of."""
        own = {"shift": self.shift, "scale": self.scale, "vectors": self.vectors}
        ranks = {} if self.ranks is None else {f"ranks_{name}": a for name, a in vars(self.ranks).items()}
        return {name: array for name, array in {**own, **ranks}.items() if array is not None}

    @classmethod
    def of(cls, arrays: Arrays) -> FeatureMap:
        """The map that consists of ``arrays``."""
        ranks = {k.removeprefix("ranks_"): a for k, a in arrays.items() if k.startswith("ranks_")}
        table = RankTable(**ranks) if ranks else None
        return cls(table, arrays.get("shift"), arrays["scale"], arrays.get("vectors"))


def _moments(x: Features) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every column, (F,) float64."""
    mean = np.asarray(x.mean(axis=0, dtype=np.float64)).reshape(-1)
    squares = x * x if isinstance(x, np.ndarray) else x.multiply(x)
    variance = np.asarray(squares.mean(axis=0, dtype=np.float64)).reshape(-1) - mean * mean
    return mean, np.sqrt(np.maximum(variance, 0))
