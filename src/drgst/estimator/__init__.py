"""The Python API, in the style of scikit-learn and PyTorch Geometric."""

from __future__ import annotations

from drgst.estimator.base import SelfTraining, load_model
from drgst.estimator.drgst import DRGST
from drgst.estimator.inputs import EXPECTED_FAILED_CHECKS, NotFitted

__all__ = ["DRGST", "EXPECTED_FAILED_CHECKS", "NotFitted", "SelfTraining", "load_model"]
