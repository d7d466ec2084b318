"""
What more labels bring
======================

After this example you can measure on a labelled graph whether suggested labels beat random ones.

``label_curve`` starts with few labels, reveals more as a chooser asks for them, and refits after
each batch. The graph is small and the draws are few, so that this page is made quickly; `What to
label next <../guides/labels.html>`__ has the measured curves.
"""

import drgst

graph = drgst.block_model(400, 1200, seed=5, classes=4, homophily=0.7, features=80, words=6, signal=0.35)
curves = drgst.lab.label_curve(
    graph, recipe="logistic-ppr", start=2, budget=40, batch=10, by=["variance", "random"], draws=3, jobs=1
)
print(curves.table())

# %%
figure = curves.plot()
