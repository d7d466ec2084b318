"""The learner of drgst-plus: views of a graph, one file each, and the ensemble of linear classifiers over them."""
