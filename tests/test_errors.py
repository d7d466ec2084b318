"""The message for unknown names, and the base class of the errors."""

from __future__ import annotations

import pytest

from drgst import errors
from drgst.errors import DrgstError, unknown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("m3", "unknown recipe 'm3'; did you mean 'm3s'? (known: gcn, m3s)"),
        ("GCN", "unknown recipe 'GCN'; did you mean 'gcn'? (known: gcn, m3s)"),
        ("transformer", "unknown recipe 'transformer' (known: gcn, m3s)"),
    ],
)
def test_unknown_names_the_nearest_known_one(name: str, message: str) -> None:
    assert unknown("recipe", name, ["m3s", "gcn"]) == message


def test_every_error_is_a_value_error() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 9
    assert all(issubclass(kind, DrgstError | errors.DrgstWarning) for kind in kinds)
    assert issubclass(DrgstError, ValueError)
