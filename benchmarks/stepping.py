"""Runs that are stepped from Python: time per step, the longest step, what a call costs besides, and the ratio to real
time.

A motor (models/dc_motor.net) whose voltage is set at every step, without and with changes; the tripod of stage 4 with
forces from Python every 10 ms, in the coordinates of all bodies and of its joints."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

MOTOR, STEP = 1e-3, 10e-3


def motor() -> Any:
    """A motor whose voltage Python sets."""
    import netsim
    from netsim.library.files import models_folder

    text = (models_folder() / "dc_motor.net").read_text(encoding="utf-8")
    return netsim.load(text.replace("T = -load*step(time - 1 s)", "T = -load"))


def tripod() -> Any:
    """Stage 4 of the tripod with three forces that Python sets."""
    import netsim
    from netsim.library.files import models_folder

    lines = [f'include "{models_folder() / "tripod" / "frame.inc"}"', "save A.k, B.k, C.k"]
    for k, rod in enumerate("ABC"):
        shape = "base_radius = base_radius, ball_radius = ball_radius, height = height"
        lines += [f"param F{rod} = 0 N", f"{rod} thrust (lo{rod}, hi{rod}) phi = {120 * k} deg, {shape}, F = F{rod}"]
    return netsim.load("\n".join(lines) + "\n")


def stepped(sim: Any, dt: float, steps: int, act: Callable[[Any, int], None]) -> np.ndarray:
    """Seconds of each step."""
    spent = np.zeros(steps)
    for k in range(steps):
        began = time.perf_counter()
        act(sim.values, k)
        sim.step(dt)
        spent[k] = time.perf_counter() - began
    return spent


def told(name: str, sim: Any, dt: float, steps: int, act: Callable[[Any, int], None]) -> None:
    """One row: microseconds per step, the longest, steps of the run itself for each, times faster than real time."""
    stepped(sim, dt, min(steps, 20), act)
    before = sim._going.run.steps
    spent = stepped(sim, dt, steps, act)
    own = (sim._going.run.steps - before) / steps
    print(
        f"  {name:44s} {1e6 * np.median(spent):9.1f} {1e6 * spent.max():9.0f} {own:9.2f} {dt / spent.mean():11.0f}",
        flush=True,
    )


def report(steps: int = 2000, mechanism: bool = True) -> None:
    """Print the table."""

    def rest(values: np.ndarray, k: int) -> None:
        pass

    print(f"Stepped from Python, {steps} steps: us per step (median), the longest, own steps each, times real time")
    model = motor()
    sim = model.simulator(inputs=["supply"])
    u, w = sim.index("supply"), sim.index("shaft.w")

    def changed(values: np.ndarray, k: int) -> None:
        values[u] = 12.0 + 0.1 * (k % 7)

    count = 100 * steps
    began = time.perf_counter()
    for _ in range(count):
        sim.values[u] = 12.0 if sim.values[w] < 1e9 else 0.0
    print(f"  a signal read and an input set by index: {1e6 * (time.perf_counter() - began) / count:.2f} us")
    told("motor, 1 us each, answered beforehand", sim, 1e-6, steps, rest)
    told("motor, 1 ms each", model.simulator(inputs=["supply"]), MOTOR, steps, rest)
    told("motor, 1 ms each, the voltage changes", model.simulator(inputs=["supply"]), MOTOR, steps, changed)
    given = {"step": MOTOR, "method": "euler"}
    told("motor, Euler's method of 1 ms", model.simulator(inputs=["supply"], **given), MOTOR, steps, rest)
    told(
        "motor, Euler's method, the voltage changes", model.simulator(inputs=["supply"], **given), MOTOR, steps, changed
    )
    if not mechanism:
        return
    for formulation in ("absolute", "tree"):
        sim = tripod().simulator(inputs=["FA", "FB", "FC"], formulation=formulation)
        first = sim.index("FA")

        def pushed(values: np.ndarray, k: int, first: int = first) -> None:
            values[first : first + 3] = 0.02 * np.sin(0.1 * k + np.arange(3))

        told(f"tripod, 10 ms each, forces change, {formulation}", sim, STEP, min(steps, 1000), pushed)


if __name__ == "__main__":
    report()
