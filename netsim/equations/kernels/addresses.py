"""Machine code of kernels in memory, by digest: loaded once, shared by all machines and threads of this process."""

import threading
from typing import Any

from netsim.equations.kernels import native
from netsim.equations.kernels.program import Program

_native: dict[str, tuple[int, Any]] = {}
_loading = threading.Lock()
"""Code that a second thread loads must not take the place of what a first one runs."""


def addresses(programs: list[Program]) -> dict[str, int]:
    """Function addresses by digest; what is not in memory yet is compiled or loaded together."""
    if any(p.digest not in _native for p in programs):
        with _loading:
            if missing := {p.digest: p for p in programs if p.digest not in _native}:
                kernels = native.compile(missing)
                _native.update({digest: (kernels.addresses[digest], kernels) for digest in missing})
    return {p.digest: _native[p.digest][0] for p in programs}
