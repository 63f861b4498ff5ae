"""The state space of a network follows its transient run: what a small step of a probe does to a model at rest, by the matrix exponential and by
the network's own steps.

Linear networks agree to rounding; in others the error falls with the square of the amplitude, in proportion to it beside the response.
"""

import re

import numpy as np
import pytest
from scipy.linalg import expm

import netsim
from netsim.library.files import models_folder

PROBES = {
    **{"electrical": ("current (ground, {node}) I = probe*1 A", "v"), "translational": ("force ({node}) F = probe*1 N", "v")},
    **{"rotational": ("torque ({node}) T = probe*1 N.m", "w"), "thermal": ("heat_flow ({node}) Q = probe*1 W", "T")},
    **{"planar": ("planar_force ({node}) F = [probe, 0]*1 N", "v.x"), "spatial": ("world_force ({node}) F = [probe, 0, 0]*1 N", "v.x")},
}
LINEAR = {
    **{"coaxial_cable": ("electrical", "cable.tap[60]"), "coupled_coils": ("electrical", "b"), "lever": ("translational", "short")},
    **{"coupled_oscillators": ("translational", "b"), "msl/Electrical_Analog_ChuaCircuit": ("electrical", "o")},
    **{"msl/Mechanics_Rotational_ElasticBearing": ("rotational", "housing"), "msl/Mechanics_Rotational_CompareBrakingTorque": ("rotational", "d")},
    "msl/Mechanics_Translational_Damper": ("translational", "c"),
}
CURVED = {
    **{"electromagnet": ("electrical", "q"), "mechanisms/double_pendulum": ("spatial", "lower")},
    **{"msl/Mechanics_MultiBody_Elementary_ForceAndTorque": ("spatial", "b"), "heated_resistor": ("thermal", "body")},
}


def probed(name: str, domain: str, node: str) -> netsim.Model:
    """A model without its runs, signals and written starts, with a probe at a node that pushes by the parameter `probe`."""
    text = (models_folder() / f"{name}.net").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not re.match(r"\s*(run|save|plot|measure|assert|start)\b|^\s+(stop|step) =", line)]
    still = re.sub(r",?\s*start [\w.]+ = (\[[^]]*\][^,\n#]*|[^,\n#]*)", "", "\n".join(kept))
    return netsim.load(f"{still}\nuse {domain}\nparam probe = 0\npushed {PROBES[domain][0].format(node=node)}\n")


def misses(name: str, domain: str, node: str, amplitudes: tuple[float, ...]) -> list[float]:
    """How far a step of the probe takes the run from the state space, beside its response there, for each amplitude."""
    model, output = probed(name, domain, node), f"{node}.{PROBES[domain][1]}"
    found = model.linearise(inputs=["probe"], save=[output])
    sizes = np.abs(found.poles)
    times = np.linspace(0.0, 3.0 / np.exp(np.mean(np.log(sizes + 1e-3 * sizes.max()))), 11)[1:]
    both = np.block([[found.a, found.b], [np.zeros((1, len(found.a) + 1))]])
    wanted = np.array([(found.c @ expm(both * t)[:-1, -1]).item() + found.d.item() for t in times])
    assert np.abs(wanted).max() > 0.0
    shares = []
    for amplitude in amplitudes:
        run = model.simulator(inputs=["probe"], save=[output], rtol=1e-10, stop=times[-1], from_="static")
        rest, got = run[output], []
        run["probe"] = amplitude
        for t in times:
            run.advance(t)
            got.append(run[output] - rest)
        shares.append(float(np.abs(np.array(got) - amplitude * wanted).max() / np.abs(amplitude * wanted).max()))
    return shares


@pytest.mark.parametrize("name", LINEAR)
def test_linear_networks_are_their_state_space(name):
    """Chua's circuit is linear between the corners of its resistor."""
    assert max(misses(name, *LINEAR[name], (1e-3, 1e-4))) < 1e-8


@pytest.mark.parametrize("name", CURVED)
def test_the_error_falls_with_the_square_of_the_amplitude(name):
    large, small = misses(name, *CURVED[name], (0.2, 0.02))
    assert 1e-7 < large < 0.3
    assert np.log10(large / small) == pytest.approx(2.0 if name in EVEN else 1.0, abs=0.15)


EVEN = {"mechanisms/double_pendulum"}
"""Laws without a quadratic part: a pendulum's is odd."""
