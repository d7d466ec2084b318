"""Graph folders from tables larger than memory, with DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from drgst.errors import DataFileError, GraphError
from drgst.extras import import_extra
from drgst.files import PathLike
from drgst.graph.core import Graph
from drgst.io.folder import new_folder, open_graph_folder, write_rest
from drgst.tables.columns import dense_features, listed_features, read_split
from drgst.tables.graph_tables import column_role, table_paths
from drgst.tables.naming import clean_ids, encode_labels

ROWS = 100_000  # of a batch

Shapes = dict[str, tuple[str, tuple[int, ...]]]  # array -> type and shape


def build_graph_folder(tables: PathLike, out: PathLike, memory: str = "2GB") -> Graph:
    """Write the graph of ``nodes.*`` and ``edges.*`` in the folder ``tables`` to the graph folder ``out``, and open it.

    The columns are those of :mod:`drgst.tables.graph_tables`. Edges are joined, made undirected and sorted by DuckDB,
    which uses at most ``memory`` and the disk beside ``out``. Ids and labels are held in memory.
    """
    duckdb = import_extra("duckdb", "large", "A graph folder of tables")
    nodes, edges = table_paths(Path(tables))
    with new_folder(out) as folder:
        work = folder / "work"
        work.mkdir()
        try:
            with duckdb.connect(work / "tables.db", config={"memory_limit": memory, "temp_directory": str(work)}) as db:
                builder = _Builder(db, folder, nodes, edges)
                builder.build(Path(tables).resolve().name or "graph")
        except duckdb.Error as error:
            raise DataFileError(f"{nodes.parent}: {str(error).splitlines()[0]}") from error
        for file in sorted(work.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        work.rmdir()
    return open_graph_folder(out)


class _Builder:
    """Writes the arrays of one graph to a folder."""

    def __init__(self, db: Any, folder: Path, nodes: Path, edges: Path) -> None:
        self.db, self.folder, self.nodes, self.edges = db, folder, nodes, edges

    def build(self, name: str) -> None:
        columns = self._columns(self.nodes, ("id",))
        splits = [column for column in columns if column_role(column) == "split"]
        known = ["id", *(["label"] if "label" in columns else []), *splits]
        table = pa.Table.from_batches(self._batches(self.nodes, {column: _name(column) for column in known}))
        ids = clean_ids(table.column("id").to_pylist())
        labels, classes = encode_labels(table.column("label").to_pylist() if "label" in columns else [None] * ids.size)
        found = (read_split(table.column(column), column, self.nodes) for column in splits)
        parts = tuple(split for split in found if split is not None)
        shapes, width, sparse = self._features(columns, ids.size)
        notes = self._adjacency(ids, shapes)
        empty = sp.csr_array((ids.size, width), dtype=np.float32) if sparse else np.empty((ids.size, width), np.float32)
        graph = Graph.unchecked(
            features=empty,
            adjacency=sp.csr_array((ids.size, ids.size), dtype=np.float32),
            labels=labels,
            class_names=classes,
            node_ids=ids,
            name=name,
            splits=parts,
            notes=notes,
        )
        try:  # what is in memory is checked as always
            graph = graph.with_(labels=labels, node_ids=ids, splits=parts)
        except GraphError as error:
            raise GraphError(f"{self.nodes}: {error}") from error
        write_rest(self.folder, graph, shapes)

    def _features(self, columns: list[str], count: int) -> tuple[Shapes, int, bool]:
        """Write X a batch of rows at a time; the shapes of its arrays, F, and whether it is sparse."""
        listed = [column for column in columns if column_role(column) == "features"]
        single = [column for column in columns if column_role(column) == "feature"]
        if len(listed) > 1 or (listed and single):
            raise DataFileError(
                f"{self.nodes}: beside {listed[0]!r} there can be no column {(listed[1:] + single)[0]!r}"
            )
        if not listed and not single:
            return self._append_sparse(iter(()), count)
        cells = {c: _name(c) if listed else f"TRY_CAST({_name(c)} AS DOUBLE)" for c in listed or single}
        blocks = self._feature_blocks(cells, listed)
        first = next(blocks, None)
        if first is None:
            raise GraphError(f"{self.nodes}: the graph is empty: it has no nodes")
        every = _chain(first, blocks)
        return self._append_sparse(every, count) if sp.issparse(first) else self._append_dense(every, count)

    def _feature_blocks(self, cells: dict[str, str], listed: list[str]) -> Iterator[Any]:
        for batch in self._batches(self.nodes, cells):
            table = pa.Table.from_batches([batch])
            if listed:
                block = listed_features(table.column(listed[0]), listed[0], self.nodes)
            else:
                found = dense_features(table, list(cells), self.nodes)
                assert found is not None
                block = found
            values = block.data if sp.issparse(block) else block
            if not np.isfinite(values).all():
                raise GraphError(f"{self.nodes}: a feature is NaN or infinite")
            yield block

    def _append_dense(self, blocks: Iterator[np.ndarray], count: int) -> tuple[Shapes, int, bool]:
        width = -1
        with open(self.folder / "features.bin", "wb") as file:
            for block in blocks:
                if width not in (-1, block.shape[1]):
                    raise DataFileError(f"{self.nodes}: rows have {width} and {block.shape[1]} features")
                width = block.shape[1]
                np.ascontiguousarray(block, dtype=np.float32).tofile(file)
        return {"features": ("float32", (count, width))}, width, False

    def _append_sparse(self, blocks: Iterator[sp.csr_array], count: int) -> tuple[Shapes, int, bool]:
        counts, width = [np.zeros(1, dtype=np.int64)], 0
        with (
            open(self.folder / "features.indices.bin", "wb") as indices,
            open(self.folder / "features.data.bin", "wb") as data,
        ):
            for block in blocks:
                block.sum_duplicates()
                block.eliminate_zeros()
                width = max(width, block.shape[1])
                counts.append(np.diff(block.indptr).astype(np.int64))
                block.indices.astype(np.int32).tofile(indices)
                block.data.astype(np.float32).tofile(data)
        per_row = np.concatenate(counts)
        if per_row.size == 1:  # no features at all
            per_row = np.zeros(count + 1, dtype=np.int64)
        return self._write_indptr("features", per_row), width, True

    def _adjacency(self, ids: np.ndarray, shapes: Shapes) -> tuple[str, ...]:
        """Write A, row by row; what was changed."""
        columns = self._columns(self.edges, ("source", "target"))
        weight = "CAST(weight AS FLOAT)" if "weight" in columns else "CAST(1 AS FLOAT)"
        names = pa.table({"node": np.arange(ids.size), "id": pa.array(ids.astype(str), pa.string())})
        self.db.register("ids", names)
        self.db.execute(
            f"CREATE TABLE pairs AS SELECT source, target, s.node AS u, t.node AS v, w FROM (SELECT "
            f"trim(CAST(source AS VARCHAR)) AS source, trim(CAST(target AS VARCHAR)) AS target, {weight} AS w "
            f"FROM {self._source(self.edges)}) LEFT JOIN ids s ON source = s.id LEFT JOIN ids t ON target = t.id"
        )
        self._refuse("u IS NULL", "source", "source {!r} is not the id of a node")
        self._refuse("v IS NULL", "target", "target {!r} is not the id of a node")
        self._refuse("w IS NULL OR NOT isfinite(w) OR w <= 0", "w", "an edge has weight {}: weights must be above 0")
        loops = self.db.execute("SELECT count(*) FROM pairs WHERE u = v").fetchone()[0]
        both = "SELECT u, v, w FROM pairs WHERE u <> v UNION ALL SELECT v, u, w FROM pairs WHERE u <> v"
        rows = self.db.execute(f"SELECT u, v, max(w) AS w FROM ({both}) GROUP BY u, v ORDER BY u, v")
        degrees = np.zeros(ids.size + 1, dtype=np.int64)
        with (
            open(self.folder / "adjacency.indices.bin", "wb") as indices,
            open(self.folder / "adjacency.data.bin", "wb") as data,
        ):
            for batch in rows.to_arrow_reader(ROWS):
                u, v, w = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("u", "v", "w"))
                degrees += np.bincount(u + 1, minlength=ids.size + 1)
                v.astype(np.int32).tofile(indices)
                w.astype(np.float32).tofile(data)
        shapes |= self._write_indptr("adjacency", degrees)
        return (f"{loops} self-loops were removed",) if loops else ()

    def _write_indptr(self, key: str, per_row: np.ndarray) -> Shapes:
        """Write the cumulative sums of the entries per row (after a 0); the shapes of the three arrays."""
        indptr = np.cumsum(per_row)
        entries = int(indptr[-1])
        kind = np.int32 if entries < np.iinfo(np.int32).max else np.int64
        if kind is np.int64:  # SciPy wants one type for both
            wide = self.folder / f"{key}.indices.bin"
            np.fromfile(wide, dtype=np.int32).astype(np.int64).tofile(wide)
        indptr.astype(kind).tofile(self.folder / f"{key}.indptr.bin")
        name = np.dtype(kind).name
        return {
            f"{key}.indptr": (name, indptr.shape),
            f"{key}.indices": (name, (entries,)),
            f"{key}.data": ("float32", (entries,)),
        }

    def _refuse(self, condition: str, column: str, words: str) -> None:
        """Refuse the first edge with that condition."""
        found = self.db.execute(f"SELECT {column} FROM pairs WHERE {condition} LIMIT 1").fetchone()
        if found is not None:
            raise DataFileError(f"{self.edges}: {words.format(found[0])}")

    def _columns(self, path: Path, needed: tuple[str, ...]) -> list[str]:
        found = [row[0] for row in self.db.execute(f"DESCRIBE SELECT * FROM {self._source(path)}").fetchall()]
        for name in needed:
            if name not in found:
                raise DataFileError(f"{path} has no column {name!r}")
        return found

    def _batches(self, path: Path, cells: dict[str, str]) -> Iterator[Any]:
        """Record batches of expressions, each under its name, in the order of the rows."""
        wanted = ", ".join(f"{cell} AS {_name(name)}" for name, cell in cells.items())
        yield from self.db.execute(f"SELECT {wanted} FROM {self._source(path)}").to_arrow_reader(ROWS)

    @staticmethod
    def _source(path: Path) -> str:
        quoted = "'" + str(path).replace("'", "''") + "'"
        return (
            f"read_csv({quoted}, all_varchar=true, header=true)" if path.suffix == ".csv" else f"read_parquet({quoted})"
        )


def _name(column: str) -> str:
    """The name of a column in SQL."""
    return '"' + column.replace('"', '""') + '"'


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
