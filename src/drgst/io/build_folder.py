"""Graph folders from tables larger than memory.

The tables are read by the reader of :mod:`drgst.tables`, some rows at a time; DuckDB only sorts and aggregates edges.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.extras import import_extra
from drgst.files import PathLike
from drgst.graph.core import Graph
from drgst.io.folder import new_folder, open_graph_folder, write_rest
from drgst.tables.columns import WEIGHT, find_relation, unused_columns
from drgst.tables.faults import TableError, counted
from drgst.tables.kinds.features import FeaturesColumn, is_features_name
from drgst.tables.kinds.number import Style, comma_counts, style_of
from drgst.tables.naming import are_whole
from drgst.tables.read import folder_options, read_graph, table_paths
from drgst.tables.relations import EdgeTable, edge_notes, imputed
from drgst.tables.source import Table, open_batches

Shapes = dict[str, tuple[str, tuple[int, ...]]]  # array -> type and shape
ROWS = 100_000  # of a batch of edges that DuckDB returns


def build_graph_folder(tables: PathLike, out: PathLike, memory: str = "2GB") -> Graph:
    """Write the graph of ``nodes.*`` and ``edges.*`` in the folder ``tables`` to the graph folder ``out``, and open it.

    The graph is that of :func:`drgst.read_tables`. Ids, labels and splits are held in memory, as are columns that are
    not all numbers; features that are numbers go straight to the folder, and DuckDB sorts the edges with at most
    ``memory`` and the disk beside ``out``.
    """
    duckdb = import_extra("duckdb", "large", "A graph folder of tables")
    nodes, edges = table_paths(Path(tables))
    with new_folder(out) as folder:
        work = folder / "work"
        work.mkdir()
        try:
            config = {"memory_limit": memory, "temp_directory": str(work)}
            with duckdb.connect(work / "edges.db", config=config) as db:
                _Builder(db, folder, nodes, edges).build(Path(tables).resolve().name or "graph")
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
        self.options = folder_options()

    def build(self, name: str) -> None:
        """Write the features, the edges, and what is in memory."""
        files = _FeatureFiles(self.folder)
        with files:
            graph = self._streamed_nodes(files) or self._nodes_in_memory(files)
        notes = self._adjacency([str(node) for node in graph.node_ids.tolist()])
        shapes = files.shapes | _write_indptr(self.folder, "adjacency", self.degrees)
        write_rest(self.folder, graph.with_(name=name, notes=(*graph.notes, *notes)), shapes)

    def _streamed_nodes(self, files: _FeatureFiles) -> Graph | None:
        """The graph without edges, its features in ``files``; None if they are not numbers in every cell."""
        batches: list[Table] = []
        for table in open_batches(self.nodes, kept=lambda name: not self._is_feature(name)):
            features = list(filter(self._is_feature, table.columns))
            if not files.write(table.read(self.options.is_feature, features).checked(), features):
                return None
            batches.append(replace(table, data=table.data.drop_columns(features)))
        whole = replace(batches[0], data=pa.concat_tables([table.data for table in batches]))
        made = read_graph(whole, None, self.options).graph
        files.finish(made.num_nodes)
        fields = ("adjacency", "labels", "class_names", "node_ids", "splits", "notes")
        return Graph.unchecked(features=files.empty(made.num_nodes), **{name: getattr(made, name) for name in fields})

    def _is_feature(self, name: str) -> bool:
        return self.options.role(name) in ("", "features")

    def _nodes_in_memory(self, files: _FeatureFiles) -> Graph:
        """The graph without edges, its columns encoded; their faults are raised."""
        graph = read_graph(self.nodes, None, self.options).graph
        files.restart()
        files.append(graph.features)
        files.finish(graph.num_nodes)
        return graph

    def _adjacency(self, ids: list[str]) -> list[str]:
        """Write the edges in the order of the rows of A; what was changed."""
        notes = self._collect(ids, "plain")
        if notes is None:
            counts = (_commas(self._used(table)) for table in open_batches(self.edges))
            notes = self._collect(ids, style_of(*np.sum(list(counts), axis=0).tolist())) or []
        rows, missing, fill = self._one("SELECT count(*), count(*) FILTER (w IS NULL), median(w) FROM rows")
        if missing and fill is not None:
            notes.append(imputed(self.edges.name, WEIGHT, missing, fill))
        weight = f"coalesce(w, {1.0 if fill is None else fill!r}::DOUBLE)"
        loops = self._one("SELECT count(*) FROM rows WHERE u = v")[0]
        notes += [f"{self.edges.name}: {counted(loops, 'self-loop')} dropped"] if loops else []
        total = f"CAST(sum({weight}) AS FLOAT) AS w FROM rows WHERE u <> v GROUP BY ALL"
        self.db.execute(f"CREATE TABLE one_way AS SELECT u, v, {total}")
        unequal = "FROM one_way a LEFT JOIN one_way b ON a.u = b.v AND a.v = b.u WHERE b.w IS DISTINCT FROM a.w"
        both_ways = rows > loops and not self._one(f"SELECT count(*) {unequal}")[0]
        if not both_ways:
            self.db.execute(f"CREATE TABLE pairs AS SELECT least(u, v) AS u, greatest(u, v) AS v, {total}")
        else:
            self.db.execute("CREATE TABLE pairs AS SELECT u, v, w FROM one_way WHERE u < v")
        edges, zeros = self._one("SELECT count(*), count(*) FILTER (w = 0) FROM pairs")
        notes += edge_notes(rows - loops, edges, both_ways, self.options.aggregate, self.edges.name)
        self._write_pairs(len(ids))
        return [*notes, *([f"{counted(zeros, 'edge')} of weight 0 dropped"] if zeros else [])]

    def _collect(self, ids: list[str], style: Style) -> list[str] | None:
        """Fill the table ``rows`` with (u, v, weight); the notes, or None if weights have commas in the style plain."""
        self.db.execute("CREATE OR REPLACE TABLE rows (u BIGINT, v BIGINT, w DOUBLE)")
        index = {node: k for k, node in enumerate(ids)}
        notes: list[str] = []
        for table in open_batches(self.edges):
            used = self._used(table)
            relation, faults = find_relation("edges", used, self.options, index.keys())
            if relation is None:
                raise TableError(faults)
            if style == "plain" and any(_commas(used)):
                return None
            edges = EdgeTable(used, relation, are_whole(ids), style)
            if faults := edges.faults(index.keys()):
                raise TableError(faults)
            notes = [*table.notes, *unused_columns(table, relation)]
            (u, v), weights = edges.nodes(index), edges.weights()
            w = pa.array(np.ones(u.size) if weights is None else weights, from_pandas=True)
            batch = pa.table({"u": u, "v": v, "w": w})  # noqa: F841 - DuckDB finds it by its name
            self.db.execute("INSERT INTO rows SELECT u, v, w FROM batch")
        return notes

    def _used(self, table: Table) -> Table:
        """The cells of the columns of an edge table that are used."""
        return table.read(only=[name for name in ("source", "target", WEIGHT) if name in table.columns]).checked()

    def _write_pairs(self, count: int) -> None:
        both = "SELECT u, v, w FROM pairs WHERE w > 0 UNION ALL SELECT v, u, w FROM pairs WHERE w > 0"
        rows = self.db.sql(f"SELECT u, v, w FROM ({both}) ORDER BY u, v")
        self.degrees = np.zeros(count + 1, dtype=np.int64)
        with (
            open(self.folder / "adjacency.indices.bin", "wb") as indices,
            open(self.folder / "adjacency.data.bin", "wb") as data,
        ):
            for batch in rows.to_arrow_reader(ROWS):
                u, v, w = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("u", "v", "w"))
                self.degrees += np.bincount(u + 1, minlength=count + 1)
                v.astype(np.int32).tofile(indices)
                w.astype(np.float32).tofile(data)

    def _one(self, query: str) -> tuple[Any, ...]:
        return self.db.execute(query).fetchall()[0]


class _FeatureFiles:
    """The files of X, written some rows at a time: dense, or sparse."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shapes: Shapes = {}
        self.restart()

    def restart(self) -> None:
        """Begin again without rows."""
        self.width, self.sparse = 0, True
        self.counts: list[np.ndarray] = []  # entries per row
        self.__exit__()
        names = {part: self.folder / f"features.{part}bin" for part in ("", "indices.", "data.")}
        self.files = {part: path.open("wb") for part, path in names.items()}

    def write(self, table: Table, features: list[str]) -> bool:
        """Append the features of some rows; False if they are not all numbers or not like those before."""
        lists = table.cells
        if table.raw and not lists:
            block: Any = np.column_stack(list(table.raw.values()))
        elif len(lists) == 1 == len(features) and is_features_name(name := features[0]):
            if FeaturesColumn.bad(lists[name], name).any():
                return False
            block = FeaturesColumn.fit(name, lists[name]).block(lists[name])[0]
        elif not features:
            block = sp.csr_array((table.data.num_rows, 0), dtype=np.float32)
        else:
            return False
        if self.counts and (sp.issparse(block) != self.sparse or (not self.sparse and self.width != block.shape[1])):
            return False
        self.append(block)
        return True

    def append(self, block: Any) -> None:
        """Append rows of X."""
        self.width, self.sparse = max(self.width, block.shape[1]), sp.issparse(block)
        if not self.sparse:
            self.counts.append(np.full(block.shape[0], block.shape[1]))
            np.ascontiguousarray(block, dtype=np.float32).tofile(self.files[""])
            return
        block.sum_duplicates()
        block.eliminate_zeros()
        self.counts.append(np.diff(block.indptr).astype(np.int64))
        block.indices.astype(np.int32).tofile(self.files["indices."])
        block.data.astype(np.float32).tofile(self.files["data."])

    def finish(self, count: int) -> None:
        """Close the files, remove those that are not needed, and set ``shapes``."""
        self.__exit__()
        for part in ("",) if self.sparse else ("indices.", "data."):
            (self.folder / f"features.{part}bin").unlink()
        per_row = np.concatenate([np.zeros(1, dtype=np.int64), *self.counts])
        dense: Shapes = {"features": ("float32", (count, self.width))}
        self.shapes = _write_indptr(self.folder, "features", per_row) if self.sparse else dense

    def empty(self, count: int) -> Any:
        """A matrix of the shape of X without entries."""
        shape = (count, self.width)
        return sp.csr_array(shape, dtype=np.float32) if self.sparse else np.empty(shape, np.float32)

    def __enter__(self) -> _FeatureFiles:
        return self

    def __exit__(self, *_: object) -> None:
        for file in getattr(self, "files", {}).values():
            file.close()


def _commas(table: Table) -> tuple[int, int]:
    """The numbers of weights such as ``1,234.5`` and such as ``1.234,5``."""
    return comma_counts(table.cells[WEIGHT]) if WEIGHT in table.cells else (0, 0)


def _write_indptr(folder: Path, key: str, per_row: np.ndarray) -> Shapes:
    """Write the cumulative sums of the entries per row (after a 0); the shapes of the three arrays."""
    indptr = np.cumsum(per_row)
    entries = int(indptr[-1])
    kind = np.int32 if entries < np.iinfo(np.int32).max else np.int64
    if kind is np.int64:  # SciPy wants one type for both
        wide = folder / f"{key}.indices.bin"
        np.fromfile(wide, dtype=np.int32).astype(np.int64).tofile(wide)
    indptr.astype(kind).tofile(folder / f"{key}.indptr.bin")
    name = np.dtype(kind).name
    return {
        f"{key}.indptr": (name, indptr.shape),
        f"{key}.indices": (name, (entries,)),
        f"{key}.data": ("float32", (entries,)),
    }
