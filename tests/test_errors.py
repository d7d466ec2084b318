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


@pytest.mark.parametrize(("typed", "meant"), [("gnc", "gcn"), ("agt", "gat"), ("scg", "sgc"), ("gcnn", "gcn")])
def test_two_letters_that_changed_places_are_one_slip(typed: str, meant: str) -> None:
    assert f"did you mean {meant!r}?" in unknown("recipe", typed, ["gcn", "sgc", "gat", "sage", "gin"])


def test_a_name_as_long_as_a_file_is_compared_quickly() -> None:
    assert "did you mean" not in errors.nearest("x" * 10**6, ["gcn"] * 100)


def test_an_error_is_located_once() -> None:
    for message, full in (("it is damaged", "a.txt: it is damaged"), ("a.txt is damaged", "a.txt is damaged")):
        with pytest.raises(errors.GraphError, match=f"^{full}$"), errors.located("a.txt"):
            raise errors.GraphError(message)


def test_every_error_is_a_value_error() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 11
    assert all(issubclass(kind, DrgstError | errors.DrgstWarning) for kind in kinds)
    assert issubclass(DrgstError, ValueError)
