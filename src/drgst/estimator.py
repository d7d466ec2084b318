"""The Python API, in the style of scikit-learn and PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from drgst.errors import GraphError, RunError
from drgst.graph.core import Graph
from drgst.graph.io.pyg import from_pyg
from drgst.graph.split import Split
from drgst.graph.transforms.softmax import softmax
from drgst.recipes.backbone import with_backbone
from drgst.recipes.resolve import as_spec
from drgst.runs.config import RunConfig
from drgst.runs.model import OWN, Model
from drgst.runs.run import Run
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.recipe import AnyRecipe

if TYPE_CHECKING:
    from drgst.report.explorer.page import Page
    from drgst.runs.decisions.explain import Explanation


class NotFitted(RunError, NotFittedError):
    """``predict`` or ``save`` was called before ``fit``."""


class SelfTraining(BaseEstimator):
    """Any recipe, by name or made of the user's own parts, on one graph.

    ``recipe`` is a name (see ``drgst recipes``) or a :class:`~drgst.selftrain.recipe.Recipe`; ``settings`` is a
    dict of changes to its defaults and presets; ``prior`` maps classes to their shares among the unlabelled nodes, all
    classes or some, which the predictions then follow. Fitted attributes end in an underscore; classes are numbered as
    in ``graph.labels`` and named in ``classes_``. After ``fit``, ``result_`` is the complete
    :class:`~drgst.runs.result.Result`.
    """

    def __init__(
        self,
        recipe: str | AnyRecipe = "drgst-de",
        settings: dict[str, Any] | None = None,
        seed: int = 0,
        prior: Mapping[str, float] | None = None,
        backbone: Any = None,
    ) -> None:
        self.recipe = recipe
        self.settings = settings
        self.seed = seed
        self.prior = prior
        self.backbone = backbone

    def fit(self, graph: Any, split: Split | None = None, callback: Callback | None = None) -> SelfTraining:
        """Run the recipe on ``graph`` (a Graph or a PyG Data).

        ``split`` defaults to the one that came with the graph; without one, every labelled node is a training
        node, there are no validation nodes, and all other nodes are the pool.
        """
        spec = as_spec(self.recipe)
        if not isinstance(self.backbone, str | None):
            spec = with_backbone(spec, self.backbone)
        name = str(self.recipe) if isinstance(self.recipe, str) else OWN
        config = RunConfig(recipe=name, seed=self.seed, settings=self._changes())
        result = Run.of(as_graph(graph), config, split, spec).execute(callback)
        self.result_, self.history_, self.graph_, self.split_ = result, result.history, result.graph, result.split
        return self._set_model(result.model)

    def predict(self, graph: Any = None) -> np.ndarray:
        """Class of every node, (N,): of the fitted graph, or of another graph with the same features."""
        return self.predict_proba(graph).argmax(axis=1)

    def predict_proba(self, graph: Any = None) -> np.ndarray:
        """Probabilities, (N, C): of the fitted graph, or of another graph with the same features."""
        self._check_fitted()
        if graph is None:
            return self.probabilities_
        return softmax(self.model_.logits(as_graph(graph, self.model_.class_names)))

    def score(self, graph: Graph, nodes: np.ndarray) -> float:
        """Accuracy on ``nodes`` of ``graph`` whose labels are known."""
        return float((self.predict()[nodes] == graph.labels[nodes]).mean())

    def save(self, folder: str) -> None:
        """Write the fitted model to ``folder``: safetensors and JSON only."""
        self._check_fitted()
        self.model_.save(folder)

    def report(self) -> Page:
        """The page that shows the run: a notebook displays it inline, ``.save("page.html")`` writes it."""
        from drgst.report.explorer.page import make_page

        self._check_fitted()
        if not hasattr(self, "result_"):
            raise RunError("a loaded model has no history to report; drgst report RUN makes the page of a run folder")
        return make_page(self.result_, f"{self!r}.fit(graph, split)".replace("\n", ""))

    def explain(self, node: Any) -> Explanation:
        """Why the node with id ``node`` of the fitted graph was predicted as it was: its reasons, strongest first."""
        self._check_fitted()
        if not hasattr(self, "result_"):
            raise RunError(
                "a loaded model does not know its graph; drgst explain RUN NODE explains nodes of a run folder"
            )
        return self.result_.explain(node)

    def _changes(self) -> dict[str, Any]:
        """Settings over the defaults and presets; a backbone by name is one of them."""
        named = {"backbone": self.backbone} if isinstance(self.backbone, str) else {}
        return {**(self.settings or {}), **named, **({"prior": self.prior} if self.prior else {})}

    def _set_model(self, model: Model) -> SelfTraining:
        self.model_ = model
        self.settings_ = model.settings
        self.classes_ = np.array(model.class_names)
        self.stop_reason_ = model.stop_reason
        self.probabilities_ = model.arrays["probabilities"]
        self.gain_ = model.arrays["gain"]
        self.labeled_stage_ = model.arrays["labeled_stage"]
        self.transition_ = model.arrays.get("transition")
        return self

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet; call fit(graph, split) first")


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


def load_model(folder: str, backbone: Any = None) -> SelfTraining:
    """The model that ``save`` wrote, ready to predict.

    ``backbone`` is the user's own network where the model has one that can't be imported by name (a function, an
    instance, or a class of a script or notebook).
    """
    model = Model.load(folder, backbone)
    return SelfTraining(model.recipe, seed=model.seed, backbone=backbone)._set_model(model)


def as_graph(graph: Any, predict: tuple[str, ...] | None = None) -> Graph:
    """A Graph as it is, a PyG Data converted; ``predict``: the classes of a model, for data without labels."""
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "edge_index"):
        return from_pyg(graph, predict=predict)
    raise GraphError(f"the graph must be a drgst.Graph or a PyG Data, not {type(graph).__name__}")
