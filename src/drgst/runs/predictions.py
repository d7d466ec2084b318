"""Predictions by node, and as files: CSV, or Parquet where a graph has more than a million nodes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from drgst.files import csv_text, original_cell, read_bytes, reading, replacing, write_pieces
from drgst.transforms.softmax import softmax

FORMS = {"gain": ".6g", "confidence": ".6f", "out_of_fold": ".6f"}  # of numbers in CSV
PIECE = 100_000  # nodes whose lines are made at a time


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ids, probabilities and more by node, and the accuracy where labels are known."""

    ids: Sequence[Any]  # whole numbers, or texts
    class_names: Sequence[str]
    arrays: Mapping[str, np.ndarray]  # probabilities, (N, C); of the graph of a run also gain, labeled_stage, …
    accuracy: float | None = None
    notes: tuple[str, ...] = ()  # what is not as in fitting, one sentence each

    @property
    def counts(self) -> dict[str, int]:
        """Class -> nodes that are predicted to be of it, the largest first."""
        number = np.bincount(self.arrays["probabilities"].argmax(axis=1), minlength=len(self.class_names))
        order = np.argsort(-number, kind="stable")
        return {self.class_names[c]: int(number[c]) for c in order if number[c]}

    def pieces(self, size: int | None = None) -> Iterator[dict[str, Sequence[Any]]]:
        """Column -> its values for ``size`` nodes at most, piece after piece; None where there is no value.

        Id, name of the predicted class (``label``), its probability (``confidence``) and that of each class
        (``p:CLASS``). For the graph of a run also gain and stage (0 for a training node, -1 for a node that was never
        pseudo-labelled), the label that was given, and its probability by a run without it (``out_of_fold``).
        """
        names, arrays, size = self.class_names, self.arrays, size or PIECE
        held_out = np.full(len(self.ids), np.nan)
        if "out_of_fold" in arrays:
            train = np.flatnonzero(arrays["labeled_stage"] == 0)
            held_out[train] = softmax(arrays["out_of_fold"])[np.arange(train.size), arrays["given"][train]]
        for start in range(0, max(len(self.ids), 1), size):
            rows = slice(start, start + size)
            p = arrays["probabilities"][rows]
            columns = {"id": self.ids[rows], "label": [names[c] for c in p.argmax(axis=1)]}
            columns["confidence"] = p.max(axis=1).tolist()
            if "gain" in arrays:
                columns["gain"] = [None if gain != gain else gain for gain in arrays["gain"][rows].tolist()]
                columns["stage"] = arrays["labeled_stage"][rows].tolist()
            if "given" in arrays:
                columns["given"] = [None if c < 0 else names[c] for c in arrays["given"][rows].tolist()]
                columns["out_of_fold"] = [None if share != share else share for share in held_out[rows].tolist()]
            yield columns | {f"p:{name}": p[:, c].tolist() for c, name in enumerate(names)}

    def csv_pieces(self) -> Iterator[str]:
        """The :meth:`pieces` as CSV, probabilities with six decimals; the first piece has the header."""
        for number, columns in enumerate(self.pieces()):
            forms = {name: FORMS.get(name, ".6f" if name.startswith("p:") else "") for name in columns}
            cells = [["" if v is None else format(v, forms[k]) for v in values] for k, values in columns.items()]
            text = csv_text([columns, *zip(*cells, strict=True)])
            yield text if not number else text[len(csv_text([columns])) :]

    def write(self, path: Path) -> None:
        """Write them to ``path`` atomically, as Parquet where its name ends so, else as CSV; piece after piece."""
        if path.suffix != ".parquet":
            write_pieces(path, self.csv_pieces())
            return
        import pyarrow as pa  # slow to import
        from pyarrow import parquet

        numbers = bool(self.ids) and isinstance(self.ids[0], int)
        types = {"id": pa.int64() if numbers else pa.string(), "stage": pa.int32()}
        types |= dict.fromkeys(("label", "given"), pa.string())
        pieces = self.pieces()
        first = next(pieces)  # there is one even without nodes
        schema = pa.schema([(name, types.get(name, pa.float32())) for name in first])
        with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
            for columns in chain([first], pieces):
                writer.write_table(pa.table(columns, schema=schema))


def read_ids(path: Path) -> list[str]:
    """The ids of a file of predictions as text."""
    if path.suffix == ".parquet":
        import pyarrow as pa  # slow to import
        from pyarrow import parquet

        with reading(path, pa.ArrowException, LookupError, kind="Parquet"):
            return [str(name) for name in parquet.read_table(path, columns=["id"]).column("id").to_pylist()]
    # other line ends are part of a cell
    with reading(path, csv.Error, LookupError, ValueError, kind="a file of predictions"):
        lines = filter(None, csv.reader(io.StringIO(read_bytes(path).decode("utf-8"), newline="\n")))
        header = next(lines, [])
        if "id" not in header:
            raise ValueError("it has no column 'id'")
        place = header.index("id")
        return [original_cell(line[place]) for line in lines]
