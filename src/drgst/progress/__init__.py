"""Callbacks that show or log a run: a live line in a terminal or notebook, CSV, TensorBoard and MLflow."""
