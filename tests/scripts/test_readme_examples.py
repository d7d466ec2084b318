"""scripts/readme_examples.py: blocks are run, and the output below a command is replaced."""

import subprocess
from types import ModuleType

import pytest


def test_commands_are_run_where_python_blocks_wrote(script: ModuleType) -> None:
    page = """\
text $ not a command
```python
open("name.txt", "w").write("graph   ")
```
```console
$ cat name.txt
an old line
$ echo two; echo; echo lines
```
```
$ left alone
```
"""
    assert script.rewritten(page) == page.replace("an old line", "graph").replace(
        "echo lines\n", "echo lines\ntwo\nlines\n"
    )


def test_a_failing_example_is_an_error(script: ModuleType) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        script.rewritten("```console\n$ exit 3\n```\n")
    with pytest.raises(ZeroDivisionError):
        script.rewritten("```python\n1 / 0\n```\n")
