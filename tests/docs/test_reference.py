"""The reference: every public name is described, and its example runs."""

import doctest
from pathlib import Path

import made
import pytest

import drgst
from drgst.selftrain import parts

DESCRIBED = [name for _, names in made.public() for name in names]


def test_every_public_name_is_described_once() -> None:
    public = {f"drgst.{name}" for name in drgst.__all__} - {"drgst.__version__", "drgst.datasets", "drgst.lab"}
    public |= {f"drgst.lab.{name}" for name in drgst.lab.__all__}
    public |= {f"drgst.selftrain.parts.{part.__name__}" for slot in parts.SLOTS.values() for part in slot}
    assert len(DESCRIBED) == len(set(DESCRIBED))
    assert public <= set(DESCRIBED)
    for name in DESCRIBED:
        assert made.find(name).__doc__, f"{name} has no docstring"
    assert set(made.examples()) == set(DESCRIBED)


@pytest.mark.parametrize("name", {text: name for name, text in made.examples().items()}.values())
def test_the_example_of_a_name_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"drgst": drgst, **{part.__name__: part for slot in parts.SLOTS.values() for part in slot}}
    example = doctest.DocTestParser().get_doctest(made.examples()[name], names, name, None, 0)
    wrong: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=wrong.append)
    assert not wrong, "".join(wrong)
