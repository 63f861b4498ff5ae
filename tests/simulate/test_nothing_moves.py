"""Networks in which nothing can move: elements with both ends on the ground, sensors of the ground, resistances alone."""

import pytest

import netsim

NETWORKS = {
    "resistances": "s voltage (a, ground) v = 1 V\nr resistor (a, ground) R = 1 Ohm",
    "resistance on the ground": "r resistor (ground, ground) R = 1 Ohm",
    "capacitor on the ground": "c capacitor (ground, ground) C = 1 F",
    "mass on the ground": "m mass (ground) m = 1 kg",
    "body on the ground": "b body (ground) m = 1 kg, I = diag(1, 1, 1) kg.m2",
    "sensor on the ground": "s accelerometer (ground, x, y, z) at = [0.5, 0, 0] m",
}
RUNS = [
    *(f"transient(stop = 1 s, method = {m})" for m in ("radau", "bdf", "trbdf2", "rk45")),
    *(f"transient(stop = 1 s, step = 0.1 s, method = {m})" for m in ("euler", "generalized_alpha")),
    "transient(stop = 1 s, from = rest)",
    "static()",
    "modal()",
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", NETWORKS)
def test_what_cannot_move_runs(name, run):
    """A run ends, and has no modes."""
    (samples,) = netsim.load(f"use couplings\nuse spatial\nuse signal\n{NETWORKS[name]}\nrun {run}\n").samples()
    assert samples.finished and (run != "modal()" or len(samples.values) == 0)


def test_an_accelerometer_on_the_ground_reads_gravity():
    text = "use spatial\nuse signal\nworld gravity = [0, 3, -4] m/s2\ns accelerometer (ground, x, y, z) at = [0.5, 0, 0] m\n"
    (samples,) = netsim.load(text + "run transient(stop = 1 s)\nsave x, y, z\n").samples()
    for name, wanted in zip("xyz", (0.0, -3.0, 4.0)):
        assert samples.series(name) == pytest.approx(wanted, abs=1e-12)
