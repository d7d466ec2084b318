"""Relations: rows that share entities, such as accounts that share a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError


@dataclass(frozen=True, eq=False)
class Relation:
    """The incidence B of N nodes and E entities: node u uses entity e with weight B_ue > 0.

    Nodes are related that share an entity. The matrix of these pairs is never formed: an entity that n nodes share
    would give n² of them.
    """

    name: str
    incidence: sp.csr_array  # B, (N, E) float32, CSR with sorted indices, finite, above 0
    entities: np.ndarray  # (E,) texts, unique

    @classmethod
    def of(cls, name: str, incidence: Any, entities: Any = None) -> Relation:
        """A relation of a sparse or dense matrix; duplicate entries are added. Entities are numbered without names."""
        b = sp.csr_array(incidence, dtype=np.float32, copy=True)
        b.sum_duplicates()
        b.eliminate_zeros()
        names = np.arange(b.shape[1]) if entities is None else entities
        return cls(name, b, np.asarray(names).astype(str))

    def __post_init__(self) -> None:
        b = self.incidence
        if not self.name.isprintable() or not self.name or set(self.name) & set("./+"):
            raise GraphError(f"the name of a relation is printable text without ., / and +, not {self.name!r}")
        if self.entities.shape != (b.shape[1],) or self.entities.dtype.kind != "U":
            raise GraphError(f"the relation {self.name!r} has {b.shape[1]} entities, but {self.entities.size} names")
        if np.unique(self.entities).size != self.entities.size:
            raise GraphError(f"two entities of the relation {self.name!r} have the same name")
        bad = b.data[~(np.isfinite(b.data) & (b.data > 0))]
        if bad.size:
            raise GraphError(f"the relation {self.name!r} has weight {bad[0]}: weights must be finite and above 0")
        if b.data.flags.owndata:
            b.data.flags.writeable = self.entities.flags.writeable = False

    def rows(self, nodes: np.ndarray) -> Relation:
        """The relation of some of the nodes."""
        return Relation(self.name, sp.csr_array(self.incidence[nodes]), self.entities)

    @property
    def members(self) -> np.ndarray:
        """The number of nodes of each entity, (E,)."""
        return np.bincount(self.incidence.indices, minlength=self.incidence.shape[1])
