"""
Cora in ten lines
=================

After this example you can self-train on a graph with three labels per class and see what each
stage did.

Cora is part of drgst: 2,708 papers, 5,278 citations, seven topics. DR-GST trains a teacher on 21
papers, pseudo-labels those that it is confident about, weighs them by information gain, and
trains a student.
"""

import drgst

graph = drgst.load("cora")
split = drgst.per_class_split(graph, 3, seed=0)  # three labels per class, as in the paper
model = drgst.DRGST(gain="dropedge").fit(graph, split, progress=False)
for stage in model.history_:
    print(stage)
print(f"test accuracy {model.score(graph, split.test):.1%}")

# %%
# Confidence against accuracy on the test nodes. Where the bars are on the line, a probability can
# be taken at face value.
figure = model.plot.calibration()
