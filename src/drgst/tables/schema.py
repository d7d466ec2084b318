"""The fitted description of tables: which column is what, and how later tables become the same features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import ValidationError, model_validator

from drgst.errors import DataFileError
from drgst.files import PathLike, read_text, reading, write_text
from drgst.tables.build import Parts, TableGraph
from drgst.tables.cells import Cells, empty_cells
from drgst.tables.columns import answers, column_rows, column_table, fit_columns
from drgst.tables.faults import counted, named_columns
from drgst.tables.inspection import Inspection
from drgst.tables.kinds import AnyColumn
from drgst.tables.kinds.base import Name, Strict, Text
from drgst.tables.kinds.number import Scores
from drgst.tables.links import EntitySchema, LinkSchema
from drgst.tables.options import Aggregate, Duplicates, Endpoints, TableOptions
from drgst.tables.relations import RelationSchema
from drgst.tables.source import Table
from drgst.transforms.edges import mean_weight

if TYPE_CHECKING:
    from drgst.graph.core import Features, Graph

FORMAT, VERSION = "drgst-table-schema", 1
LARGEST_FILE = 1 << 27  # bytes
WIDEST_DENSE = 256  # features from which X is sparse
ADDED = "not in the node table"


class DroppedColumn(Strict):
    """A column that gives no feature."""

    column: Name
    reason: Text


class EdgeColumn(Strict):
    """A feature that is computed from the edges of a node, as normal score."""

    name: Name
    scale: Scores


class TableSchema(Strict):
    """How a node table and its edge tables become a graph; made by :func:`drgst.from_tables`."""

    format: Literal["drgst-table-schema"] = "drgst-table-schema"
    version: Literal[1] = 1
    id: Name | None
    label: Name | None
    class_names: tuple[Text, ...]
    columns: tuple[AnyColumn, ...]
    dropped: tuple[DroppedColumn, ...] = ()
    relations: tuple[RelationSchema, ...] = ()
    links: tuple[LinkSchema, ...] = ()
    entities: tuple[EntitySchema, ...] = ()
    edge_columns: tuple[EdgeColumn, ...] = ()
    aggregate: Aggregate = "sum"
    unknown_endpoints: Endpoints = "refuse"
    duplicates: Duplicates = "refuse"
    added: bool = False  # whether a feature marks nodes that are not in the node table

    @model_validator(mode="after")
    def _check(self) -> TableSchema:
        names = [column.column for column in (*self.columns, *self.dropped)]
        names += [name for name in (self.id, self.label) if name is not None]
        names += [link.target for link in self.links if link.table is None]
        if len(set(names)) != len(names):
            raise ValueError("a column occurs twice")
        for named in (self.relations, self.links):
            if len({part.name for part in named}) != len(named):
                raise ValueError("a relation occurs twice")
        return self

    @property
    def feature_names(self) -> list[str]:
        """The names of the features in the order of the columns of X, (F,)."""
        names = [name for column in self.columns for name in column.features()]
        names += [*(column.name for column in self.edge_columns), *([ADDED] if self.added else [])]
        return [*names, *(name for entity in self.entities for name in entity.feature_names)]

    @property
    def num_features(self) -> int:
        """F."""
        described = sum(len(entity.feature_names) for entity in self.entities)
        return sum(column.num_features for column in self.columns) + len(self.edge_columns) + self.added + described

    @property
    def prepared(self) -> bool:
        """Whether all features have one scale, so that no model need rank them."""
        columns = [*self.columns, *(column for entity in self.entities for column in entity.columns)]
        return self.num_features > 0 and all(column.prepared for column in columns)

    @property
    def feature_columns(self) -> list[str]:
        """The table column that each feature comes from, (F,); the feature itself if it comes from edges."""
        names = [column.column for column in self.columns for _ in range(column.num_features)]
        return names + self.feature_names[len(names) :]

    @classmethod
    def fit(cls, parts: Parts) -> TableSchema:
        """The schema of tables; the unit of each of several relations is its mean weight.

        Notes on columns are added to those of ``parts``.
        """
        found, pairs = parts.found, parts.pairs
        options, table = found.options, found.table
        columns, dropped, notes = fit_columns(table, found.roles)
        if options.raw and not table.raw and any(map(options.is_feature, table.columns)):
            parts.notes.append(f"{table.file}: not all cells of its columns are numbers, so the columns are encoded")
        parts.notes += [*notes, *answers(table, columns, found.labels, found.class_names)]
        units = {name: mean_weight(upper) if len(pairs) > 1 else 1.0 for name, upper in pairs.items()}
        varied = {name: x for name, x in parts.edge_columns.items() if np.ptp(x) > 0}
        return cls(
            id=found.id,
            label=options.label if options.label in table.columns else None,
            class_names=found.class_names if options.classes is None else options.classes,
            columns=tuple(columns),
            dropped=tuple(DroppedColumn(column=name, reason=reason) for name, reason in dropped.items()),
            relations=tuple(edge.schema.model_copy(update={"unit": units[edge.schema.name]}) for edge in found.edges),
            links=tuple(link.schema for link in found.links),
            entities=tuple(entity for entity, _ in found.entities),
            edge_columns=tuple(EdgeColumn(name=name, scale=Scores.fit(x)) for name, x in varied.items()),
            aggregate=options.aggregate,
            unknown_endpoints=options.unknown_endpoints,
            duplicates=options.duplicates,
            added=bool(parts.added) and not table.raw,
        )

    def encode(
        self,
        cells: Mapping[str, Cells],
        edges: Mapping[str, np.ndarray],
        added: np.ndarray,
        described: Sequence[sp.csr_array] = (),
    ) -> tuple[Features, list[str]]:
        """X, (N, F), and one sentence for each thing that is not as it was in fitting.

        ``cells`` are the columns of the node table and ``edges`` the node columns that come from edges; a column that
        is missing is imputed. ``added`` marks the nodes that are not in the node table, (N,). ``described`` are the
        features that rows have by their entities.
        """
        rows = added.size
        blocks: list[Any] = []
        notes: list[str] = []
        for column in self.columns:
            block, remarks = column.encode(cells.get(column.column, empty_cells(rows)))
            blocks.append(block)
            notes += remarks
        for edge_column in self.edge_columns:
            x = edges.get(edge_column.name, np.full(rows, np.nan))
            blocks.append(edge_column.scale.transform(x).astype(np.float32)[:, None])
        if self.added:
            blocks.append(added.astype(np.float32)[:, None])
        blocks += described
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
        options = TableOptions(label=self.label, id=self.id, aggregate=self.aggregate)
        options = replace(options, unknown_endpoints=self.unknown_endpoints, duplicates=self.duplicates)
        known = frozenset() if base is None else {str(node) for node in base.node_ids.tolist()}
        return Parts(Inspection(nodes, edges, options, self, known), base).graph(self)

    def differences(self, table: Table) -> list[str]:
        """One sentence each on the columns that a later node table lacks or has in addition."""
        known = [column.column for column in self.columns]
        known += [link.target for link in self.links if link.table is None]
        lacking = [name for name in known if name not in table.columns]
        used = {*known, self.id, self.label, *(column.column for column in self.dropped)}
        extra = [name for name in table.columns if name not in used]
        notes = []
        if lacking:
            notes.append(f"{table.file} has no {named_columns(lacking)}: all its cells count as missing")
        if extra:
            notes.append(f"{table.file}: {named_columns(extra)} not known from fitting and not used")
        return notes

    def describe(self) -> str:
        """A text table: each column, its type and what became of it."""
        named = {self.id: "id", self.label: "label"}
        roles = {name: role for name, role in named.items() if name is not None}
        dropped = {column.column: column.reason for column in self.dropped}
        rows = column_rows(roles, self.class_names, self.columns, dropped)
        for relation in self.relations:
            ends = [(role, getattr(relation, role)) for role in ("source", "target", "weight", "time")]
            rows += [(f"{relation.name}: {name}", role, "edges") for role, name in ends if name is not None]
            rows += [(f"{relation.name}: {name}", "number", "sums and means per node") for name in relation.amounts]
        rows += [link.describe() for link in self.links]
        for entity in self.entities:
            each = [
                (column.column, column.kind, f"{column.describe()}, mean of {entity.link}") for column in entity.columns
            ]
            rows += [(f"{entity.table}: {entity.id}", "id", f"entities of {entity.link}")]
            rows += [(f"{entity.table}: {name}", kind, becomes) for name, kind, becomes in each]
        if self.edge_columns:
            rows.append(("(edges)", "number", f"{counted(len(self.edge_columns), 'feature')} from degrees and amounts"))
        return column_table(rows)

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
        found = [sp.issparse(block) for block in blocks]
        kinds = [column for column, sparse in zip(self.columns, found, strict=False) if sparse]
        kinds += [column for entity in self.entities for column in entity.columns]
        return any(column.sparse for column in kinds) or (any(found) and self.num_features > WIDEST_DENSE)
