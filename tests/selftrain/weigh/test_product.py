"""Products of weights."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.class_balance import ClassBalance
from drgst.selftrain.weigh.information_gain import InformationGain
from drgst.selftrain.weigh.product import Product


def test_product_multiplies(beliefs: Beliefs) -> None:
    pseudo = PseudoLabels.of(np.array([30, 31, 32, 33]), np.array([0, 0, 0, 2]))
    gain = InformationGain(0.5)(beliefs, pseudo)
    both = Product(ClassBalance(), InformationGain(0.5))(beliefs, pseudo)
    np.testing.assert_allclose(both.pseudo, gain.pseudo * [2 / 3, 2 / 3, 2 / 3, 2])
