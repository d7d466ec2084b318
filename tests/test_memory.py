"""Memory that is asked for, compared with what there is."""

from __future__ import annotations

import pytest

from drgst.errors import MemoryLimitError
from drgst.memory import available_memory, check_memory


def test_what_there_is_can_be_had_and_more_is_refused_with_both_figures() -> None:
    available = available_memory()
    assert available is not None
    assert available > 10**7
    check_memory(10**6, "little")
    with pytest.raises(MemoryLimitError, match=r"^3 classes would need 1,024.0 TB of memory, but .* (G|M)B are avail"):
        check_memory(1 << 50, "3 classes")
