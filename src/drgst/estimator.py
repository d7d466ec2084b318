"""The Python door, in the manner of scikit-learn and PyTorch Geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from drgst.errors import GraphError, RunError
from drgst.graph.core import Graph
from drgst.graph.default_split import default_split
from drgst.graph.io.pyg import from_pyg
from drgst.graph.split import Split
from drgst.recipes.post import dressed
from drgst.recipes.resolve import resolve
from drgst.runs.model import Model, load_model_files, save_model_files
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import result_stage, self_train
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings

if TYPE_CHECKING:
    from drgst.report.explorer.page import Page


class SelfTraining(BaseEstimator):
    """Any recipe, by name or made of the user's own parts, on one graph.

    ``recipe`` is a name (see ``drgst recipes``) or a :class:`~drgst.selftrain.recipe.Recipe`; ``settings`` a
    dict of changes to its defaults and presets. Fitted attributes end in an underscore; classes are numbered as
    in ``graph.labels`` and named in ``classes_``.
    """

    def __init__(
        self, recipe: str | Recipe = "drgst-de", settings: dict[str, Any] | None = None, seed: int = 0
    ) -> None:
        self.recipe = recipe
        self.settings = settings
        self.seed = seed

    def fit(self, graph: Any, split: Split | None = None, callback: Callback | None = None) -> SelfTraining:
        """Run the recipe on ``graph`` (a Graph or a PyG Data).

        ``split`` defaults to the one that came with the graph; without one, every labelled node is a training
        node, no node validates, and all others are the pool.
        """
        graph = as_graph(graph)
        split = default_split(graph) if split is None else split
        settings, recipe = self._resolve(graph, split)
        problem = Problem.of(graph, split, settings, self.seed)
        history = self_train(problem, recipe, callback)
        stage = result_stage(history, settings.keep)
        name = self._name()
        state, calibrate = dict(stage.state), recipe.calibrate
        model = Model(name, settings, graph.class_names, graph.num_features, state, recipe.learner, calibrate)
        return self._keep(model, graph, split, history, stage)

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
        arrays = {"probabilities": self.probabilities_, "gain": self.gain_, "labeled_stage": self.labeled_stage_}
        if self.transition_ is not None:
            arrays["transition"] = self.transition_
        save_model_files(folder, self.model_, arrays, self.seed, self.stop_reason_)

    def report(self) -> Page:
        """The page that shows what the run did: a notebook shows it inline, ``.save("page.html")`` writes it."""
        from drgst.report.explorer.page import make_page
        from drgst.report.explorer.source import fitted_told

        self._check_fitted()
        if not hasattr(self, "graph_"):
            raise RunError("a loaded model has no history to report; drgst report RUN makes the page of a run folder")
        settings, recipe = self._resolve(self.graph_, self.split_)
        problem = Problem.of(self.graph_, self.split_, settings, self.seed)
        again = f"{self!r}.fit(graph, split)".replace("\n", "")
        return make_page(fitted_told(problem, self.graph_, recipe, self._name(), self.history_, again))

    def _resolve(self, graph: Graph, split: Split) -> tuple[Settings, Recipe]:
        changes = self._changes()
        if isinstance(self.recipe, Recipe):
            settings = Settings().updated(changes)
            return settings, dressed(self.recipe, settings)
        return resolve(self.recipe, graph, split, changes)

    def _changes(self) -> dict[str, Any]:
        return dict(self.settings or {})

    def _name(self) -> str:
        return self.recipe if isinstance(self.recipe, str) else "own"

    def _keep(self, model: Model, graph: Graph, split: Split, history: Any, stage: Any) -> SelfTraining:
        self.model_ = model
        self.settings_ = model.settings
        self.classes_ = np.array(graph.class_names)
        self.graph_ = graph
        self.split_ = split
        self.history_ = history
        self.stop_reason_ = history.stop_reason
        self.probabilities_ = stage.probabilities
        self.gain_ = stage.all_gain
        self.transition_ = stage.transition
        self.labeled_stage_ = history.entered(graph.num_nodes, split.train)
        return self

    def _check_fitted(self) -> None:
        if not hasattr(self, "probabilities_"):
            raise RunError(f"this {type(self).__name__} is not fitted yet; call fit(graph, split) first")


class DRGST(SelfTraining):
    """DR-GST: L = |V_L|/M · E[l(y, p)] + |S_U|/M · E[B̄_u l(ȳ, Tᵀ p)], stage by stage (Algorithm 1).

    A setting left at None takes the value the paper's authors published for the data set and the number of
    labels a class where they are known, otherwise a general default (:class:`~drgst.selftrain.settings.Settings`).
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
        backbone: str | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        device: str | None = None,
        seed: int = 0,
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

    @property
    def recipe(self) -> str:  # type: ignore[override]
        """The recipe that the kind of gain stands for."""
        return {"dropout": "drgst-do", "both": "drgst-both"}.get(self.gain, "drgst-de")

    def _changes(self) -> dict[str, Any]:
        return {k: v for k, v in self.get_params().items() if k != "seed" and v is not None}


def load_model(folder: str) -> SelfTraining:
    """The model that ``save`` wrote, ready to predict."""
    saved = load_model_files(folder)
    model = SelfTraining(saved.model.recipe, seed=saved.seed)
    model.model_, model.settings_ = saved.model, saved.model.settings
    model.classes_ = np.array(saved.model.class_names)
    model.stop_reason_ = saved.stop_reason
    model.probabilities_ = saved.arrays["probabilities"]
    model.gain_ = saved.arrays["gain"]
    model.labeled_stage_ = saved.arrays["labeled_stage"]
    model.transition_ = saved.arrays.get("transition")
    return model


def as_graph(graph: Any, predict: tuple[str, ...] | None = None) -> Graph:
    """A Graph as it is, a PyG Data converted; ``predict``: the classes of a model, for data without labels."""
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "edge_index"):
        return from_pyg(graph, predict=predict)
    raise GraphError(f"what is needed is a drgst.Graph or a PyG Data, not {type(graph).__name__}")
