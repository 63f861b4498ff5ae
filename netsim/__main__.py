"""`python -m netsim` and the program `netsim`: the command line."""

import gc
import os
import sys
from typing import NoReturn

from netsim.commands.interruption import interrupted_status, interruptible, interruption, is_interrupted


def console() -> NoReturn:
    """The program: it can be interrupted from its first line on, also while its modules are imported.

    Dense matrices here are small: more threads of OpenBLAS wait, and take a processor's time while they do."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with interruptible():
        try:
            from netsim.cli import command

            status = command()
        except KeyboardInterrupt:
            print(interruption(), file=sys.stderr)
            status = interrupted_status()
        if is_interrupted():  # Python would end by SIGINT itself where a C function has seen the exception
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    gc.freeze()  # else Python looks for cycles among all objects before it ends
    sys.exit(status)


if __name__ == "__main__":
    console()
