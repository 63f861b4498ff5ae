"""All benchmarks, one after the other: `make bench`. Figures are printed and nothing is asserted."""

import os
import platform
from pathlib import Path

import arm
import building
import chain
import cmos
import digital
import integrators
import ladder
import many
import memory
import newmark
import optimal
import recursion
import repeat
import spice
import startup
import superelements
import switching
import tripod

TOPICS = (
    startup,
    repeat,
    many,
    building,
    memory,
    ladder,
    spice,
    integrators,
    switching,
    cmos,
    digital,
    tripod,
    chain,
    recursion,
    arm,
    superelements,
    newmark,
    optimal,
)


def machine_description() -> str:
    """Processor, cores, system and versions."""
    import numba
    import numpy
    import scipy

    cpuinfo = Path("/proc/cpuinfo")
    names = (
        [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        if cpuinfo.is_file()
        else []
    )
    processor = names[0] if names else platform.processor() or platform.machine()
    versions = (
        f"Python {platform.python_version()}, numpy {numpy.__version__}, scipy {scipy.__version__}, numba "
        f"{numba.__version__}"
    )
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}; {versions}"


def main() -> None:
    """Print every table."""
    print(machine_description())
    for topic in TOPICS:
        print(flush=True)
        topic.report()


if __name__ == "__main__":
    main()
