"""The labels of a node table: its classes, and the time of each label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drgst.errors import GraphError
from drgst.graph.core import UNLABELLED
from drgst.tables.cells import MISSING, Cells
from drgst.tables.faults import Fault, counted, some
from drgst.tables.naming import LONGEST_ID, encode_labels, spelt_alike
from drgst.tables.options import TableOptions
from drgst.tables.relations import Period, bad_times, row_times
from drgst.tables.source import Table

MOST_CLASSES = 0.5  # classes per labelled node above which labels are rather numbers or ids
FEW_LABELS = 20  # labelled nodes up to which that is not checked
NO_LABEL = "no node has a label: at least two classes need one"
ONE_CLASS = "only one class has a label: at least two classes need one"
_NO_LABEL = {"unknown", "unlabelled", "unlabeled", "missing", "tbd", "n.a."}  # class names that may mean no label


class LabelReader:
    """The labels of the rows, their times, faults and notes; ``fitted`` are the class names of fitting, if any."""

    def __init__(self, table: Table, options: TableOptions, fitted: Sequence[str] | None) -> None:
        self.table, self.options, self.fitted = table, options, fitted
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.labels = np.full(table.data.num_rows, UNLABELLED)  # class indices, -1 for unknown
        self.class_names: tuple[str, ...] = ()
        self.times: np.ndarray | None = None  # NaN where there is no label or no time
        if options.label in table.cells:
            self._read(str(options.label))
            self._date()

    def _read(self, column: str) -> None:
        table = self.table
        try:
            per_value, names = encode_labels(table.cells[column].texts)
        except GraphError as error:
            self.faults.append(table.fault(str(error), column=column, option="label"))
            return
        self.labels = table.cells[column].spread(per_value, UNLABELLED).astype(np.int64)
        self.class_names = names
        self.faults += [table.fault(m, column=column, option="label") for m in self._bad(names)]
        self.notes += [f"{table.file}: {note}" for note in self._surprises(table.texts[column], names)]

    def _bad(self, names: tuple[str, ...]) -> Iterator[str]:
        longest, known = max(map(len, names), default=0), int((self.labels >= 0).sum())
        if longest > LONGEST_ID:
            yield f"a label has {longest} characters; {LONGEST_ID} are allowed"
        if self.options.classes is not None or self.fitted is not None:
            return
        if len(names) < 2:
            yield ONE_CLASS if names else NO_LABEL
        elif not self.options.raw and known > FEW_LABELS and len(names) > MOST_CLASSES * known:
            yield f"{len(names):,} classes for {known:,} labelled nodes: a column of classes is needed, not of numbers"
        elif alike := spelt_alike(names):
            yield alike

    def _surprises(self, cells: Cells, names: tuple[str, ...]) -> Iterator[str]:
        """What may surprise: words that count as no label, and classes that may be no classes."""
        column = f"column {self.options.label!r}"
        for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
            if text.lower() in MISSING:
                yield f"{column}: {counted(count, 'cell')} {text!r} without label"
        if self.options.classes is not None:
            return
        others = [] if self.fitted is None else [name for name in names if name not in self.fitted]
        if others:
            yield f"the labels {some(others)} were not classes when the model was fitted and count as unknown"
        for name in names:
            if name.casefold() in _NO_LABEL:
                yield f"{column} has the class {name!r}; leave cells empty that have no label"

    def _date(self) -> None:
        """The times of the labels, if a column has them; labels that ``as_of`` leaves out are hidden."""
        table, column, as_of = self.table, self.options.label_time, self.options.as_of
        if column is None and as_of is not None:
            said = "as_of leaves out later edges and links, but no label: name the column of their times, label_time"
            self.notes.append(f"{table.file}: {said}")
        bad = bad_times(table, column, "label_time")
        self.faults += bad
        if column not in table.cells or bad:
            return
        time = row_times(table.cells[str(column)])
        later = (self.labels >= 0) & (Period(as_of).weights(time) == 0)
        self.labels = np.where(later, UNLABELLED, self.labels)
        if later.any():
            self.notes.append(f"{table.file}: {counted(int(later.sum()), 'label')} not of {as_of} or before left out")
        if later.any() and np.unique(self.labels[self.labels >= 0]).size < 2:
            message = f"fewer than two classes have a label of {as_of} or before"
            self.faults.append(table.fault(message, column=str(column), option="label_time"))
        self.times = np.where((self.labels >= 0) & np.isfinite(time), time, np.nan)
