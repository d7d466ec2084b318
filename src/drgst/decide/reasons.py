"""The reasons of a prediction, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drgst.files import plain
from drgst.graph.html import html_table, text_table

KINDS = ("feature", "neighbour", "shared", "view", "labelled")
SHOWN = 8  # reasons of each kind in a notebook


@dataclass(frozen=True)
class Reason:
    """One feature, neighbour, view or labelled node, and the prediction without it."""

    kind: str  # "feature", "neighbour", "shared", "view" or "labelled"
    name: str
    detail: str  # its value and the class average, or its class
    pull: float  # fall of the log-odds of the predicted class without it: above 0 it pulls to the class
    label: str  # the predicted class without it
    probability: float  # of the class that is explained, without it
    own: float | None = None  # of a feature: the part of the pull that the node's own value has; None if not known


@dataclass(frozen=True, repr=False)
class Explanation:
    """The prediction of one node and its reasons, the strongest of each kind first."""

    id: str
    label: str
    probability: float
    reasons: tuple[Reason, ...]
    similar: tuple[tuple[str, str, float], ...]  # labelled nodes: id, class, cosine similarity of the embeddings

    def of_kind(self, kind: str, n: int | None = None) -> list[Reason]:
        """The ``n`` strongest reasons of a kind, for or against the class."""
        found = sorted((r for r in self.reasons if r.kind == kind), key=lambda r: -abs(r.pull))
        return found[:n]

    def rows(self, n: int | None = None) -> list[tuple[str, str, str, str, str]]:
        """Cells for people, the header first: kind, name and detail of each reason, and what changes without it."""
        header = ("reason", "", "", "pull", f"p({self.label}) without it")
        found = [reason for kind in KINDS for reason in self.of_kind(kind, n)]
        return [header, *((r.kind, r.name, r.detail, f"{r.pull:+.2f}", f"{r.probability:.3f}") for r in found)]

    def __repr__(self) -> str:
        return f"{self.title}\n{text_table(self.rows(SHOWN), left=(0, 1, 2))}\n{self.words}"

    def _repr_html_(self) -> str:
        header, *rows = self.rows(SHOWN)
        return html_table(self.title, header, rows, [self.words])

    @property
    def title(self) -> str:
        """The prediction in one line."""
        return f"{self.id}: {self.label}, probability {self.probability:.3f}"

    @property
    def words(self) -> str:
        """What a pull is."""
        return f"pull: how far the log-odds of {self.label} fall without it; below 0 it speaks against {self.label}"

    def to_dict(self, n: int | None = None) -> dict[str, Any]:
        """Plain values for JSON."""
        kinds = {f"{kind}s": self.of_kind(kind, n) for kind in KINDS}
        similar = [dict(zip(("id", "label", "similarity"), row, strict=True)) for row in self.similar]
        facts = {"id": self.id, "label": self.label, "probability": self.probability}
        return dict(plain({**facts, **kinds, "similar": similar}))
