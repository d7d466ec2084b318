"""Arrays come back as they went in."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.report.packing import WHOLE, pack, pack_shares, unpack


@pytest.mark.parametrize(
    ("values", "kind"), [([0, 255], "u1"), ([-1, 7], "i2"), ([[1.5, np.nan]], "f4"), ([70_000], "u4")]
)
def test_round_trip(values: list[float], kind: str) -> None:
    """Shape and values stay, NaN too."""
    again = unpack(pack(values, kind))
    np.testing.assert_array_equal(again, np.array(values))
    assert again.shape == np.array(values).shape


def test_shares_keep_five_digits() -> None:
    """Rounding is at most half of 1/65,535, and what is outside is put on the edge."""
    values = np.random.default_rng(0).random(1000)
    assert np.abs(unpack(pack_shares(values)) / WHOLE - values).max() <= 0.5 / WHOLE + 1e-12
    assert unpack(pack_shares(np.array([-0.1, 1.1]))).tolist() == [0, WHOLE]
