"""Unstable zero dynamics of an inverse run: their poles before the run, inputs of impossible size after it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netsim.analyses.inverse.runs import Task
from netsim.analyses.inverse.zero_dynamics import poles
from netsim.analyses.modal import matrices
from netsim.core.compiled.call import run_table
from netsim.core.linear.symbolic import equilibrate
from netsim.core.newton import set_coefficients, set_time
from netsim.core.problem import PRESCRIBED_ORDERS
from netsim.equations.machine import Machine
from netsim.equations.messages import position_name, quoted
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.initial import Structure
from netsim.results.samples import Samples
from netsim.simulate.setup.features import features_of
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem
from netsim.text.units import format_dimension

Array = np.ndarray
GROWN = 2.0
"""Growth during a run from which on it is told."""
BEYOND = 1e6
"""An effort that many times larger than what the motions and loads take at the start is none of the machine's."""
INSTANTS = 400
NAMED = 3
LARGE = 0.1


def refuse_unstable(task: Task, machine: Machine, structure: Structure, g: Array) -> list[str]:
    """Notes on the zero dynamics, linearised at the start g.

    Raises `InputError` (E445) if errors grow during the run by more than the option `growth` allows: e^(Re(s) stop)."""
    stop, most = task.options.transient.stop, task.options.growth
    found = poles(machine, g)
    if found is None:
        return [
            "the zero dynamics were not examined: no differentiation orders at the start, or the network is too large"
        ]
    growing = np.flatnonzero(found.rates.real * stop > np.log(GROWN))
    if not len(growing):
        return []
    worst = growing[np.argmax(found.rates.real[growing])]
    rate = float(found.rates.real[worst])
    names = coordinates(machine, structure, found.shapes[:, worst])
    told = f"{', '.join(names)} {'grows' if len(names) == 1 else 'grow'} as e^(t/{1 / rate:.3g} s)"
    size = f"{np.exp(rate * stop):.3g}" if rate * stop < 700.0 else f"1e{rate * stop / np.log(10.0):.0f}"
    if rate * stop <= np.log(most):
        return [f"zero dynamics: {told}, {size}-fold during the run"]
    message = f"the zero dynamics are unstable: {told}, and errors grow {size}-fold until t = {stop:g} s"
    hint = "bounded = yes finds the motion that stays bounded; or follow a point nearer to the actuators, or add an "
    hint += f"actuator; growth = G allows G-fold growth (now {most:g})"
    raise InputError(Problem("E445", message, task.motions[0].signal.span, hint=hint))


def coordinates(machine: Machine, structure: Structure, shape: Array) -> list[str]:
    """The largest states of a motion: positions in parts of the machine's size, turns, what is stored elsewhere."""
    system, sizes = machine.system, sizes_of_machine(machine)
    weight, states = 1.0 / system.nominals, np.zeros(system.n, bool)
    weight[: system.layout.nk] = 1.0
    weight[sizes.lengths] = 1.0 / sizes.size
    states[: system.layout.nk] = True
    stored = structure.signature.variable[structure.signature.kept & (structure.signature.equation >= system.n)]
    states[stored[stored < system.n]] = True
    size = np.where(states, np.abs(shape) * weight, 0.0)
    order = np.argsort(-size, kind="stable")
    return list(dict.fromkeys(position_name(system, int(u)) for u in order if size[u] > LARGE * size.max(initial=0.0)))[
        :NAMED
    ]


# ---------------------------------------------------------------------------------------------------------- efforts


def scales(task: Task, machine: Machine, g: Array) -> Array:
    """How large every input is at the start, and what all functions of time ask of it, each at its own highest rate:
    |P(s)^-1 dF| of the network that is linearised there (N, N.m, V ...)."""
    inputs = [machine.system.names.index(name) for name in task.inputs]
    layout = machine.system.layout
    y = g[layout.unknown(np.array(inputs), 0)]
    found, parts = np.abs(y), matrices(machine, g.copy())
    for change, rate in _asked(machine, g, task.options.transient.stop):
        response = _response(parts, rate, change)
        found = found + (np.abs(response[inputs]) if response is not None else 0.0)
    return found


