"""Peak memory of a run of 10 000 RC sections (1 000 steps, three signals saved), above what the imports take, in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHILD = """
from pathlib import Path
import numpy as np
import netsim, xarray, casadi, numba
import scipy.sparse.linalg, scipy.sparse.csgraph
from netlists import ladder
def peak():  # of this program alone: ru_maxrss counts what its parent had before
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")) / 1024
netsim.load(ladder(3)).run()
imported = peak()
n = 10_000
model = netsim.load(ladder(n))
model.machine
built = peak()
model.transient(stop=300e-6, step=0.3e-6, save=[f"n{n // 2}.v", f"n{n}.v", "src.i"])
print(imported, built, peak())
"""


def report() -> None:
    """Peaks in MB: imports and compiled code, then what building and running add."""
    if not Path("/proc/self/status").is_file():
        return print("Peak memory: not measured (no /proc here)")
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", CHILD], cwd=folder, capture_output=True, text=True, check=True)
    imported, built, ran = (float(word) for word in done.stdout.split())
    print("Peak memory of 10 000 RC sections, 1 000 steps, MB")
    print(f"  imports and code {imported:.0f}, built +{built - imported:.0f}, run +{ran - imported:.0f}")


if __name__ == "__main__":
    report()
