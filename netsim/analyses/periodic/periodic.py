"""`run periodic(period = 1 ms)`: the periodic state of a network, found by shooting, with the multipliers of
disturbances, harmonics of what is saved, and mean powers.

Where nothing depends on time, the oscillation is free: `period` is then where the search for its own one begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, Line, Task
from netsim.analyses.given import NUMBER, SECOND, WORD, Kind, whole_numbers
from netsim.analyses.periodic.shooting import NOTHING, Lap, check_next, orbit
from netsim.analyses.periodic.sources import check_repeats, common_period, is_free
from netsim.analyses.periodic.stability import Floquet, floquet, told
from netsim.analyses.periodic.states import states_of
from netsim.analyses.sensitivity.forward import traced
from netsim.analyses.signals.linearised import read
from netsim.analyses.signals.points import Point, end_of
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine
from netsim.formats.format import AXES, Variable
from netsim.initial.initial import Structure
from netsim.results.over_frequency.curves import reading
from netsim.results.over_frequency.harmonics import SHOWN, distortion, harmonics
from netsim.results.progress import Stopwatch
from netsim.results.samples import PERIOD, Samples, Signal, Trace
from netsim.results.selection import Selection, add_unseen, reader_of, select
from netsim.results.series import trajectory_of
from netsim.results.trajectories import Trajectory
from netsim.simulate.options import TransientOptions, check_options, unknown_options
from netsim.simulate.setup.beginning import begun
from netsim.structure.time_events import time_events_of
from netsim.text.columns import columns
from netsim.text.errors import InputError, Problem

Array = np.ndarray
PASSED_ON = ("step", "method", "rtol", "atol", "max_step", "from")
OPTIONS: dict[str, Kind] = {
    **dict.fromkeys(("period", "step", "max_step"), SECOND),
    **dict.fromkeys(("rtol", "atol", "warm_up", "harmonics"), NUMBER),
    **dict.fromkeys(("method", "from"), WORD),
}
RTOL, WARM_UP = 1e-9, 3
"""Tolerance of the error test, and periods that are run before the search, unless others are given."""
PAST = "its state is a piece of the past"
HARMONICS_SHOWN = 5


@dataclass(frozen=True)
class PeriodicOptions:
    """period in s (0: that of the sources); the run of a period; periods before the search; how many harmonics."""

    period: float
    run: TransientOptions
    warm_up: int
    harmonics: int


def check(options: Mapping[str, Any], line: Line) -> PeriodicOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    spans = line.spans
    wrong = list(unknown_options("periodic", OPTIONS, options, spans))
    wrong += whole_numbers(options, {"warm_up": 0, "harmonics": 1}, spans)
    period = float(options.get("period", 0.0))
    if "period" in options and not period > 0.0:
        wrong.append(Problem("E423", "'period' must be positive", spans.get("period")))
    if wrong:
        raise InputError(wrong)
    given = {name: value for name, value in options.items() if name in PASSED_ON}
    run = check_options("periodic", {"rtol": RTOL, **given, "stop": period or 1.0}, spans)
    warm_up, count = (int(options.get(n, v)) for n, v in (("warm_up", WARM_UP), ("harmonics", SHOWN)))
    return PeriodicOptions(period, replace(run, forces="recovered"), warm_up, count)


def run(task: Task, options: PeriodicOptions) -> Samples:
    """One period of the orbit; raises `SimulationError` where none is found."""
    watch = Stopwatch()
    refuse_delays(task.machine.system, "periodic()", PAST)
    machine, structure, g, _ = begun(task.machine, task.structure, options.run.start)
    selection = select(machine, task.saves, task.plots)
    unseen = add_unseen(machine, selection, task.beside)
    period, free, repeats = period_of(machine, structure, g, options.period)
    duration = max(1, options.warm_up) * period
    warm = replace(options.run, stop=duration)
    events = time_events_of(machine, duration)
    first = traced(machine, structure, g.copy(), warm, events, Selection(), NOTHING, task.progress)
    states = states_of(first, first.traced[:, :, 1:].reshape(-1, machine.system.layout.size))
    warmed = states.clock.begun_again(machine, g, end_of(first, 0.0), duration)
    start = Point(machine, structure, warmed if options.warm_up else g, 0.0)
    found, count = orbit(start, period, free, options.run, selection, states)
    if not repeats:
        check_next(found, options.run, states)
    time, sampled, account = found.found.run.sampled
    columns_ = {name: sampled[:, j] for j, name in enumerate(selection.entries)}
    trace = _trace(found, selection)
    shown, values = selection.table(machine, columns_, time, trace)
    axis, fine = trajectory_of(time, columns_, trace)
    trajectories = [Trajectory(axis, column) for column in selection.table(machine, fine, axis)[1].T]
    multipliers = floquet(found, free)
    amplitudes = [harmonics(each, np.arange(options.harmonics + 1)) for each in trajectories]
    thd = [distortion(each) for each in trajectories]
    orbit_ = [
        f"period {reading(found.period, 's')} ({reading(1.0 / found.period, 'Hz')}), found in {count} periods; "
        f"states return to {found.distance:.1e} of their sizes",
        *told(multipliers, found, states),
        *_table(shown, amplitudes, thd),
        *_powers(account, found.period),
    ]
    attributes = {
        "analysis": "periodic",
        "method": options.run.method,
        "rtol": options.run.rtol,
        PERIOD: found.period,
        "frequency": 1.0 / found.period,
        "orbit": "\n".join(orbit_),
        "steps": found.found.run.steps,
        **watch.read,
        **{f"distortion.{signal.name}": share for signal, share in zip(shown, thd)},
        "netlist": task.network.text,
    }
    return Samples(
        "", time, shown, values, account[:, :3], attributes, unseen={n: columns_[n] for n in unseen},
        origin=found.start.g, trace=trace,
        beside=_beside(shown, amplitudes, multipliers),
    )  # fmt: skip


def period_of(machine: Machine, structure: Structure, g: Array, given: float) -> tuple[float, bool, bool]:
    """The period; whether the oscillation is free: then it is where the search begins; whether sources surely repeat.

    Raises `InputError` where there is none (E422), or sources do not repeat after it (E448)."""
    common = common_period(machine, structure, g)
    period = given or common or 0.0
    if not period:
        hint = "period = 1 ms: of the sources, or about that of a free oscillation"
        raise InputError(Problem("E422", "no common period of sources is found: periodic() needs 'period'", hint=hint))
    free = common is None and is_free(machine, structure, g, period)
    return period, free, free or check_repeats(machine, g, period)


def _trace(lap: Lap, selection: Selection) -> Trace:
    """What is selected at the nodes of every step."""
    nodes, reader = lap.found.run.traced, reader_of(lap.start.machine, selection)
    values = np.array([[read(reader, row) for row in rows] for rows in nodes[:, :, 1:]])
    return Trace(nodes[:, :, 0], {name: values[:, :, j] for j, name in enumerate(selection.entries)})


def _beside(shown: Sequence[Signal], amplitudes: Sequence[Array], found: Floquet) -> dict[str, Variable]:
    """Harmonics by number, and multipliers."""
    count = len(amplitudes[0]) if len(amplitudes) else 1
    variables = {"harmonic": Variable(("harmonic",), np.arange(float(count)), AXES["harmonic"])}
    for signal, each in zip(shown, amplitudes):
        for name, values, unit in (
            ("amplitude", np.abs(each), signal.unit or "1"),
            ("phase", np.angle(each), "rad"),
        ):
            variables[f"{name}({signal.name})"] = Variable(("harmonic",), values, {"units": unit})
    numbers = np.arange(1.0, len(found.multipliers) + 1)
    variables["multiplier"] = Variable(("multiplier",), numbers, AXES["multiplier"])
    for name, values in (("real", found.multipliers.real), ("imaginary", found.multipliers.imag)):
        variables[f"multipliers.{name}"] = Variable(("multiplier",), values, {"units": "1"})
    return variables


def _powers(account: Array, period: float) -> list[str]:
    """Mean powers from the energies over a period."""
    _, supplied, lost = (account[-1] - account[0])[:3] / period
    return [f"mean power: supplied {reading(float(supplied), 'W')}, dissipated {reading(float(lost), 'W')}"]


def _table(shown: tuple[Signal, ...], amplitudes: Sequence[Array], thd: Sequence[float]) -> list[str]:
    """Mean, amplitudes and distortion of every signal."""
    count = min(HARMONICS_SHOWN, *(len(each) - 1 for each in amplitudes), HARMONICS_SHOWN)
    head = ["", "mean", *(f"harmonic {k}" for k in range(1, count + 1)), "distortion"]

    def share(d: float) -> str:
        return f"{100 * d:.3g} %" if d == d else "-"

    rows = [
        [s.name, reading(a[0].real, s.unit), *(reading(abs(x), s.unit) for x in a[1 : count + 1]), share(d)]
        for s, a, d in zip(shown, amplitudes, thd)
    ]
    return columns([head, *rows])


ANALYSIS = Analysis(
    "periodic",
    OPTIONS,
    check,
    run,
    refuse=lambda task, options: refuse_delays(task.machine.system, "periodic()", PAST),
)
