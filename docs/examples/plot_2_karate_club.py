"""
The karate club
===============

After this example you can classify the nodes of a NetworkX graph that has no features.

Zachary's karate club split in two. The instructor and the officer are known; the other 32 members
are not.
"""

import matplotlib.pyplot as plt
import networkx as nx

import drgst

club = nx.karate_club_graph()
truth = nx.get_node_attributes(club, "club")
nx.set_node_attributes(club, {0: "Mr. Hi", 33: "Officer"}, "label")
graph = drgst.from_networkx(club)
model = drgst.SelfTraining("label-propagation").fit(graph)
found = model.predict()
print(sum(found[node] == truth[node] for node in club), "of 34 are right")

# %%
# Members with a probability near one half are pale. The squares were known.
officer = model.predict_proba()[:, list(model.classes_).index("Officer")]
places = nx.spring_layout(club, seed=1)
plt.figure(figsize=(6, 4.5))
style = {"node_color": officer, "cmap": "coolwarm", "vmin": 0, "vmax": 1, "edgecolors": "black", "linewidths": 0.5}
nx.draw_networkx_edges(club, places, edge_color="#aaaaaa")
nx.draw_networkx_nodes(club, places, **style)
nx.draw_networkx_nodes(club, places, [0, 33], node_shape="s", **{**style, "node_color": officer[[0, 33]]})
nx.draw_networkx_labels(club, places, font_size=8)
plt.title("probability of following the officer")
plt.axis("off")
plt.show()
