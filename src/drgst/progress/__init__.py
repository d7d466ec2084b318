"""Callbacks that show or log a run: terminal, notebook bar, CSV, TensorBoard, MLflow."""
