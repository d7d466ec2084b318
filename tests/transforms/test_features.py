"""Functions of features, each against its equation, dense and sparse; the feature map, also from its own arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.synthetic import block_model
from drgst.errors import SettingError
from drgst.transforms import features
from drgst.transforms.features import (
    FeatureMap,
    idf,
    krylov_vectors,
    reduce_columns,
    row_l1,
    row_l2,
    scale_columns,
    svd,
)
from drgst.transforms.rank_normalise import RankTable

X = np.array([[1, 1, 0, 2], [0, 0, 0, 0], [-3, 4, 0, 0]], dtype=np.float32)
KINDS = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])


def dense(x: Any) -> np.ndarray:
    return x.toarray() if isinstance(x, sp.csr_array) else x


@KINDS
@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (row_l1, [[0.25, 0.25, 0, 0.5], [0, 0, 0, 0], [-3 / 7, 4 / 7, 0, 0]]),
        (row_l2, [[6**-0.5, 6**-0.5, 0, 2 * 6**-0.5], [0, 0, 0, 0], [-0.6, 0.8, 0, 0]]),
        (lambda x: scale_columns(x, idf(x)), X * (1 + np.log(4 / (1 + np.array([2, 2, 0, 1]))))),
    ],
)
def test_rows_by_hand(kind: Callable, transform: Callable[[Any], Any], expected: list) -> None:
    x = kind(X)
    out = transform(x)
    np.testing.assert_allclose(dense(out), expected, rtol=1e-6)
    assert sp.issparse(out) == sp.issparse(x)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(dense(x), X)  # the input is left as it was


def low_rank(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 30)) + 0.01 * rng.standard_normal((60, 30))


@KINDS
def test_svd_equals_the_exact_one_up_to_sign(kind: Callable) -> None:
    x = low_rank(np.random.default_rng(0)).astype(np.float32)
    out = svd(kind(x), 4, seed=0)
    u, s, _ = np.linalg.svd(x)
    np.testing.assert_allclose(abs(out), abs(u[:, :4] * s[:4]), rtol=1e-3, atol=1e-3)
    assert (out[abs(out).argmax(0), range(4)] > 0).all()
    np.testing.assert_allclose(svd(kind(x), 4, seed=1), out, rtol=1e-2, atol=1e-3)


@KINDS
@pytest.mark.parametrize("symmetric", [False, True])
def test_krylov_vectors_are_leading_right_singular_vectors(kind: Callable, symmetric: bool) -> None:
    """Orthonormal, and they keep 0.9999 of what the exact ones keep; each angle to their space is small."""
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(60, 12)) * 2.0 ** -np.arange(12) @ rng.normal(size=(12, 60))).astype(np.float32)
    x = x + 1e-3 * rng.normal(size=(60, 60)).astype(np.float32)
    x = x + x.T if symmetric else x
    v = krylov_vectors(kind(x), 6, symmetric)
    exact = np.linalg.svd(x.astype(np.float64))[2][:6].T
    np.testing.assert_allclose(v.T @ v, np.eye(6), atol=1e-5)
    assert ((x @ v) ** 2).sum() >= 0.9999 * ((x @ exact) ** 2).sum()
    assert np.linalg.svd(v.T @ exact)[1].min() > 0.998


@pytest.mark.parametrize("k", [0, -2, 4])
def test_svd_refuses_a_rank_that_the_matrix_does_not_have(k: int) -> None:
    with pytest.raises(SettingError, match=rf"k = {k}, but a matrix of shape \(3, 4\) allows 1 to 3"):
        svd(X, k, seed=0)


@pytest.mark.parametrize("limit", [2_000, 20])
@KINDS
def test_reduced_columns_are_u_sigma(monkeypatch: pytest.MonkeyPatch, kind: Callable, limit: int) -> None:
    """By the eigenvectors of Xᵀ X, or (more columns than GRAM_COLUMNS) by subspace iteration; signs are free."""
    monkeypatch.setattr(features, "GRAM_COLUMNS", limit)
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(50, 12)) @ rng.normal(size=(12, 40)) + 0.01 * rng.normal(size=(50, 40))).astype(np.float32)
    u, s, _ = np.linalg.svd(x.astype(np.float64))
    wanted = u[:, :12] * s[:12]
    out = reduce_columns(kind(x), 12)
    assert out.shape == (50, 12)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out @ out.T, wanted @ wanted.T, atol=1e-2)
    np.testing.assert_allclose(np.linalg.norm(out, axis=0), s[:12], rtol=1e-3)


@KINDS
def test_few_columns_stay_as_they_are(kind: Callable) -> None:
    np.testing.assert_array_equal(reduce_columns(kind(X), 4), X)


def test_words_by_hand() -> None:
    """x √idf with unit rows."""
    x = block_model(100, 300, seed=0, classes=3, features=60).features
    wanted = row_l2(x.toarray() * np.sqrt(idf(x)))
    np.testing.assert_allclose(FeatureMap.fit(x, 256)(x), wanted, atol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_amounts_are_rank_normalised_and_standardised(kind: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    x = kind(rng.lognormal(3, 2, size=(80, 4)).astype(np.float32))
    ranks = RankTable.fit(x)(x)
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
