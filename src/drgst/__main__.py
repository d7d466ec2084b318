"""``python -m drgst``."""

from drgst.cli import main

main()
