"""The feature map: by hand, the same on a part of the graph, and from its own arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.synthetic import block_model
from drgst.transforms.feature_map import FeatureMap
from drgst.transforms.features import idf, row_l2
from drgst.transforms.rank_normalise import rank_scores


def test_words_by_hand() -> None:
    """x √idf with unit rows."""
    x = block_model(100, 300, seed=0, classes=3, features=60).features
    wanted = row_l2(x.toarray() * np.sqrt(idf(x)))
    np.testing.assert_allclose(FeatureMap.fit(x, 256)(x), wanted, atol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_amounts_are_rank_normalised_and_standardised(kind: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    x = kind(rng.lognormal(3, 2, size=(80, 4)).astype(np.float32))
    ranks = rank_scores(x)
    ranks = ranks if isinstance(ranks, np.ndarray) else ranks.toarray()
    scaled = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
    np.testing.assert_allclose(FeatureMap.fit(x, 256)(x), row_l2(scaled), atol=1e-4)


def test_leading_columns_are_kept() -> None:
    x = block_model(100, 300, seed=0, classes=3, features=60).features
    whole, kept = FeatureMap.fit(x, 256)(x), FeatureMap.fit(x, 10)(x)
    assert kept.shape == (100, 10)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=0), np.linalg.svd(whole)[1][:10], rtol=1e-3)


@pytest.mark.parametrize("kind", ["words", "amounts", "signed"])
def test_new_nodes_get_the_map_of_the_old_ones(kind: str) -> None:
    rng = np.random.default_rng(1)
    features = {
        "words": block_model(100, 300, seed=0, classes=3, features=60).features,
        "amounts": rng.lognormal(3, 2, size=(100, 30)).astype(np.float32),
        "signed": rng.normal(size=(100, 30)).astype(np.float32),
    }[kind]
    fitted = FeatureMap.fit(features[:70], 8)
    again = FeatureMap.of(fitted.arrays())
    np.testing.assert_array_equal(again(features[60:]), fitted(features[60:]))
    np.testing.assert_allclose(fitted(features[60:])[:10], fitted(features[:70])[60:], atol=1e-5)
    assert np.isfinite(fitted(features[60:])).all()
