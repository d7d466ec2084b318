"""Every setting of the parts, validated, with the paper's defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError

from drgst.errors import SettingError, nearest, unknown
from drgst.nn.records import Schedule
from drgst.uncertainty.class_prior import parse_shares, shares_text

if TYPE_CHECKING:
    from drgst.uncertainty.gain import GainSettings


def _fraction(value: Any) -> Any:
    """Read '1/3' as a number; leave everything else to the field's own type."""
    if isinstance(value, str) and "/" in value:
        try:
            return float(Fraction(value.replace(" ", "")))
        except (ValueError, ZeroDivisionError):
            return value
    return value


def _shares(value: Any) -> Any:
    """Class shares, a mapping or text, as the text ``fraud=0.02, ok=0.98``."""
    return None if value in (None, {}) else shares_text(parse_shares(value))


Number = Annotated[float, BeforeValidator(_fraction)]


class Settings(BaseModel):
    """One flat, frozen set of settings, that the command line, the config file and the Python API share.

    A recipe restricts it to the settings that its parts read (:meth:`restricted`); all others are then refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # the network
    backbone: str = Field(default="gcn", description="the network, a name of drgst.nn.registry")
    hidden: int = Field(default=64, ge=1, le=65536, description="width of the hidden layer")
    dropout: Number = Field(default=0.5, ge=0, lt=1, description="dropout before the last layer, in training")
    start: Literal["glorot", "uniform"] = Field(default="glorot", description="initial weights")
    normalise: Literal["auto", "l1", "l2", "none"] = Field(
        default="auto",
        description="scaling of the rows of features; auto: by the features, and structural ones if there are none",
    )
    # its training
    lr: Number = Field(default=0.01, gt=0, le=10, description="learning rate of Adam")
    weight_decay: Number = Field(default=5e-4, ge=0, le=10, description="L2 regularisation")
    epochs: int = Field(default=2000, ge=1, description="maximum number of epochs of a training")
    patience: int = Field(default=200, ge=1, description="early-stopping window on validation loss, in epochs")
    fixed_epochs: int | None = Field(
        default=None, ge=1, description="epochs of a training without validation; none: until predictions settle"
    )
    batch: Literal["full", "auto"] | Annotated[int, Field(ge=2)] = Field(
        default="full", description="nodes per training step: full, a number, or auto (100,000 where there are more)"
    )
    # information gain
    gain: Literal["dropout", "dropedge", "both"] = Field(
        default="dropedge", description="what is random in the last layer"
    )
    drop_rate: Number = Field(default=0.3, ge=0, lt=1, description="drop rate of MC-dropout and MC-dropedge")
    samples: int = Field(default=100, ge=1, description="Monte-Carlo samples of the gain")
    estimator: Literal["sampled", "closed"] = Field(
        default="sampled",
        description="the paper's samples, or the closed form, an approximation (by dropout of second order)",
    )
    # the loop
    threshold: Number = Field(default=0.6, ge=0, lt=1, description="confidence above which a node is pseudo-labelled")
    beta: Number = Field(
        default=0.5, gt=0, le=100, description="divides the normalised gain: weights are B / (beta mean B)"
    )
    stages: int = Field(default=3, ge=0, le=1000, description="maximum number of stages after the teacher")
    keep: Literal["last", "best", "best-student"] = Field(
        default="last",
        description="the result: last stage, lowest validation loss, or student of highest validation accuracy",
    )
    teacher_scale: Literal["1", "1/beta"] = Field(default="1", description="factor of the teacher's loss")
    floor: Literal["none", "top"] = Field(
        default="none", description="pseudo-labels of every class below the threshold: none, or the top most confident"
    )
    agreement: Number = Field(
        default=1.0, gt=0, le=1, description="share of unchanged pseudo-labels at which the run ends"
    )
    on_collapse: Literal["retry", "stop"] = Field(default="retry", description="retry a student that collapsed, or end")
    retries: int = Field(default=2, ge=0, le=100, description="fresh starts for a network that collapsed")
    # other methods
    top: int | None = Field(default=None, ge=1, description="pseudo-labels per class; none: t_k of Li et al. 2018")
    walk_epsilon: Number = Field(default=1e-6, gt=0, le=1, description="epsilon of ParWalks, (D - A + epsilon I)^-1")
    clusters: int | None = Field(default=None, ge=1, description="clusters of the pool; none: min(200, pool / 5)")
    pseudo_weight: Number = Field(default=0.1, ge=0, le=100, description="weight of the pseudo-labelled nodes")
    negative_weight: Number = Field(default=1.0, ge=0, le=100, description="weight of the negative pairs")
    negatives: int = Field(
        default=0, ge=0, description="negative pairs per epoch; 0: one for every labelled or pseudo-labelled node"
    )
    alpha: Number = Field(default=0.1, gt=0, lt=1, description="restart probability of the propagation")
    inverse_l2: Number = Field(default=100.0, gt=0, description="c of the penalty |W|^2 / (2c)")
    view: str = Field(default="auto", description="the views that are used, joined by +; auto: all")
    # what is done to the predictions of the result
    calibrate: Literal["none", "temperature", "bias", "mixing", "cagcn", "crossfit"] = Field(
        default="none", description="calibration, fitted to validation nodes; crossfit: to out-of-fold training nodes"
    )
    smooth: Literal["none", "correct-and-smooth"] = Field(default="none", description="smoothing of the result")
    correct_alpha: Number = Field(default=0.8, ge=0, lt=1, description="how far correct-and-smooth spreads errors")
    smooth_alpha: Number = Field(default=0.8, ge=0, lt=1, description="how far correct-and-smooth spreads labels")
    prior: Annotated[str | None, BeforeValidator(_shares)] = Field(
        default=None, description="class shares of the unlabelled nodes, as in fraud=0.02; none: as predicted"
    )
    val_labels: Literal["hold-out", "train"] = Field(
        default="hold-out", description="use of validation labels: to stop and to choose, or to train like others"
    )
    # the machine
    device: str = Field(default="cpu", description="cpu, cuda, cuda:1 or auto")

    _reader: str = PrivateAttr(default="")  # the recipe that they are restricted to
    _read: frozenset[str] | None = PrivateAttr(default=None)  # the names of its settings; None: all

    def schedule(self) -> Schedule:
        return Schedule(self.lr, self.weight_decay, self.epochs, self.patience, self.fixed_epochs, batch=self.batch)

    def gain_settings(self) -> GainSettings:
        """The part that concerns information gain."""
        from drgst.uncertainty.gain import GainSettings  # imports torch, which is slow

        return GainSettings(self.gain, self.drop_rate, self.samples, self.estimator)

    @property
    def names(self) -> tuple[str, ...]:
        """The settings that the recipe reads, in order; all of them where no recipe restricted them."""
        return tuple(name for name in type(self).model_fields if self._read is None or name in self._read)

    def as_dict(self) -> dict[str, Any]:
        """Name -> value of :attr:`names`."""
        return {name: getattr(self, name) for name in self.names}

    def restricted(self, reader: str, names: Iterable[str]) -> Settings:
        """A copy that shows and accepts the settings ``names`` alone: those that ``reader`` reads."""
        copy = self.model_copy()
        copy._reader, copy._read = reader, frozenset(names)
        return copy

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse a name that the recipe does not read, with the nearest one that it reads."""
        for name in names:
            if name not in type(self).model_fields:
                raise SettingError(unknown("setting", str(name), self.names))
            if name not in self.names:
                raise SettingError(
                    f"{self._reader} does not read the setting {name!r}{nearest(name, self.names)} "
                    f"(it reads: {', '.join(self.names)})"
                )

    def updated(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with some settings changed, checked."""
        self.check_names(changes)
        for name, value in changes.items():  # pydantic takes true for 1
            if isinstance(value, bool) and type(self).model_fields[name].annotation is not bool:
                raise SettingError(f"setting {name} is {str(value).lower()} (allowed: {allowed(name)})")
        try:
            made = type(self).model_validate({**self.model_dump(), **changes})
        except ValidationError as error:
            raise SettingError(_sentence(error)) from None
        return made if self._read is None else made.restricted(self._reader, self._read)


def allowed(name: str) -> str:
    """The values that a setting may have: ``from 0 to below 1``."""
    field = Settings.model_fields[name]
    return _allowed(field.annotation, field.metadata)


def _allowed(annotation: Any, rules: Iterable[Any]) -> str:
    kinds = get_args(annotation) or (annotation,)
    if get_origin(annotation) is Literal:
        return ", ".join(kinds)
    if get_origin(kinds[0]) is Literal:  # words, or a number
        number = kinds[1]
        return f"{_allowed(kinds[0], ())}, {_allowed(get_args(number)[0], get_args(number)[1].metadata)}"
    bounds = {k: f"{getattr(rule, k):,}" for rule in rules for k in ("ge", "gt", "le", "lt") if hasattr(rule, k)}
    words = BOUNDS["ge" in bounds]
    limits = "".join(word.format(bounds[key]) for key, word in words.items() if key in bounds)
    kind = "whole numbers " if int in kinds else "" if bounds else "text"
    return f"{kind}{limits}{', or none' if type(None) in kinds else ''}"


BOUNDS = {
    True: {"ge": "from {}", "le": " to {}", "lt": " to below {}"},
    False: {"gt": "above {}", "le": ", up to {}", "lt": ", below {}"},
}


def _sentence(error: ValidationError) -> str:
    """The first error of pydantic as: name, value, what is allowed."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return f"setting {name} is {first['input']} (allowed: {allowed(name)})"
