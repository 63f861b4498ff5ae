"""Every component begins from any consistent values of its states: those that a run reaches, written as starts of a second run."""

import warnings

import numpy as np
import pytest

import netsim
from host_networks import hosted, netlist, states

GAIN = "the gain between its inputs and its output turns the rounding of written potentials into more than a start may miss"
LINE = "what is on its way on the line is no state that can be written"
SENSOR = "it makes the pressures of its two volumes one state, whose second start counts as one too many"
FILLS = "at their usual size they fill the host's volume within less than two given steps"
NO_START = {
    "clipping_opamp": GAIN, "supplied_opamp": GAIN, "data_sheet_opamp": GAIN,
    "lossless_line": LINE, "lossy_line": LINE, "coupled_lines": LINE,
    "bandstop_filter": "x stands under der() with the input alone, so a start of z without x is held against the static solution of x",
    "coolant_cylinder": "its stiff liquid between two free masses needs shorter steps than the two that lead there",
    "flow_sensor": SENSOR, "gas_flow_sensor": SENSOR,
    "gas_nozzle": FILLS, "gas_pipe": FILLS,
    "flexible_link": "its section and its mass are to be given together (test_beams.py)",
}  # fmt: skip
"""Components whose states a second run cannot be told, and why."""


FAST = ("check_valve", "double_acting_cylinder", "gas_cylinder", "gas_flow", "lead_screw")
"""Components whose hosts change within microseconds: two given steps of 5 ms would lead nowhere."""


def sample(text, signals):
    """The values of each signal at the last and at the first sample of a run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        (samples,) = netsim.load(f"{text}save {', '.join(signals)}\n").run()
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
    unit = "us" if name in FAST else "ms"
    reached, _ = sample(netlist(name, run=f"run transient(stop = 10 {unit}, step = 5 {unit})"), signals)
    text = netlist(name, run="run transient(stop = 1 us, step = 1 us)", started=False) + "".join(
        start_of(signal, reached[signal]) for signal in signals
    )
    _, begun = sample(text, signals)
    for signal in signals:
        size = np.max(np.abs(reached[signal]))
        assert begun[signal] == pytest.approx(reached[signal], rel=1e-6, abs=1e-9 + 1e-6 * size), signal
