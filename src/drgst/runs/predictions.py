"""Predictions by node, and as files: CSV, or Parquet where a graph has more than a million nodes."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from drgst.errors import DataFileError
from drgst.files import csv_text, original_cell, replacing, write_pieces
from drgst.transforms.softmax import softmax

PIECE = 100_000  # nodes whose lines are made at a time
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # a number that 64 bits hold and that is written in one way only


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ids, probabilities and more by node, and the accuracy where labels are known."""

    ids: Sequence[Any] | np.ndarray
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

    def pieces(self) -> Iterator[dict[str, Sequence[Any]]]:
        """Column -> its values for 100,000 nodes at most, piece after piece; None where there is no value.

        Id, name of the predicted class (``label``), its probability (``confidence``) and that of each class
        (``p:CLASS``). For the graph of a run also gain and stage (0 for a training node, -1 for a node that was never
        pseudo-labelled), the label that was given, and its probability by a run without it (``out_of_fold``).
        """
        ids, names, arrays, out_of_fold = self.ids, self.class_names, self.arrays, self._out_of_fold()
        for start in range(0, max(len(ids), 1), PIECE):
            nodes = range(start, min(start + PIECE, len(ids)))
            rows = slice(start, start + PIECE)
            p = arrays["probabilities"][rows]
            columns: dict[str, Sequence[Any]] = {
                "id": ids[rows].tolist() if isinstance(ids, np.ndarray) else ids[rows],
                "label": [names[c] for c in p.argmax(axis=1)],
                "confidence": p.max(axis=1).tolist(),
            }
            if "gain" in arrays:
                columns["gain"] = [None if math.isnan(v) else v for v in arrays["gain"][rows].tolist()]
                columns["stage"] = arrays["labeled_stage"][rows].tolist()
            if "given" in arrays:
                columns["given"] = [None if c < 0 else names[c] for c in arrays["given"][rows].tolist()]
                columns["out_of_fold"] = [out_of_fold.get(node) for node in nodes]
            yield columns | {f"p:{name}": p[:, c].tolist() for c, name in enumerate(names)}

    def csv_pieces(self) -> Iterator[str]:
        """The :meth:`pieces` as CSV, probabilities with six decimals; the first piece has the header."""
        for number, columns in enumerate(self.pieces()):
            cells = [_cells(name, values) for name, values in columns.items()]
            text = csv_text([columns, *zip(*cells, strict=True)])
            yield text if not number else text[len(csv_text([columns])) :]

    @property
    def text(self) -> str:
        """As CSV."""
        return "".join(self.csv_pieces())

    def write(self, path: Path) -> None:
        """Write them to ``path`` atomically, as Parquet where its name ends so, else as CSV; piece after piece."""
        if path.suffix == ".parquet":
            self._write_parquet(path)
        else:
            write_pieces(path, self.csv_pieces())

    def _write_parquet(self, path: Path) -> None:
        """Ids become whole numbers where all of them are."""
        import pyarrow as pa  # slow to import
        from pyarrow import parquet

        numbers = isinstance(self.ids, np.ndarray) and self.ids.dtype.kind == "i"
        numbers = numbers or (len(self.ids) > 0 and all(WHOLE.fullmatch(str(id_)) for id_ in self.ids))
        ids = np.asarray(self.ids, dtype=np.int64) if numbers else [str(id_) for id_ in self.ids]
        types = {"id": pa.int64() if numbers else pa.string(), "stage": pa.int32()}
        types |= dict.fromkeys(("label", "given"), pa.string())
        pieces = Predictions(ids, self.class_names, self.arrays).pieces()
        first = next(pieces)  # there is one even without nodes
        schema = pa.schema([(name, types.get(name, pa.float32())) for name in first])
        with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
            for columns in chain([first], pieces):
                writer.write_table(pa.table(columns, schema=schema))

    def _out_of_fold(self) -> dict[int, float]:
        """Training node -> the out-of-fold probability of its given label, where that was held out."""
        if "out_of_fold" not in self.arrays:
            return {}
        train = np.flatnonzero(self.arrays["labeled_stage"] == 0)
        p = softmax(self.arrays["out_of_fold"])[np.arange(train.size), self.arrays["given"][train]]
        known = np.isfinite(p)
        return dict(zip(train[known].tolist(), p[known].tolist(), strict=True))


def csv_column(path: Path, name: str) -> list[str]:
    """A column of a CSV file of predictions as text; LookupError where it or a cell of it is missing."""
    with open(path, encoding="utf-8", newline="\n") as handle:  # other line ends are part of a cell
        lines = (line for line in csv.reader(handle) if line)
        head = [original_cell(cell) for cell in next(lines, [])]
        if name not in head:
            raise LookupError(name)
        place = head.index(name)
        return [original_cell(line[place]) for line in lines]


def parquet_column(path: Path, name: str) -> list[str]:
    """A column of a Parquet file of predictions as text, empty where there is no value."""
    import pyarrow as pa  # slow to import
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            if name not in file.schema_arrow.names:
                raise LookupError(name)
            values = file.read([name]).column(0).to_pylist()
    except pa.ArrowException as error:
        raise DataFileError(f"{path} is damaged or not Parquet: {error}") from error
    return ["" if value is None else str(value) for value in values]


def _cells(name: str, values: Sequence[Any]) -> Sequence[Any]:
    if name == "gain":
        return ["" if v is None else f"{v:.6g}" for v in values]
    if name in ("confidence", "out_of_fold") or name.startswith("p:"):
        return ["" if v is None else f"{v:.6f}" for v in values]
    return ["" if v is None else v for v in values]
