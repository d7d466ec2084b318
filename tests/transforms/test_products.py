"""Products, Gram matrices and orthonormal bases in blocks of rows, and softmax, against NumPy and SciPy."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.special
import torch

from drgst.transforms import products
from drgst.transforms.products import (
    ScaledMatrix,
    gram,
    in_parts,
    leading_eigenvectors,
    multiply_rows,
    multiply_sparse,
    orthonormalise,
    release,
    row_blocks,
)
from drgst.transforms.softmax import log_softmax, log_softmax_float32, row_max, softmax


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "BLOCK_BYTES", 4 * 7 * 5)  # 7 rows of 5 columns


@pytest.fixture
def z() -> np.ndarray:
    return np.random.default_rng(0).normal(1, 2, size=(40, 5)).astype(np.float32)


def test_row_blocks_cover_every_row_once() -> None:
    assert [(b.start, b.stop) for b in row_blocks(16, 5)] == [(0, 7), (7, 14), (14, 16)]
    assert [(b.start, b.stop) for b in row_blocks(2, 10**6)] == [(0, 1), (1, 2)]
    assert not list(row_blocks(0, 5))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.float16])
def test_product_with_weights(z: np.ndarray, kind: type) -> None:
    w = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    out = multiply_rows(kind(z), w)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, z @ w, atol=3e-2 if kind is np.float16 else 1e-5)


def test_product_in_place(z: np.ndarray) -> None:
    w = np.random.default_rng(1).normal(size=(5, 5)).astype(np.float32)
    wanted = z @ w
    assert multiply_rows(z, w, out=z) is z
    np.testing.assert_allclose(z, wanted, atol=1e-5)


def test_sparse_product_of_a_read_only_matrix(z: np.ndarray) -> None:
    s = sp.random_array((30, 40), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(2))
    s.data.flags.writeable = False
    np.testing.assert_allclose(multiply_sparse(s, z), s.toarray() @ z, atol=1e-5)


def test_gram_of_every_storage(z: np.ndarray) -> None:
    np.testing.assert_allclose(gram(z), z.T @ z, rtol=1e-5)
    np.testing.assert_allclose(gram(z.astype(np.float16)), z.T @ z, rtol=1e-2)


@pytest.mark.parametrize("bad", [None, 0.0, 1e-7])
def test_orthonormal_basis_of_the_same_span_also_of_nearly_dependent_columns(z: np.ndarray, bad: float | None) -> None:
    z[:, 4] = z[:, 4] if bad is None else z[:, 3] + bad * z[:, 2]
    q = orthonormalise(z.copy())
    np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-5)
    np.testing.assert_allclose(q @ (q.T @ z), z, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_are_in_order_and_cover_every_row_once(threads: int) -> None:
    """Whatever the number of threads, which is as before afterwards, after an error, too."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        parts = list(in_parts(lambda part: range(part.start, part.stop), 100))
        assert len(parts) == 15  # of 7 rows, the last of 2
        assert [row for part in parts for row in part] == list(range(100))
        assert list(in_parts(lambda _: 1, 0)) == []
        with pytest.raises(ZeroDivisionError):
            list(in_parts(lambda _: 1 // 0, 5))
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_gram_of_many_rows_does_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch, dtype: type) -> None:
    """float32 inside small blocks, float64 over them."""
    monkeypatch.setattr(products, "MANY_ROWS", 50)
    monkeypatch.setattr(products, "NARROW_BYTES", 7 * 4 * 5)
    many = np.random.default_rng(0).normal(size=(333, 5)).astype(dtype)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(gram(many))
    finally:
        torch.set_num_threads(before)
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    assert found[0].dtype == np.float64
    np.testing.assert_allclose(found[0], many.astype(np.float64).T @ many.astype(np.float64), rtol=1e-5, atol=1e-4)


def test_scaled_matrix() -> None:
    """diag(l) S diag(r) and its transpose, without a copy of S."""
    rng = np.random.default_rng(0)
    s = sp.random_array((9, 9), density=0.4, rng=rng, dtype=np.float32)
    s = sp.csr_array(s + s.T)
    left, right, y = (
        rng.random(9, dtype=np.float32),
        rng.random(9, dtype=np.float32),
        rng.random((9, 2), dtype=np.float32),
    )
    scaled = ScaledMatrix(left, s, right)
    dense = left[:, None] * s.toarray() * right
    assert scaled.shape == scaled.T.shape == (9, 9)
    assert scaled.T.matrix is s
    np.testing.assert_allclose(scaled @ y, dense @ y, rtol=1e-5)
    np.testing.assert_allclose(scaled.T @ y, dense.T @ y, rtol=1e-5)


def test_softmax_by_hand_and_at_extremes() -> None:
    """Equal logits have equal probabilities; large ones do not overflow."""
    np.testing.assert_allclose(softmax(np.array([[0.0, 0.0], [np.log(3), 0.0]])), [[0.5, 0.5], [0.75, 0.25]])
    np.testing.assert_allclose(softmax(np.array([[1e4, 0.0], [-1e4, 0.0]], dtype=np.float32)), [[1, 0], [0, 1]])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("scale", [1e-3, 1, 30])
def test_log_softmax_is_bit_identical_to_scipy(order: str, scale: float) -> None:
    z = np.asarray(scale * np.random.default_rng(0).normal(size=(40, 7)), order=order)  # type: ignore[call-overload]
    np.testing.assert_array_equal(log_softmax(z), scipy.special.log_softmax(z, axis=1))
    np.testing.assert_allclose(np.exp(log_softmax(z)), softmax(z), rtol=1e-12)


def test_float32_logits_give_float64() -> None:
    z = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    assert log_softmax(z).dtype == softmax(z).dtype == np.float64


@pytest.mark.parametrize("rows", [40, 39])
def test_few_rows_in_float64_and_many_in_float32(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drgst.transforms.softmax.DOUBLE_ROWS", rows)
    z = 10 * np.random.default_rng(0).normal(size=(40, 7))
    found = log_softmax_float32(z)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, log_softmax(z), rtol=1e-5, atol=1e-5)
    if rows == 40:
        np.testing.assert_array_equal(found, log_softmax(z).astype(np.float32))


@pytest.mark.parametrize("columns", [1, 5, 40])
def test_row_maxima(columns: int) -> None:
    """Few columns or many, of any memory order."""
    z = np.random.default_rng(0).normal(size=(7, columns)).astype(np.float32)
    for given in (z, np.asfortranarray(z)):
        np.testing.assert_array_equal(row_max(given)[:, 0], z.max(axis=1))


@pytest.mark.parametrize(("count", "k"), [(1, 1), (2, 1), (3, 1), (61, 7), (64, 16), (64, 63), (300, 77)])
def test_leading_eigenvectors_are_those_of_all_to_the_last_bit(count: int, k: int) -> None:
    x = np.random.default_rng(count).normal(size=(count + 5, count))
    x[:, count // 2 + 1 :] *= 1e-3
    square = x.T @ x
    wanted = np.linalg.eigh(square)[1][:, ::-1][:, :k].astype(np.float32)
    np.testing.assert_array_equal(leading_eigenvectors(square, k), wanted)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_released_pages_of_a_mapped_matrix_are_not_in_memory(tmp_path: Path) -> None:
    """Of arrays that are views of a mapped file, as SciPy holds them; the values stay."""
    count, parts = 2**18, []
    for name, kind in (("data", np.float32), ("indices", np.int32)):
        np.arange(count).astype(kind).tofile(tmp_path / name)
        parts.append(np.memmap(tmp_path / name, dtype=kind, mode="r"))
    matrix = sp.csr_array((*parts, np.array([0, count], dtype=np.int32)), shape=(1, count))

    def resident() -> int:
        maps = Path("/proc/self/smaps").read_text().split("\n")
        places = [number for number, line in enumerate(maps) if str(tmp_path) in line]
        found = (re.fullmatch(r"Rss:\s+(\d+) kB", line) for at in places for line in maps[at : at + 8])
        return sum(int(match[1]) for match in found if match)

    wanted = float(matrix.data.sum()) + float(matrix.indices.sum())
    assert resident() >= 2 * 4 * count // 1024
    release(matrix)
    assert resident() == 0
    assert float(matrix.data.sum()) + float(matrix.indices.sum()) == wanted
