"""Public data sets and generated graphs and tables."""

from drgst.graph.datasets.fraud import FraudTables, fraud_tables
from drgst.graph.datasets.synthetic import block_model, gaussian_circles

__all__ = ["FraudTables", "block_model", "fraud_tables", "gaussian_circles"]
