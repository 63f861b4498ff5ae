"""Peak memory of a run of 10 000 RC sections (1 000 steps, three signals saved), above what the imports take, in a
fresh process."""

import subprocess
import sys
from pathlib import Path

SECTIONS, STEPS = 10_000, 1_000
CHILD = """
import sys
from pathlib import Path
import numpy as np
import netsim, xarray, casadi, numba
import scipy.sparse.linalg, scipy.sparse.csgraph
from netlists import ladder
def peak():  # of this program alone: ru_maxrss counts what its parent had before
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
netsim.load(ladder(3)).samples()
imported = peak()
n, steps = map(int, sys.argv[1:])
model = netsim.load(ladder(n))
model.machine
built = peak()
model.transient(stop=300e-6, step=300e-6 / steps, save=[f"n{n // 2}.v", f"n{n}.v", "src.i"])
print(imported, built, peak())
"""


def report(sections: int = SECTIONS, steps: int = STEPS) -> None:
    """Peaks in MB: imports and compiled code, then what building and running add."""
    if not Path("/proc/self/status").is_file():
        return print("Peak memory: not measured (no /proc here)")
    folder = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(sections), str(steps)], cwd=folder, capture_output=True, text=True, check=True
    )
    imported, built, ran = (float(word) for word in done.stdout.split())
    print(f"Peak memory of {sections:,} RC sections, {steps:,} steps, MB".replace(",", " ", 2))
    print(f"  imports and code {imported:.0f}, built +{built - imported:.0f}, run +{ran - imported:.0f}")


if __name__ == "__main__":
    report()
