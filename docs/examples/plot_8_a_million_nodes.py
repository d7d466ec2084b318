"""
A million nodes
===============

After this example you can run the default method on a graph of any size and read what it cost.

**This page was made with 20,000 nodes**, so that the site is built quickly. Set ``NODES=1000000``
in the environment for a million; `Large graphs <../guides/scale.html>`__ has the measured time
and memory. Above 30,000 nodes the extra ``large`` finds nearest neighbours.
"""

import os
import time

import drgst

nodes = int(os.environ.get("NODES", "20000"))
graph = drgst.block_model(nodes, 10 * nodes, seed=0, classes=5, homophily=0.6, features=500, signal=0.3)
split = drgst.random_split(graph, per_class=20, val=0, test=nodes // 5, seed=0)
start = time.process_time()
model = drgst.SelfTraining("drgst-plus", {"view": "topology+features"}).fit(graph, split, progress=False)
print(f"{nodes:,} nodes, {graph.num_edges:,} edges, two views of six")
print(f"test accuracy {model.score(graph, split.test):.1%}")

# %%
# The pseudo-labelled share and the accuracy of each stage.
figure = model.plot.stages()
