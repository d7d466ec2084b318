"""The ensemble in blocks gives what the ensemble of small graphs gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from drgst.selftrain.learners.multiview import blocks as module
from drgst.selftrain.learners.multiview.blocks import ensemble_in_blocks
from drgst.selftrain.learners.multiview.ensemble import combine, disagreement
from drgst.transforms.softmax import log_softmax


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_same_as_all_at_once(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NARROW_BYTES", 7 * 4 * 6)  # seven rows of the widest view
    rng = np.random.default_rng(0)
    views = {name: rng.normal(size=(50, width)).astype(dtype) for name, width in (("a", 6), ("b", 3))}
    weights = {"a": 0.7, "b": 0.3}
    state = {f"{n}.weight": torch.from_numpy(rng.normal(size=(z.shape[1], 4)).astype("f4")) for n, z in views.items()}
    state |= {f"{n}.bias": torch.from_numpy(rng.normal(size=4).astype("f4")) for n in views}
    each = {
        n: log_softmax(z.astype("f4") @ state[f"{n}.weight"].numpy() + state[f"{n}.bias"].numpy())
        for n, z in views.items()
    }
    log_p, gain = ensemble_in_blocks(views, state, weights)
    assert log_p.dtype == gain.dtype == np.float32
    np.testing.assert_allclose(log_p, combine(each, weights), atol=1e-5)
    np.testing.assert_allclose(gain, disagreement(each, weights), atol=1e-5)
