"""
A network of your own
=====================

After this example you can self-train any PyG module and compare it with other methods on the same
draws.

A module needs ``forward(x, edge_index)`` and returns logits. Everything else is done by the loop:
early stopping, information gain, the transition matrix, saving.
"""

import torch
from torch_geometric.nn import SAGEConv

import drgst


class Net(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.first = SAGEConv(features, 32)
        self.second = SAGEConv(32, classes)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x, edge_index):
        return self.second(self.dropout(self.first(x, edge_index).relu()), edge_index)


graph = drgst.block_model(600, 2000, seed=1, classes=4, homophily=0.7, features=100, words=8, signal=0.35)
split = drgst.random_split(graph, per_class=5, val=60, test=300, seed=0)
short = {"epochs": 60, "samples": 20, "stages": 1}  # for this page; leave it out for real results
model = drgst.SelfTraining("drgst-de", short, backbone=Net).fit(graph, split, progress=False)
print(f"test accuracy {model.score(graph, split.test):.1%}")

# %%
# The module in the loop beside three methods, on the same draws: 5 training and 15 validation
# labels per class. Two draws are too few to tell methods apart; use ten or more.
recipes = {
    "Net, self-trained": drgst.SelfTraining("drgst-de", short, backbone=Net),
    "gcn": "gcn",
    "margin-st": "margin-st",
    "drgst-plus": "drgst-plus",
}
results = drgst.lab.bench([graph], recipes, 5, draws=2, validation="15", settings={"epochs": 60}, jobs=1)
print(results.table())
figure = results.plot()
