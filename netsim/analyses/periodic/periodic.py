"""`run periodic(period = 1 ms)`: the periodic state of a network, found by shooting, with the multipliers of
disturbances, harmonics of what is saved, and mean powers.

Where nothing depends on time, the oscillation is free: `period` is then where the search for its own one begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import NUMBER, SECOND, WORD, Kind, whole_numbers
from netsim.analyses.over_time.verdicts import verdicts
from netsim.analyses.periodic.orbit import PeriodicOptions, find_orbit, sample_orbit, unsteady_verdict
from netsim.analyses.periodic.shooting import repetitions
from netsim.analyses.periodic.stability import Floquet, error_verdict, floquet, orbit_attributes
from netsim.equations.history import refuse_delays
from netsim.formats.format import AXES, Variable
from netsim.results.over_frequency.curves import reading
from netsim.results.over_frequency.harmonics import SHOWN, distortion, harmonics
from netsim.results.samples import PERIOD, Samples, Signal
from netsim.results.trajectories import Trajectory
from netsim.simulate.options import check_options
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


def check(options: Mapping[str, Any], line: OptionSource) -> PeriodicOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    spans = line.spans
    wrong = list(whole_numbers(options, {"warm_up": 0, "harmonics": 1}, spans))
    period = float(options.get("period", 0.0))
    if "period" in options and not period > 0.0:
        wrong.append(Problem("E423", "'period' must be positive", spans.get("period")))
    if wrong:
        raise InputError(wrong)
    given = {name: value for name, value in options.items() if name in PASSED_ON}
    run = check_options("periodic", {"rtol": RTOL, **given, "stop": period or 1.0}, spans)
    warm_up, count = (int(options.get(n, v)) for n, v in (("warm_up", WARM_UP), ("harmonics", SHOWN)))
    return PeriodicOptions(period, replace(run, forces="recovered"), warm_up, count, spans.get(""))


def run(task: Task, options: PeriodicOptions) -> Samples:
    """One period of the orbit; raises `SimulationError` where none is found."""
    refuse_delays(task.machine.system, "periodic()", PAST)
    found = find_orbit(task, options)
    orbit, seen = found.orbit, sample_orbit(found.orbit, found.selection)
    multipliers, (warnings, broken) = floquet(orbit, found.free), verdicts(orbit.found.run)
    doubts = [error_verdict(orbit, found.free, options.run), unsteady_verdict(found, seen, options.run)]
    warnings = (*found.doubts, *warnings, *filter(None, doubts))
    amplitudes = list(harmonics(seen.fine, np.arange(options.harmonics + 1)))
    thd = [distortion(Trajectory(seen.fine.time, series)) for series in seen.fine.series]
    times = repetitions(orbit, options.run) if found.free else 1
    text = [
        *orbit_attributes(multipliers, orbit, found.count, times),
        *_table(seen.signals, amplitudes, thd),
        *_powers(seen.account, orbit.period),
    ]
    attributes = {
        "method": options.run.method,
        "rtol": options.run.rtol,
        PERIOD: orbit.period,
        "frequency": 1.0 / orbit.period,
        "orbit": "\n".join(text),
        "steps": orbit.found.run.steps,
        **{f"distortion.{signal.name}": share for signal, share in zip(seen.signals, thd)},
    }
    return Samples(
        "", seen.time, seen.signals, seen.values, seen.account, attributes,
        unseen={name: seen.columns[name] for name in found.unseen}, origin=orbit.start.g, trace=seen.trace,
        beside=_beside(seen.signals, amplitudes, multipliers), warnings=warnings, broken=broken,
    )  # fmt: skip


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
    _, supplied, lost = (account[-1] - account[0]) / period
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
