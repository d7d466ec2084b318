"""Messages for unknown names, missing extras and too little memory; the base class of the errors."""

import json

import pytest

from drgst import errors
from drgst.errors import DrgstError, MemoryLimitError, SettingError, unknown
from drgst.extras import import_extra
from drgst.memory import available_memory, check_memory


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


def test_an_installed_module_is_returned() -> None:
    assert import_extra("json", "none") is json


def test_a_missing_module_names_its_extra() -> None:
    with pytest.raises(SettingError, match=r"^this needs no_such_one, .*: pip install 'drgst\[tables\]'$"):
        import_extra("no_such_one.part", "tables")
    with pytest.raises(SettingError, match=r"^a figure needs no_such_one, which is not installed"):
        import_extra("no_such_one", "figures", "a figure")


def test_what_there_is_can_be_had_and_more_is_refused_with_both_figures() -> None:
    available = available_memory()
    assert available > 10**7
    check_memory(10**6, "little")
    with pytest.raises(MemoryLimitError, match=r"^3 classes would need 1,024.0 TB of memory, but .* (G|M)B are avail"):
        check_memory(1 << 50, "3 classes")
