"""The estimator of the paper's method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drgst.estimator.base import SelfTraining


class DRGST(SelfTraining):
    """DR-GST: L = |V_L|/M · E[l(y, p)] + |S_U|/M · E[B̄_u l(ȳ, Tᵀ p)], stage by stage (Algorithm 1).

    A setting left at None takes the value the paper's authors published for the data set and the number of
    labels per class where they are known, otherwise a general default (:class:`~drgst.selftrain.settings.Settings`).
    """

    def __init__(
        self,
        gain: str = "dropedge",
        threshold: float | None = None,
        beta: float | None = None,
        drop_rate: float | None = None,
        samples: int | None = None,
        estimator: str | None = None,
        stages: int | None = None,
        keep: str | None = None,
        backbone: Any = None,
        hidden: int | None = None,
        dropout: float | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        device: str | None = None,
        seed: int = 0,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        self.gain = gain
        self.threshold = threshold
        self.beta = beta
        self.drop_rate = drop_rate
        self.samples = samples
        self.estimator = estimator
        self.stages = stages
        self.keep = keep
        self.backbone = backbone
        self.hidden = hidden
        self.dropout = dropout
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.device = device
        self.seed = seed
        self.prior = prior

    @property
    def recipe(self) -> str:  # type: ignore[override]
        """The recipe of this kind of gain."""
        return {"dropout": "drgst-do", "both": "drgst-both"}.get(self.gain, "drgst-de")

    def _changes(self) -> dict[str, Any]:
        given = {k: v for k, v in self.get_params().items() if k != "seed" and v is not None}
        return {k: v for k, v in given.items() if k != "backbone" or isinstance(v, str)}
