"""20 000 flat lines (an RC ladder of 10 000 sections) from text to ready to step, stage by stage.

The component types are compiled and cached beforehand (a ladder of 3 sections is run first): what is timed is what
grows with the netlist.
"""

import time
from collections.abc import Callable
from typing import Any

from netlists import ladder

SECTIONS = 10_000
REPEATS = 3


def stages(text: str) -> dict[str, float]:
    """Seconds of each stage, and of the whole way once more through the public door."""
    import netsim
    from netsim.equations.machine import build_machine
    from netsim.equations.system import build_system
    from netsim.initial.initial import consistent_start
    from netsim.initial.reactions.redundancy import solvable
    from netsim.network.expansion import build_network
    from netsim.network.values import Values
    from netsim.structure.findings import findings
    from netsim.structure.orders import absent_rates
    from netsim.text.parse import parse

    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        seconds[name] = time.perf_counter() - began
        return result

    program = timed("parse", lambda: parse(text))
    network = timed("network", lambda: build_network(program))
    values = Values(network)
    system = timed("system", lambda: build_system(network, values))
    timed("findings", lambda: findings(system))
    absent = timed("parameter values", lambda: absent_rates(system, values))
    system, structure = timed("orders", lambda: solvable(system, values, absent))
    machine = timed("machine", lambda: build_machine(system, values))
    seconds["text to machine"] = sum(seconds.values())
    timed("consistent start", lambda: consistent_start(machine, structure))
    timed("netsim.load(text).machine", lambda: netsim.load(text).machine)
    return seconds


def report(sections: int = SECTIONS, repeats: int = REPEATS) -> None:
    """The best of some runs, stage by stage."""
    import netsim

    netsim.load(ladder(3)).samples()
    text = ladder(sections)
    runs = [stages(text) for _ in range(repeats)]
    print(f"Building {2 * sections:,} flat lines, wall seconds (best of {repeats})")
    for name in runs[0]:
        print(f"  {name:26} {min(run[name] for run in runs):7.3f}")


if __name__ == "__main__":
    report()
