"""Every component begins from any consistent values of its states: those that a run reaches, written as starts of a second run."""

import warnings

import numpy as np
import pytest
from hosts import hosted, netlist

import netsim
from host_networks import states

GAIN = "the gain between its inputs and its output turns the rounding of written potentials into more than a start may miss"
LINE = "what is on its way on the line is no state that can be written"
SENSOR = "its usual hosts begin at different pressures, which it makes one: test_vessels_that_a_sensor_joins_begin_at_one_pressure"
PERIOD = "a period begins with the run, and its integral begins anew with every period"
NO_START = {
    "mean": PERIOD, "effective": PERIOD, "harmonic": PERIOD,
    "clipping_opamp": GAIN, "supplied_opamp": GAIN,
    "lossless_line": LINE, "lossy_line": LINE, "coupled_lines": LINE,
    "coolant_cylinder": "its stiff liquid between two free masses needs shorter steps than the two that lead there",
    "gas_flow_sensor": SENSOR,
    "flexible_link": "its section and its mass are to be given together (test_beams.py)",
}  # fmt: skip
"""Components whose states a second run cannot be told, and why."""


FAST = {
    **dict.fromkeys(("check_valve", "double_acting_cylinder", "gas_cylinder", "gas_flow", "lead_screw"), ("us", "us")),
    **dict.fromkeys(("gas_nozzle", "gas_pipe"), ("ns", "ps")),
}
"""Components whose hosts change within microseconds or less, where two given steps of 5 ms would lead nowhere: units of the two steps and of the step
behind the written start."""


def sample(text, signals):
    """The values of each signal at the last and at the first sample of a run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        (samples,) = netsim.load(f"{text}save {', '.join(signals)}\n").samples()
    assert samples.finished, samples.message
    columns = {s: [j for j, known in enumerate(samples.signals) if known.name == s or known.name.startswith((f"{s}.", f"{s}["))] for s in signals}
    return [{s: samples.values[row, places] for s, places in columns.items()} for row in (-1, 0)]


def start_of(signal, values):
    """A line that writes the values of a signal: a number, a vector, or a rotation matrix by rows."""
    numbers = [float(v) for v in values]
    if signal.endswith(".R"):
        return f"start {signal} = {[numbers[i : i + 3] for i in (0, 3, 6)]}\n"
    return f"start {signal} = {numbers[0]!r}\n" if len(numbers) == 1 else f"start {signal} = {numbers}\n"


@pytest.mark.parametrize("name", [n for n in hosted() if n not in NO_START])
def test_component_begins_where_a_run_has_led_it(name):
    signals = states(name)
    if not signals:  # nothing that a start could speak of
        return
    unit, short = FAST.get(name, ("ms", "us"))
    reached, _ = sample(netlist(name, run=f"run transient(stop = 10 {unit}, step = 5 {unit})"), signals)
    text = netlist(name, run=f"run transient(stop = 1 {short}, step = 1 {short})", started=False) + "".join(
        start_of(signal, reached[signal]) for signal in signals
    )
    _, begun = sample(text, signals)
    for signal in signals:
        size = np.max(np.abs(reached[signal]))
        assert begun[signal] == pytest.approx(reached[signal], rel=1e-6, abs=1e-9 + 1e-6 * size), signal


@pytest.mark.parametrize("second", ["1.1 bar", "1.1 bar*(1 + 1e-12)"])
def test_vessels_that_a_sensor_joins_begin_at_one_pressure(second):
    """A start that follows from another one repeats it; what flows between the vessels is what the other's supply asks for."""
    text = (
        "use gas\nuse signal\nv1 gas_volume (a) V = 1 L\nv2 gas_volume (b) V = 3 L\n"
        "k gas_flow_sensor (a, b, y)\ns gas_flow (a) m = 1 g/s, T = 300 K\n"
        f"start a.p = 1.1 bar\nstart b.p = {second}\nstart a.T = 300 K\nstart b.T = 300 K\nrun transient(stop = 1 us, step = 1 us)\n"
    )
    _, begun = sample(text, ["a.p", "b.p", "a.T", "b.T", "y"])
    assert [float(begun[s][0]) for s in ("a.p", "b.p", "a.T", "b.T")] == pytest.approx([1.1e5, 1.1e5, 300, 300], rel=1e-9)
    assert float(begun["y"][0]) == pytest.approx(0.75e-3, rel=1e-6)  # three quarters of it go into the second vessel


def test_pressures_that_a_sensor_joins_and_that_differ_are_refused():
    text = netlist("flow_sensor", started=False) + "start n1.p = 1 bar\nstart n2.p = 1.1 bar\n"
    with pytest.raises(netsim.InputError, match="E410"):
        netsim.load(text).run()
