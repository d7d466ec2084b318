"""What every learner keeps to, also a user's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.nn.random import generator
from drgst.nn.training import OnEpoch
from drgst.selftrain.engine import self_train
from drgst.selftrain.learners.base import Trained, untrained
from drgst.selftrain.parts import LabelPropagation, LogisticPPR, MaxStages, MultiViewEnsemble, Network, TopPerClass
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings


@dataclass(frozen=True)
class NearestMean:
    """A user's learner: z_uk = -‖x_u - mean of the targets of class k‖²."""

    reads: ClassVar[tuple[str, ...]] = ("hidden",)

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, seed: tuple[int, ...], on_epoch: OnEpoch | None
    ) -> Trained:
        x, classes = problem.graph.features, range(problem.graph.num_classes)
        means = np.stack([x[targets.nodes[targets.labels == k]].mean(axis=0) for k in classes])
        state = {"means": means}
        logits = self.predict(state, problem.graph, problem.settings)
        nothing = np.full(problem.graph.num_nodes, np.nan, dtype=np.float32)
        return Trained(logits, logits, state, untrained(problem, logits, "means"), 0.0, lambda *_: nothing)

    def predict(self, state: Mapping[str, np.ndarray], graph: Graph, settings: Settings) -> np.ndarray:
        return -((graph.features[:, None] - state["means"]) ** 2).sum(axis=2)


SLOT = "learner"
OURS = (
    Network(),
    Network(one_seed=True),
    LabelPropagation(),
    LogisticPPR(),
    MultiViewEnsemble("topology"),
    MultiViewEnsemble("features"),
)
OWN = (NearestMean(),)


def trained(part: Any, problem: Problem) -> Trained:
    train = problem.split.train
    targets = Targets(train, problem.graph.labels[train], np.ones(train.size), train.size)
    return part.train(problem, targets, cross_entropy, (0, 1, 0, 0), None)


@pytest.mark.parametrize("validation", [True, False])
def test_train_and_predict(part: Any, validation: bool, world: Any) -> None:
    """The saved state gives the logits of the training; the same seed gives the same bits."""
    problem = world.problem(epochs=10)
    if not validation:
        problem = replace(problem, split=problem.split.without_validation())
    made = trained(part, problem)
    assert made.logits.shape == (60, 3)
    assert np.isfinite(made.logits).all()
    assert made.embedding.shape[0] == 60
    assert made.gain(generator(0), False).shape == (60,)
    assert np.isnan(made.training.val_loss) == (not validation)
    assert all(isinstance(value, np.ndarray) and "/" not in name for name, value in made.state.items())
    np.testing.assert_allclose(part.predict(made.state, problem.graph, problem.settings), made.logits, atol=1e-5)
    np.testing.assert_array_equal(trained(part, problem).logits, made.logits)


def test_hidden_labels_are_not_read(part: Any, world: Any) -> None:
    problem = world.problem(epochs=10)
    unseen = np.union1d(world.split.test, world.split.pool)
    labels = problem.graph.labels.copy()
    labels[unseen] = (world.graph.labels[unseen] + 1) % 3
    shown = replace(problem, graph=problem.graph.with_(labels=labels))
    np.testing.assert_array_equal(trained(part, problem).logits, trained(part, shown).logits)


def test_it_reads_settings_that_exist(part: Any) -> None:
    assert set(part.reads) <= set(Settings.model_fields)
    assert set(part.reads) - {"on_collapse", "samples", "estimator"} <= Recipe(learner=part).reads


def test_it_is_the_learner_of_a_recipe(part: Any, world: Any) -> None:
    recipe = Recipe(learner=part, select=TopPerClass(2), stop=(MaxStages(1),))
    history = self_train(world.problem(epochs=10), recipe)
    assert len(history) == 2