def _asked(machine: Machine, g: Array, stop: float) -> list[tuple[Array, float]]:
    """For every function of time that changes: how its range changes the residuals, and its highest rate in 1/s."""
    layout, problem, trial = machine.system.layout, machine.struct, g.copy()
    slots = layout.prescribed(np.arange(layout.nd), 0)
    times = np.union1d(np.linspace(0.0, stop, INSTANTS + 1), features_of(machine, stop, time_events_of(machine, stop)))
    derivatives = np.zeros((len(times), PRESCRIBED_ORDERS, layout.nd))
    for i, t in enumerate(times):
        set_time(problem, trial, t)
        derivatives[i] = trial[
            layout.prescribed_inputs : layout.prescribed_inputs + PRESCRIBED_ORDERS * layout.nd
        ].reshape(PRESCRIBED_ORDERS, layout.nd)
    spread = np.ptp(derivatives[:, 0], axis=0)
    peaks = np.abs(derivatives[:, 1:]).max(axis=0)
    trial, rest = g.copy(), _residual(machine, g.copy())
    found = []
    for j in np.flatnonzero((spread > 0.0) & np.isfinite(peaks).all(axis=0)):
        rates = (peaks[:, j] / spread[j]) ** (1.0 / np.arange(1, PRESCRIBED_ORDERS))
        trial[slots[j]] += spread[j]
        found.append((_residual(machine, trial) - rest, float(max(rates.max(), 1.0 / stop))))
        trial[slots[j]] = g[slots[j]]
    return found


def _residual(machine: Machine, g: Array) -> Array:
    out = np.zeros(machine.system.out_size)
    set_coefficients(g, 1.0, 0.0, 0.0, 0.0)
    run_table(machine.problem.residual, g, out)
    return out[: machine.system.n]


def _response(parts: tuple, s: float, change: Array) -> Array | None:
    from scipy.sparse import csc_matrix, diags_array
    from scipy.sparse.linalg import splu

    matrix = csc_matrix(sum(part * s**k for k, part in enumerate(parts)))
    rows, columns = equilibrate(matrix)
    try:
        found = columns * splu(csc_matrix(diags_array(rows) @ matrix @ diags_array(columns))).solve(rows * change)
    except RuntimeError:  # singular
        return None
    return found if np.all(np.isfinite(found)) else None


def cut_at_growth(task: Task, samples: Samples, largest: Array, positions: Sequence[str]) -> Samples:
    """The samples up to the first input beyond `BEYOND` times its size `largest` at the start, which is a failure
    (E518)."""
    efforts = np.column_stack([samples.unseen[name] for name in task.inputs])
    beyond = (np.abs(efforts) > BEYOND * largest) & (largest > 0.0) | ~np.isfinite(efforts)
    if not beyond.any():
        return samples
    k = int(np.argmax(beyond.any(axis=1)))
    j = int(np.argmax(beyond[k]))
    actuator = task.actuators[j]
    unit = "" if actuator.dimension.is_none else f" {format_dimension(actuator.dimension)}"
    grown = {name: np.ptp(samples.unseen[name][: k + 1]) for name in positions}
    away = sorted(grown, key=lambda name: -grown[name])[:NAMED]
    most = f" (most: {quoted(away)})" if away else ""
    message = (
        f"at t = {samples.time[k]:.3g} s {actuator.name} is {efforts[k, j]:.2g}{unit}: the zero dynamics grow "
        f"without bound{most}"
    )
    hint = f"at the start motions and loads need {largest[j]:.2g}{unit}: "
    hint += "follow a point nearer to the actuators, or add an actuator"
    failure = Problem("E518", message, actuator.expr.span, hint=hint)
    return truncated(samples, k + 1, failure)


def truncated(samples: Samples, count: int, failure: Problem) -> Samples:
    """The first samples of a run that a problem ends."""
    return replace(
        samples,
        time=samples.time[:count],
        values=samples.values[:count],
        energy=samples.energy[:count],
        kinetic=None if samples.kinetic is None else samples.kinetic[:count],
        rates={name: (v[:count], a[:count]) for name, (v, a) in samples.rates.items()},
        unseen={name: x[:count] for name, x in samples.unseen.items()},
        attributes={**samples.attributes, "failure": failure},
        finished=False,
        message=failure.message,
    )
