"""The settings, data and record of a training; without torch, which is slow to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

State = Mapping[str, np.ndarray]  # what a learner or another part has learnt, by name: enough to predict again
OnEpoch = Callable[[int, float, float], None]  # epoch, training loss, validation loss (NaN without validation nodes)


def under(prefix: str, state: State) -> dict[str, np.ndarray]:
    """The arrays whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


@dataclass(frozen=True)
class Schedule:
    """The settings of a training."""

    lr: float = 0.01  # Adam's learning rate
    weight_decay: float = 5e-4  # L2 regularisation of all parameters
    epochs: int = 2000  # largest number of epochs
    patience: int = 200  # early-stopping window, in epochs
    fixed_epochs: int | None = None  # without validation nodes: number of epochs; None: until predictions are stable
    settle: float = 0.999  # predictions are stable if this share is equal to that of the previous check,
    check_every: int = 10  # with this number of epochs between checks,
    checks: int = 5  # for this number of checks in a row
    batch: str | int = "full"  # nodes per step: "full", "auto" or a number (:mod:`drgst.nn.minibatch`)


@dataclass(frozen=True)
class ValidationSet:
    """Validation nodes and their labels, (M,) each; both may be empty."""

    nodes: np.ndarray
    labels: np.ndarray


@dataclass
class Curve:
    """The losses of each epoch."""

    train_loss: list[float] = field(default_factory=list)
    val_loss: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Training:
    """The result of one training; the network has the weights of ``best_epoch``."""

    epochs: int
    best_epoch: int
    first_val_loss: float
    val_loss: float
    val_accuracy: float
    reason: str
    curve: Curve

    @property
    def collapsed(self) -> bool:
        """Whether the validation loss was never below its first value."""
        return self.val_loss >= self.first_val_loss
