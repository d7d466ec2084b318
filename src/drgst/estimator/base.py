"""The estimator of any recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from drgst.errors import GraphError, RunError
from drgst.estimator.display import card_html, fitted_network, predictions_frame, review_frame, suggestions_frame
from drgst.estimator.inputs import (
    WAYS,
    ArrayInput,
    NotFitted,
    as_graph,
    check_pool,
    check_weights,
    class_indices,
    fit_input,
    is_adjacency,
    is_graph,
    is_mask,
    masked_split,
    node_indices,
    same_graph,
    scipy_graph,
    unknown,
)
from drgst.graph.core import Graph
from drgst.graph.split import Split, labelled_split
from drgst.progress.display import display, joined
from drgst.recipes.registry import as_spec, with_backbone
from drgst.runs.config import PAPERS_RECIPE, RunConfig, default_recipe
from drgst.runs.folder import SCHEMA, RunFolder
from drgst.runs.metrics import accuracy
from drgst.runs.model import OWN, Model
from drgst.runs.result import Result
from drgst.runs.run import Run, load_result
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.recipe import AnyRecipe
from drgst.tables.naming import relabel
from drgst.tables.schema import TableSchema

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn

    from drgst.decide.evaluate import Evaluation
    from drgst.decide.reasons import Explanation
    from drgst.estimator.plot import Plot
    from drgst.report.page import Page


class SelfTraining(ClassifierMixin, BaseEstimator):
    """Any recipe, by name or made of the user's own parts, on one graph.

    ``recipe`` is a name (see ``drgst recipes``) or a :class:`~drgst.selftrain.recipe.Recipe`; by default it is
    ``drgst-de`` on the paper's data sets and with a ``backbone``, ``drgst-plus`` on any other graph. ``settings`` is a
    dict of changes to its defaults and presets; ``prior`` maps classes to their shares among the unlabelled nodes, all
    classes or some, which the predictions then follow; ``backbone`` is the network: a name, or a PyG module as
    :func:`~drgst.nn.registry.make_backbone` takes it.

    ``predict`` returns ``classes_[predict_proba(...).argmax(axis=1)]``. ``classes_`` has the values of ``y`` after
    ``fit`` on arrays, else the class names of the graph, as whole numbers where all are such. A saved model and ``drgst
    predict`` return the same labels. ``result_`` is the complete :class:`~drgst.runs.result.Result`.
    """

    _arrays: ArrayInput | None = None  # after fit on arrays
    _schema: TableSchema | None = None  # after fit on tables
    _folder = ""  # of the run that a model was loaded from

    def __init__(
        self,
        recipe: str | AnyRecipe | None = None,
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

    def fit(
        self,
        X: Any = None,
        y: Any = None,
        *more: Any,
        split: Split | None = None,
        adjacency: Any = None,
        sample_weight: Any = None,
        warm_from: SelfTraining | None = None,
        callback: Callback | Sequence[Callback] | None = None,
        progress: bool | None = None,
    ) -> SelfTraining:
        """Run the recipe on a graph, ``fit(graph, split)``, or on arrays, ``fit(X, y, adjacency=A)``.

        A graph is a Graph, the name of a data set or a path, a PyG Data, a NetworkX graph (``fit(graph, "club")``: with
        its labels in the node attribute ``club``), a SciPy adjacency with labels ``y``, or two data frames:
        ``fit(nodes, "label column", adjacency=edges)``. ``split`` may be the second argument, also as a mask of the
        training nodes; it defaults to the one that came with the graph; without one, every labelled node is a
        training node, there are no validation nodes, and all other nodes are the pool.

        Arrays: X is (N, F), dense, sparse or a data frame of numbers; y is (N,) with -1, None or NaN for unknown; A is
        (N, N), ends of edges (2, E) or a data frame of edges; without A the graph is that of the 10 nearest neighbours
        by cosine. ``sample_weight`` (N,) multiplies the loss of training nodes, scaled to mean 1 over them.

        ``warm_from`` is a model that was fitted to the same graph with other labels (``graph.with_(labels=…)``). What
        no label changes, such as views and nearest neighbours, is not computed again; the result is bit-identical.

        ``callback`` is called as the run proceeds. ``progress`` shows it: by default in a notebook and on a terminal.
        """
        if more:
            raise GraphError(f"fit takes two arguments without a name, not {2 + len(more)}: {WAYS}")
        if isinstance(y, Split):
            split, y = y, None
        elif is_graph(X) and is_mask(y):
            split, y = masked_split(as_graph(X), y), None
        graph, form, schema = fit_input(self, X, y, adjacency)
        if form is not None and split is None:
            split = labelled_split(graph)
        usual = default_recipe(graph.name) if self.backbone is None else PAPERS_RECIPE  # which trains a network
        recipe = usual if self.recipe is None else self.recipe
        spec = as_spec(recipe)
        if not isinstance(self.backbone, str | None):
            spec = with_backbone(spec, self.backbone)
        name = recipe if isinstance(recipe, str) else OWN
        config = RunConfig(recipe=name, seed=self.seed, settings=self._changes())
        run = Run.of(graph, config, split, spec)
        check_pool(run.split, run.recipe)
        if warm_from is not None:
            run = run.sharing(warm_from._fitted_result().run.problem.graph_cache)
        if sample_weight is not None:
            weights = check_weights(sample_weight, graph.num_nodes)
            run = replace(run, problem=replace(run.problem, sample_weight=weights))
        result = run.execute(joined(display(progress), callback))
        self._folder, self._schema = "", schema
        self.result_, self.history_, self.graph_, self.split_ = result, result.history, result.graph, result.split
        values = None if form is None else tuple(form.classes.tolist())
        return self._set_model(replace(result.model, classes=values), form)

    def predict(self, X: Any = None, *, adjacency: Any = None) -> np.ndarray:
        """Label of every node, (N,), out of ``classes_``: of the fitted graph, or of another with the same features."""
        found = self.predict_proba(X, adjacency=adjacency).argmax(axis=1)
        return self.classes_[found]

    def predict_proba(self, X: Any = None, *, adjacency: Any = None) -> np.ndarray:
        """Probabilities, (N, C): of the fitted graph, or of another graph with the same features."""
        self._check_fitted()
        if X is None and adjacency is None:
            return self.probabilities_
        return self.model_.probabilities(self._input(X, adjacency))

    def score(self, X: Any = None, y: Any = None, sample_weight: Any = None, *, adjacency: Any = None) -> float:
        """Accuracy on the graph that is given; on the fitted graph where it is None or has the same content.

        ``score(graph, nodes)``: on ``nodes``, a mask or indices, of known label; without ``nodes`` on the test nodes
        of its split, else on all labelled nodes. ``score(X, y, adjacency=A)``: on all samples whose y is not -1.
        """
        self._check_fitted()
        if isinstance(y, str):  # tables with their column of classes
            if self._schema is None or y != self._schema.label:
                raise GraphError(f"score(nodes, {y!r}) needs a model that was fitted to tables with that label column")
            X, y = self._schema.apply(X, adjacency).graph, None
        elif self._schema is not None and not (X is None or is_graph(X)):
            words = f"score(nodes, {self._schema.label!r}, adjacency=edges) takes the name of the label column"
            raise GraphError(f"{words}; evaluate(y) takes labels of the rows that were fitted")
        if self._arrays is not None and not is_graph(X):
            return self._score_arrays(X, y, sample_weight, adjacency)
        graph = self.graph_ if X is None else as_graph(X)
        fitted = hasattr(self, "graph_") and same_graph(graph, self.graph_)
        predicted = (self.probabilities_ if fitted else self.predict_proba(graph)).argmax(axis=1)
        truth = relabel(graph.labels, graph.class_names, self.model_.class_names)
        usual = np.arange(graph.num_nodes) if graph.split is None else graph.split.test
        nodes = usual if y is None else node_indices(y, graph.num_nodes)
        if not (truth[nodes] >= 0).any():
            names = ", ".join(self.model_.class_names)
            raise GraphError(f"no node to score has a label that is a class of the model (its classes: {names})")
        return accuracy(predicted[nodes], truth[nodes])

    def predictions(self) -> pd.DataFrame:
        """One row per node of the fitted graph, as ``predictions.csv`` has it: class, probabilities, gain, stage."""
        return predictions_frame(self._fitted_result())

    def suggest(self, n: int = 20, by: str | None = None) -> pd.DataFrame:
        """``n`` nodes of the fitted graph to label next: id, predicted class, confidence, why, and how it was chosen.

        ``by`` is a chooser (default: the one that was measured to beat a random sample with the recipe, else a
        class-balanced random sample); ``attrs["note"]`` says which.
        """
        return suggestions_frame(self._fitted_result(), n, by)

    def network(self) -> nn.Module:
        """The fitted network, on the CPU in evaluation mode: the user's own module, or one of ours."""
        self._check_fitted()
        return fitted_network(self.model_)

    @property
    def plot(self) -> Plot:
        """Figures of the fitted run: ``plot.stages()``, ``plot.calibration()``, ``plot.map()``."""
        from drgst.estimator.plot import Plot

        return Plot(self._fitted_result())

    def save(self, folder: str) -> None:
        """Write the fitted model to ``folder``: safetensors and JSON only."""
        self._check_fitted()
        self.model_.save(folder)
        if self._schema is not None:
            self._schema.save(Path(folder) / SCHEMA)

    def report(self) -> Page:
        """The page that shows the run: a notebook displays it inline, ``.save("page.html")`` writes it."""
        from drgst.report.page import make_page

        return make_page(self._fitted_result(), f"{self!r}.fit(graph, split)".replace("\n", ""))

    def explain(self, node: Any) -> Explanation:
        """Why the node with id ``node`` of the fitted graph was predicted as it was: its reasons, strongest first."""
        from drgst.decide.explain import explain

        return explain(self._fitted_result(), node, self._schema)

    def review(self) -> pd.DataFrame:
        """The given labels that out-of-fold predictions contradict, by node id, the most doubtful first."""
        return review_frame(self._fitted_result())

    def evaluate(self, y: Any = None, positive: str | None = None) -> Evaluation:
        """Metrics with 95 % intervals on the nodes whose labels the run was not given.

        ``y`` has a class name or -1, None or NaN for each node, (N,), or is a dict or Series by node id; without it the
        labels of the graph count.
        ``positive`` is the class to rank (default: the rarer of two).
        """
        from drgst.decide.evaluate import evaluate_result

        result = self._fitted_result()
        truth = result.graph.labels if y is None else class_indices(y, self.classes_, result.node_ids)
        return evaluate_result(result, truth, positive)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """A card of the fitted estimator in a notebook; before ``fit``, scikit-learn's list of parameters."""
        if not hasattr(self, "result_"):
            return super()._repr_mimebundle_(**kwargs)
        return {"text/plain": repr(self), "text/html": card_html(repr(self), self.result_)}

    def _input(self, X: Any, adjacency: Any) -> Graph:
        """The graph to predict."""
        if is_graph(X):
            return as_graph(X, self.model_.class_names)
        if self._schema is not None:
            return self._schema.apply(X, adjacency).graph
        if self._arrays is None and adjacency is None and is_adjacency(X):
            return scipy_graph(X, np.full(X.shape[0], -1)).with_(class_names=self.model_.class_names)
        if self._arrays is None:
            return as_graph(X)
        return self._arrays.graph(self, X, adjacency)

    def _score_arrays(self, X: Any, y: Any, sample_weight: Any, adjacency: Any) -> float:
        from sklearn.metrics import accuracy_score

        truth = np.asarray(y)
        known = ~unknown(truth)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(truth[known], self.predict(X, adjacency=adjacency)[known], sample_weight=weights))

    def _changes(self) -> dict[str, Any]:
        """Settings over the defaults and presets; a backbone by name is one of them."""
        named = {"backbone": self.backbone} if isinstance(self.backbone, str) else {}
        return {**(self.settings or {}), **named, **({"prior": self.prior} if self.prior else {})}

    def _set_model(self, model: Model, form: ArrayInput | None) -> SelfTraining:
        self.model_, self._arrays = model, form
        self.settings_ = model.settings
        self.classes_ = model.labels if form is None else form.classes
        self.n_features_in_ = model.num_features
        self.stop_reason_ = model.stop_reason
        self.probabilities_ = model.arrays["probabilities"]
        self.gain_ = model.arrays["gain"]
        self.labeled_stage_ = model.arrays["labeled_stage"]
        self.transition_ = model.arrays.get("transition")
        return self

    def _fitted_result(self) -> Result:
        self._check_fitted()
        if not hasattr(self, "result_"):
            if not self._folder:
                raise RunError("the model was loaded without its run: load it from a run folder of drgst run instead")
            self.result_ = load_result(self._folder)
        return self.result_

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet; call fit(graph, split) first")


def load_model(folder: str, backbone: Any = None) -> SelfTraining:
    """The model that ``save`` wrote, or that of a run folder, ready to predict.

    From a run folder it has all methods of a fitted estimator: ``explain``, ``review``, ``report`` and so on.
    ``backbone`` is the user's own network where the model has one that can't be imported by name (a function, an
    instance, or a class of a script or notebook).
    """
    model, schema = Model.load(folder, backbone), Path(folder) / SCHEMA
    made = SelfTraining(model.recipe, seed=model.seed, backbone=backbone)
    made._folder = folder if RunFolder(folder).finished else ""
    made._schema = TableSchema.load(schema) if schema.is_file() else None
    return made._set_model(model, None if model.classes is None else ArrayInput(model.labels))
