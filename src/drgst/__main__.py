"""``python -m drgst``, and the command ``drgst``."""

import gc
import os
import signal
import sys
from types import FrameType

COLLECT = (50_000, 20, 50)  # Python's default looks through the objects of all imports again and again: 0.2 s of a run


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130, also while modules are imported."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a job in the background ignores it
        signal.signal(signal.SIGINT, _interrupt)
    from drgst.threads import start_with_one_thread

    start_with_one_thread()
    gc.set_threshold(*COLLECT)
    from drgst.cli import main as run

    run()


def _interrupt(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os._exit(130)  # the module that is being imported would report an exception, and torch abort
        frame = frame.f_back
    signal.default_int_handler(number, frame)


if __name__ == "__main__":
    # Python has put the working folder first: no module is to be imported from there, unless drgst itself is
    if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
        del sys.path[0]
    main()
