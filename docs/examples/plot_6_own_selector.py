"""
A selector of your own
======================

After this example you can replace one step of the loop and see what it chooses.

A selector takes the ``Beliefs`` of the teacher and returns the nodes of the pool that get a
pseudo-label. This one takes confident nodes most of whose neighbours are predicted alike.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import drgst
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.parts import InformationGain, MaxStages, Transition


@dataclass(frozen=True)
class Agreeing:
    """Nodes with confidence above ``threshold`` and at least ``share`` of their neighbours predicted alike."""

    threshold: float = 0.5
    share: float = 0.8

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        predicted = np.eye(beliefs.logits.shape[1])[beliefs.predictions]
        alike = (beliefs.graph.adjacency @ predicted)[np.arange(len(predicted)), beliefs.predictions]
        alike = alike / np.maximum(beliefs.graph.degrees, 1)
        pool = beliefs.candidates
        chosen = pool[(beliefs.confidence[pool] > self.threshold) & (alike[pool] >= self.share)]
        return PseudoLabels(chosen, beliefs.predictions[chosen])


graph = drgst.load("cora")
split = drgst.per_class_split(graph, 3, seed=0)
short = {"epochs": 150, "samples": 20}
rows = {}
for select in (Agreeing(), drgst.selftrain.parts.Threshold(0.5)):
    recipe = drgst.Recipe(select=select, weigh=InformationGain(beta=0.5), correct=Transition(), stop=(MaxStages(1),))
    model = drgst.SelfTraining(recipe, short).fit(graph, split, progress=False)
    stage = model.history_[1]
    right = (stage.pseudo_labels.labels == graph.labels[stage.pseudo_labels.nodes]).mean()
    rows[type(select).__name__] = (len(stage.pseudo_labels.nodes), right)
    print(f"{type(select).__name__}: {len(stage.pseudo_labels.nodes)} pseudo-labels, {right:.1%} of them right")

# %%
# Fewer pseudo-labels, more of them right. `How to write a part <../methods/parts.html>`__ has a
# test for a selector.
plt.figure(figsize=(5, 3))
for name, (count, right) in rows.items():
    plt.scatter(count, right, s=90, label=name)
plt.xlabel("pseudo-labelled nodes")
plt.ylabel("share that is right")
plt.legend()
plt.tight_layout()
plt.show()
