"""Every setting of a run, validated, with the paper's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from drgst.errors import SettingError, unknown
from drgst.nn.training import Schedule
from drgst.uncertainty.gain import GainSettings


def _fraction(value: Any) -> Any:
    """Read '1/3' as a number; leave everything else to the field's own type."""
    if isinstance(value, str) and "/" in value:
        try:
            return float(Fraction(value.replace(" ", "")))
        except (ValueError, ZeroDivisionError):
            return value
    return value


Number = Annotated[float, BeforeValidator(_fraction)]
PlusView = Literal[
    "auto",
    "topology",
    "knn",
    "features",
    "hops",
    "structure",
    "neighbours",
    "topology+knn",
    "knn+hops+structure",
    "topology+knn+hops+structure",
]


class Settings(BaseModel):
    """One flat, frozen set of settings: the command line, the config file and the Python door are made from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # the network
    backbone: str = "gcn"  # a name of drgst.nn.registry
    hidden: int = Field(default=64, ge=1, le=65536)  # width D of the hidden layer
    dropout: Number = Field(default=0.5, ge=0, lt=1)  # dropout before the last layer, in training
    start: Literal["glorot", "uniform"] = "glorot"  # how weights begin
    normalise: Literal["auto", "l1", "l2", "none"] = "auto"  # row-normalisation of the features
    # its training
    lr: Number = Field(default=0.01, gt=0, le=10)  # Adam's learning rate
    weight_decay: Number = Field(default=5e-4, ge=0, le=10)  # L2 regularisation λ_r
    epochs: int = Field(default=2000, ge=1)  # at most so many epochs a training
    patience: int = Field(default=200, ge=1)  # early-stopping window on validation loss
    fixed_epochs: int | None = Field(
        default=None, ge=1
    )  # without validation: so many epochs; None: until predictions settle
    # information gain
    gain: Literal["dropout", "dropedge", "both"] = "dropedge"  # what is random in the last layer
    drop_rate: Number = Field(default=0.3, ge=0, lt=1)  # p of MC-dropout and MC-dropedge
    samples: int = Field(default=100, ge=1)  # T, Monte-Carlo samples
    estimator: Literal["sampled", "closed"] = "sampled"  # the paper's, or the closed form
    # the loop
    threshold: Number = Field(default=0.6, ge=0, lt=1)  # τ: trust a node when its confidence is above this
    beta: Number = Field(default=0.5, gt=0, le=100)  # β: B̄ = B / (β · mean B)
    stages: int = Field(default=3, ge=0, le=1000)  # at most so many stages
    keep: Literal["last", "best", "best-student"] = (
        "last"  # the result: Algorithm 1's last, lowest validation loss, or the student of highest validation accuracy
    )
    agreement: Number = Field(default=1.0, gt=0, le=1)  # end when this share of the trusted set is as it was
    on_collapse: Literal["retry", "stop"] = "retry"  # a student that collapsed: try afresh, or end with its teacher
    retries: int = Field(default=2, ge=0, le=100)  # fresh starts for a collapsed student
    # other methods
    top: int | None = Field(default=None, ge=1)  # trusted nodes a class by rank or walk; None: t_k of Li et al. 2018
    walk_epsilon: Number = Field(default=1e-6, gt=0, le=1)  # ε of ParWalks, (D - A + εI)^-1
    clusters: int | None = Field(default=None, ge=1)  # M3S: clusters of the pool; None: min(200, pool / 5)
    trust_weight: Number = Field(default=0.1, ge=0, le=100)  # ABN: λ of the trusted nodes
    negative_weight: Number = Field(default=1.0, ge=0, le=100)  # ABN: λ₁ of the negative pairs
    negatives: int = Field(default=0, ge=0)  # ABN: negative pairs an epoch; 0: one for every trusted or labelled node
    alpha: Number = Field(default=0.1, gt=0, lt=1)  # restart of label-propagation and logistic-ppr
    inverse_l2: Number = Field(default=100.0, gt=0)  # logistic-ppr: c of ‖W‖²/(2c)
    view: PlusView = "auto"  # drgst-plus: what it reads
    # what is done to predictions
    calibrate: Literal["none", "temperature", "bias", "mixing", "cagcn"] = (
        "none"  # honest probabilities, fitted to validation nodes
    )
    smooth: Literal["none", "correct-and-smooth"] = "none"  # finish of the result
    correct_alpha: Number = Field(default=0.8, ge=0, lt=1)  # how far correct-and-smooth spreads errors
    smooth_alpha: Number = Field(default=0.8, ge=0, lt=1)  # how far it spreads labels
    # the machine
    device: str = "cpu"  # cpu, cuda, cuda:1, mps or auto

    def schedule(self) -> Schedule:
        """The part that concerns one training."""
        return Schedule(self.lr, self.weight_decay, self.epochs, self.patience, self.fixed_epochs)

    def gain_settings(self) -> GainSettings:
        """The part that concerns information gain."""
        return GainSettings(self.gain, self.drop_rate, self.samples, self.estimator)

    def updated(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with some settings changed, checked; an unknown name is refused with the nearest known one."""
        for key in changes:
            if key not in type(self).model_fields:
                raise SettingError(unknown("setting", str(key), type(self).model_fields))
        try:
            return type(self).model_validate({**self.model_dump(), **changes})
        except ValidationError as error:
            raise SettingError(_sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    """The first complaint of pydantic as: name, value, what is allowed."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    rule = first["msg"][0].lower() + first["msg"][1:]
    return f"setting {name} is {first['input']!r}: {rule}"
