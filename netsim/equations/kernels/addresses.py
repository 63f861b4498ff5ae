"""Machine code of kernels in memory, by digest: loaded once, shared by all machines and threads of this process."""

import threading
from collections.abc import Iterable
from typing import Any

from netsim.equations.kernels import native, vectors
from netsim.equations.kernels.program import Program

_native: dict[tuple[str, bool], tuple[int, Any]] = {}
_loading = threading.Lock()
"""Code that a second thread loads must not take the place of what a first one runs."""


def addresses(wanted: Iterable[tuple[Program, int]]) -> list[int]:
    """Function addresses of programs for so many instances each, for vectors where these serve; what is not in memory
    yet is compiled or loaded together."""
    keys = [(program, vectors.is_vectorised(program, n)) for program, n in wanted]
    if any((p.digest, wide) not in _native for p, wide in keys):
        with _loading:
            for wide, by in ((False, native.SINGLE), (True, vectors.VECTORS)):
                missing = {p.digest: p for p, w in keys if w == wide and (p.digest, wide) not in _native}
                kernels = native.compile(missing, by) if missing else None
                _native.update({(digest, wide): (kernels.addresses[digest], kernels) for digest in missing if kernels})
    return [_native[p.digest, wide][0] for p, wide in keys]
