"""Columns of features, splits, edge ends and weights as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.tables.columns import dense_features, edge_ends, edge_weights, listed_features, read_split

PATH = Path("nodes.csv")


def column(*cells: object) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells)])


def test_sparse_features() -> None:
    x = listed_features(column("3:1.5 0", "", "2:-2e-1"), "features", PATH)
    assert isinstance(x, sp.csr_array)
    assert np.allclose(x.toarray(), [[1, 0, 0, 1.5], [0, 0, 0, 0], [0, 0, -0.2, 0]])
    assert listed_features(column("3:1.5"), "features:9", PATH).shape == (1, 9)


def test_lists_of_features() -> None:
    x = listed_features(column([1.0, 2.0], [3.0, 4.0]), "features", PATH)
    assert (x.dtype, x.tolist()) == (np.float32, [[1, 2], [3, 4]])
    with pytest.raises(DataFileError, match="row 2 lists 1 features, but the first lists 2"):
        listed_features(column([1.0, 2.0], [3.0]), "features", PATH)


def test_dense_features() -> None:
    table = pa.table({"a": [1, 2], "b": [True, False]})
    assert dense_features(table, [], PATH) is None
    assert dense_features(table, ["b", "a"], PATH).tolist() == [[1, 1], [0, 2]]  # type: ignore[union-attr]


def test_a_split() -> None:
    split = read_split(column("train", None, "val", " test "), "split:other", PATH)
    assert split is not None
    assert (split.name, split.train.tolist(), split.test.tolist(), split.pool.tolist()) == ("other", [0], [3], [1])
    assert read_split(column("", None), "split", PATH) is None


def test_ends_as_text_integers_and_floats() -> None:
    ids = np.array([10, 7, 2])
    for cells in (column(" 7 ", "2"), column(7, 2), column(7.0, 2.0)):
        assert edge_ends(cells, "source", ids, PATH).tolist() == [1, 2]
    with pytest.raises(DataFileError, match=r"nodes.csv: row 2, target '8' is not the id of a node"):
        edge_ends(column("7", "8"), "target", ids, PATH)


def test_weights() -> None:
    assert edge_weights(column(1, 2), PATH).tolist() == [1, 2]
    with pytest.raises(DataFileError, match=r"row 2 has weight -1.0"):
        edge_weights(column(1.0, -1.0), PATH)


def test_nested_lists_are_refused() -> None:
    with pytest.raises(
        DataFileError, match=r"nodes.csv: the column 'features' holds list<.*list<.*>>, not lists of num"
    ):
        listed_features(column([[1.0], [2.0]], [[3.0], [4.0]]), "features", PATH)


def test_an_end_that_is_written_otherwise_in_the_node_table_is_explained() -> None:
    with pytest.raises(DataFileError, match=r"source '0' is not the id of a node; the node table writes it '0.0'"):
        edge_ends(column("0", "1"), "source", np.array(["0.0", "1.0"]), PATH)
