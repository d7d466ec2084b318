"""What a run did: the pseudo-labels of each stage with weight, gain and confidence, its network, why the run ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.extras import import_extra
from drgst.files import plain
from drgst.graph.html import html_table, text_table
from drgst.nn.records import State, Training
from drgst.selftrain.beliefs import PseudoLabels
from drgst.transforms.softmax import softmax

if TYPE_CHECKING:
    import pandas as pd


LEAN_NODES = 1_000_000  # above which earlier stages are kept without selection logits, which no later stage reads


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """One stage; stage 0 is the teacher trained on V_L alone.

    ``pseudo_labels``, ``weights``, ``gain`` and ``confidence`` are what the student was trained on, by its teacher;
    ``logits`` and ``all_gain`` are those of the student.
    """

    number: int
    pseudo_labels: PseudoLabels
    weights: np.ndarray  # (M,) of the pseudo-labelled nodes
    gain: np.ndarray  # (M,) of the pseudo-labelled nodes
    confidence: np.ndarray  # (M,) of the pseudo-labelled nodes
    transition: np.ndarray | None  # T, (C, C)
    trainings: tuple[Training, ...]
    seconds: float
    accepted: bool  # whether the student replaced its teacher
    note: str  # what was unusual; "" if nothing
    logits: np.ndarray  # (N, C)
    all_gain: np.ndarray  # (N,)
    embedding: np.ndarray  # (N, D)
    state: State = field(repr=False)
    calibrated: np.ndarray | None = None  # (N, C) logits after calibration; None: nothing was calibrated
    selection_logits: np.ndarray | None = None  # (N, C) logits that the parts of the next stage use; None: ``logits``
    postprocessed: np.ndarray | None = None  # (N, C) logits of the result; None: not the result, or not postprocessed
    out_of_fold: np.ndarray | None = None  # (M, C) logits of the training nodes by runs without their labels

    def __repr__(self) -> str:
        name = "teacher" if self.number == 0 else f"{self.pseudo_labels.nodes.size:,} pseudo-labelled nodes"
        found = "" if math.isnan(self.val_accuracy) else f", validation accuracy {self.val_accuracy:.1%}"
        kept = "" if self.accepted else ", rejected"
        return f"Stage({self.number}: {name}{found}, {self.epochs:,} epochs, {self.seconds:.1f} s{kept})"

    @property
    def val_loss(self) -> float:
        """Validation loss of the student; NaN without validation."""
        return self.trainings[-1].val_loss if self.trainings else math.nan

    @property
    def val_accuracy(self) -> float:
        return self.trainings[-1].val_accuracy if self.trainings else math.nan

    @property
    def epochs(self) -> int:
        return sum(t.epochs for t in self.trainings)

    @property
    def final_logits(self) -> np.ndarray:
        """(N, C), calibrated and postprocessed where the recipe does that."""
        adjusted = self.calibrated if self.postprocessed is None else self.postprocessed
        return self.logits if adjusted is None else adjusted

    @property
    def probabilities(self) -> np.ndarray:
        """Softmax of ``final_logits``, (N, C)."""
        return softmax(self.final_logits)

    @property
    def predictions(self) -> np.ndarray:
        return self.final_logits.argmax(axis=1)

    def summary(self) -> dict[str, Any]:
        """Figures of the stage, without any label that the run was not given."""
        return {
            "stage": self.number,
            "pseudo_labelled": int(self.pseudo_labels.nodes.size),
            "mean_gain": _mean(self.gain),
            "mean_weight": _mean(self.weights),
            "mean_confidence": _mean(self.confidence),
            "val_loss": plain(self.val_loss),
            "val_accuracy": plain(self.val_accuracy),
            "epochs": self.epochs,
            "seconds": round(self.seconds, 3),
            "accepted": self.accepted,
            "note": self.note,
        }


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """All stages in order, and why the run ended ("" before it ends)."""

    stages: tuple[Stage, ...] = ()
    stop_reason: str = ""
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.stages)

    def __getitem__(self, index: int) -> Stage:
        return self.stages[index]

    @property
    def accepted(self) -> tuple[Stage, ...]:
        """The stages whose network replaced its teacher."""
        return tuple(s for s in self.stages if s.accepted)

    def with_stage(self, stage: Stage) -> History:
        """This history and one more stage; with very many nodes, earlier stages lose their selection logits."""
        earlier = self.stages
        if stage.logits.shape[0] > LEAN_NODES:
            earlier = tuple(replace(s, selection_logits=None) for s in earlier)
        return History((*earlier, stage), self.stop_reason, self.seconds + stage.seconds)

    def with_result(self, result: Stage) -> History:
        """This history with the stage of that number replaced."""
        stages = tuple(result if s.number == result.number else s for s in self.stages)
        return History(stages, self.stop_reason, self.seconds)

    def ended(self, reason: str) -> History:
        """This history with the reason why it ended."""
        return History(self.stages, reason, self.seconds)

    def to_frame(self) -> pd.DataFrame:
        """One row per stage: pseudo-labels, mean gain, weight and confidence, validation figures, epochs, seconds."""
        frame = import_extra("pandas", "notebook", "a data frame").DataFrame([stage.summary() for stage in self.stages])
        return frame.set_index("stage") if len(self) else frame

    def __str__(self) -> str:
        """A table of the stages, and why the run ended."""
        rows = [("stage", "pseudo-labelled", "mean gain", "validation", "epochs", "seconds"), *map(_row, self.stages)]
        return f"{text_table(rows)}\n{f'stopped: {self.stop_reason}' if self.stop_reason else 'not ended'}"

    def __repr__(self) -> str:
        return f"History({len(self)} stages, {self.seconds:.1f} s: {self.stop_reason or 'not ended'})"

    def _repr_html_(self) -> str:
        names = "stage", "pseudo_labelled", "mean_gain", "mean_confidence", "val_accuracy", "epochs", "seconds", "note"
        notes = (f"stopped: {self.stop_reason}",) if self.stop_reason else ()
        rows = [stage.summary() for stage in self.stages]
        shown = [name for name in names if name in names[:2] or any(row[name] for row in rows)]  # no empty columns
        cells = [[_cell(row[name]) for name in shown] for row in rows]
        return html_table("History", [name.replace("_", " ") for name in shown], cells, notes)

    def entered(self, nodes: int, train: np.ndarray) -> np.ndarray:
        """The stage in which each node was first pseudo-labelled, (N,): 0 for V_L, -1 for never."""
        first = np.full(nodes, -1, dtype=np.int64)
        for stage in reversed(self.accepted):
            first[stage.pseudo_labels.nodes] = stage.number
        first[train] = 0
        return first


def _row(stage: Stage) -> tuple[str, ...]:
    """The cells of a stage for people."""
    gain = "" if not stage.gain.size else f"{stage.gain.mean():.3g}"
    right = "" if math.isnan(stage.val_accuracy) else f"{stage.val_accuracy:.1%}"
    size = f"{stage.pseudo_labels.nodes.size:,}" if stage.number else ""
    name = "teacher" if stage.number == 0 else str(stage.number)
    return name, size, gain, right, f"{stage.epochs:,}", f"{stage.seconds:.1f}"


def join_notes(first: str, second: str) -> str:
    """Both notes as sentences; the other where one is ""."""
    return f"{first.rstrip('.')}. {second}" if first and second else first or second


def result_stage(history: History, keep: str) -> Stage:
    """The stage whose network is the result: the last accepted one, or the accepted one of lowest validation loss.

    ``"best-student"``: the accepted student of highest validation accuracy, of equal ones that of lower loss.
    """
    accepted = history.accepted
    if keep == "last" or math.isnan(accepted[0].val_loss):
        return accepted[-1]
    if keep == "best-student":
        return max(accepted[1:] or accepted, key=lambda s: (s.val_accuracy, -s.val_loss))
    return min(accepted, key=lambda s: s.val_loss)


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
