"""The learner of drgst-plus: views of a graph, the choice among them, and the ensemble of linear classifiers."""
