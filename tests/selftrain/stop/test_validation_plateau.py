"""The validation loss of the stages, and patience."""

from __future__ import annotations

import pytest

from drgst.selftrain.stop.validation_plateau import ValidationPlateau


@pytest.mark.parametrize(
    ("losses", "ends"),
    [([3, 2, 1], False), ([1, 2], False), ([1, 2, 3], True), ([3, 1, 2, 2], True), ([3, 1, 2, 0.5], False)],
)
def test_validation_plateau(with_losses, some, losses: list[float], ends: bool) -> None:
    reason = ValidationPlateau(2)(with_losses(losses), some)
    assert (reason is not None) == ends


def test_validation_plateau_without_validation_never_ends(with_losses, some) -> None:
    """A loss that is not known can't be said not to have fallen."""
    assert ValidationPlateau(1)(with_losses([float("nan")] * 4), some) is None
