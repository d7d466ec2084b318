"""The fitted description of tables: which column is what, and how later tables become the same features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from drgst.errors import DataFileError
from drgst.files import PathLike, read_text, reading, write_text
from drgst.tables.cells import Cells, empty_cells
from drgst.tables.faults import counted, some
from drgst.tables.kinds import AnyColumn
from drgst.tables.kinds.base import Name, Text
from drgst.tables.kinds.number import Scores
from drgst.tables.options import Aggregate, Endpoints

if TYPE_CHECKING:
    from drgst.graph.core import Features, Graph
    from drgst.tables.build import TableGraph

FORMAT, VERSION = "drgst-table-schema", 1
LARGEST_FILE = 1 << 27  # bytes
WIDEST_DENSE = 256  # features from which X is sparse
ADDED = "not in the node table"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class DroppedColumn(_Model):
    """A column that gives no feature."""

    column: Name
    reason: Text


class EdgeColumn(_Model):
    """A feature that is computed from the edges of a node, as normal score."""

    name: Name
    scale: Scores


class RelationSchema(_Model):
    """The columns of one edge table."""

    name: Name
    source: Name
    target: Name
    weight: Name | None = None
    time: Name | None = None
    amounts: tuple[Name, ...] = ()  # columns of numbers whose sums and means become node columns
    unit: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0  # divides its weights when relations are added


class TableSchema(_Model):
    """How a node table and its edge tables become a graph; made by :func:`drgst.from_tables`."""

    format: Literal["drgst-table-schema"] = "drgst-table-schema"
    version: Literal[1] = 1
    id: Name | None
    label: Name | None
    class_names: tuple[Text, ...]
    columns: tuple[AnyColumn, ...]
    dropped: tuple[DroppedColumn, ...] = ()
    relations: tuple[RelationSchema, ...] = ()
    edge_columns: tuple[EdgeColumn, ...] = ()
    aggregate: Aggregate = "sum"
    unknown_endpoints: Endpoints = "refuse"
    added: bool = False  # whether a feature marks nodes that are not in the node table

    @model_validator(mode="after")
    def _check(self) -> TableSchema:
        names = [column.column for column in (*self.columns, *self.dropped)]
        names += [name for name in (self.id, self.label) if name is not None]
        if len(set(names)) != len(names):
            raise ValueError("a column occurs twice")
        if len({relation.name for relation in self.relations}) != len(self.relations):
            raise ValueError("a relation occurs twice")
        return self

    @property
    def feature_names(self) -> list[str]:
        """The names of the features in the order of the columns of X, (F,)."""
        names = [name for column in self.columns for name in column.features()]
        return [*names, *(column.name for column in self.edge_columns), *([ADDED] if self.added else [])]

    @property
    def num_features(self) -> int:
        """F."""
        return sum(column.num_features for column in self.columns) + len(self.edge_columns) + self.added

    @property
    def prepared(self) -> bool:
        """Whether all features have one scale, so that no model need rank them."""
        return self.num_features > 0 and all(column.prepared for column in self.columns)

    @property
    def feature_columns(self) -> list[str]:
        """The table column that each feature comes from, (F,); the feature itself if it comes from edges."""
        names = [column.column for column in self.columns for _ in range(column.num_features)]
        return names + self.feature_names[len(names) :]

    def encode(
        self, cells: Mapping[str, Cells], edges: Mapping[str, np.ndarray], added: np.ndarray
    ) -> tuple[Features, list[str]]:
        """X, (N, F), and one sentence for each thing that is not as it was in fitting.

        ``cells`` are the columns of the node table and ``edges`` the node columns that come from edges; a column that
        is missing is imputed. ``added`` marks the nodes that are not in the node table, (N,).
        """
        rows = added.size
        blocks: list[Any] = []
        notes: list[str] = []
        for column in self.columns:
            block, said = column.encode(cells.get(column.column, empty_cells(rows)))
            blocks.append(block)
            notes += said
        for edge_column in self.edge_columns:
            x = edges.get(edge_column.name, np.full(rows, np.nan))
            blocks.append(edge_column.scale.transform(x).astype(np.float32)[:, None])
        if self.added:
            blocks.append(added.astype(np.float32)[:, None])
        if not blocks:
            return sp.csr_array((rows, 0), dtype=np.float32), notes
        if self._sparse(blocks):
            return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks])), notes
        dense = [block.toarray() if sp.issparse(block) else block for block in blocks]
        return np.hstack(dense), notes

    def apply(self, nodes: Any, edges: Any = None, *, base: Graph | None = None) -> TableGraph:
        """The graph of later tables, with the features and classes of this schema.

        Unknown categories, missing and extra columns are handled and listed in ``notes``. Labels are optional. With
        ``base``, the graph that was fitted, the new nodes are appended to its nodes and edges may lead to both; rows
        whose id is a node of ``base`` are left out.
        """
        from drgst.tables.build import apply_schema

        return apply_schema(self, nodes, edges, base)

    def describe(self) -> str:
        """A text table: each column, its type and what became of it."""
        rows = [("column", "type", "becomes")]
        if self.id is not None:
            rows.append((self.id, "id", "node ids"))
        if self.label is not None:
            rows.append(
                (self.label, "label", f"{counted(len(self.class_names), 'class')}: {some(self.class_names, 5)}")
            )
        rows += [(column.column, column.kind, column.describe()) for column in self.columns]
        rows += [(column.column, "dropped", column.reason) for column in self.dropped]
        for relation in self.relations:
            roles = {"source": relation.source, "target": relation.target, "weight": relation.weight}
            roles |= {"time": relation.time}
            rows += [(f"{relation.name}: {name}", role, "edges") for role, name in roles.items() if name is not None]
            rows += [(f"{relation.name}: {name}", "number", "sums and means per node") for name in relation.amounts]
        if self.edge_columns:
            rows.append(("(edges)", "number", f"{counted(len(self.edge_columns), 'feature')} from degrees and amounts"))
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)

    def save(self, path: PathLike) -> None:
        """Write the schema as JSON, atomically."""
        write_text(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def load(cls, path: PathLike) -> TableSchema:
        """Read a schema that :meth:`save` wrote; every field is checked."""
        with reading(path):
            size = Path(path).stat().st_size
        if size > LARGEST_FILE:
            raise DataFileError(f"{path} is not a schema of tables: it has {size:,} bytes")
        try:
            return cls.model_validate_json(read_text(path))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the document"
            reason = first["msg"][0].lower() + first["msg"][1:]
            raise DataFileError(f"{path} is damaged or not a schema of tables: {where}: {reason}") from None

    def _sparse(self, blocks: Sequence[Any]) -> bool:
        """Whether X is sparse: a sparse block is of a kind that is never dense, or there are many features."""
        found = [k for k, block in enumerate(blocks) if sp.issparse(block)]
        return any(self.columns[k].sparse for k in found) or (bool(found) and self.num_features > WIDEST_DENSE)


def missing_columns(schema: TableSchema, columns: Sequence[str], file: str) -> list[str]:
    """One sentence each on the columns that a later table lacks or has in addition."""
    known = [column.column for column in schema.columns]
    there = set(columns)
    lacking = [name for name in known if name not in there]
    used = {*known, schema.id, schema.label, *(column.column for column in schema.dropped)}
    extra = [name for name in columns if name not in used]
    notes = []
    if lacking:
        notes.append(f"{file} has no {_columns(lacking)}: all its cells count as missing")
    if extra:
        notes.append(f"{file}: {_columns(extra)} not known from fitting and not used")
    return notes


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {some(names)}"
