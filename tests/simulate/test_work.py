# ruff: noqa: E501  (netlists in a line read best)
"""The work that sources keep (`der(work) = power`) is what the energy account says they supplied."""

import numpy as np
import pytest

import netsim
from conftest import sampled

BODY = "use spatial\nb body (x) m = 1 kg, I = diag(1, 2, 3) kg.m2\n"
SOURCES = {
    "hinge_angle": "h revolute (ground, x) at = [1, 0, 0] m\no hinge_angle (ground, x) q = 50 rad/s2*time^2",
    "marker_coordinate": "r spherical (ground, x) at = [0, 0, 0] m\no marker_coordinate (x) at = [1, 0, 0] m, direction = [0, 1, 0], s = 0.5 m*sin(5 rad/s*time)",
    "orientation": "o orientation (ground, x) phi = [1, 2, 3] rad/s2*time^2",
    "hinge_torque": "h revolute (ground, x) at = [1, 0, 0] m\no hinge_torque (ground, x) T = 100 N.m*sin(20 rad/s*time)",
}


def difference(samples, name="o.work"):
    """Work less supplied energy, of the largest supplied energy."""
    supplied = samples.energy[:, 1]
    return np.abs(samples.series(name) - supplied).max() / np.abs(supplied).max()


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    "options",
    [
        {"rtol": 1e-8},
        {"rtol": 1e-6, "method": "generalized_alpha"},
        {"rtol": 1e-6, "method": "bdf"},
        {"rtol": 1e-6, "method": "rk45"},
        {"rtol": 1e-8, "method": "rk8"},
        {"rtol": 1e-4, "method": "euler", "forces": "recovered"},
        {"step": 1e-3, "method": "bdf"},
        {"step": 1e-3, "method": "rk45"},
        {"step": 1e-3, "method": "generalized_alpha", "every": 7},
        {"step": 1e-3, "sample": 0.01},
    ],
    ids=str,
)
def test_work_is_the_energy_supplied(name, options):
    samples = sampled(netsim.load(f"{BODY}{SOURCES[name]}\nrun transient(stop = 0.3 s)\n"), ("o.work",), **options)
    assert difference(samples) < 1e-9


@pytest.mark.parametrize("options", [{"rtol": 1e-6}, {"step": 1e-3}], ids=str)
def test_work_by_trbdf2_too(options):
    """A force on a body on a spring: the index is low enough for it."""
    text = "l line_spring (ground, x) at1 = [0, 0, 1] m, at2 = [0, 0, 0.5] m, c = 50 N/m, d = 3 N.s/m\no world_force (x) F = [3 N*sin(9 rad/s*time), 2 N, 0], at = [0.1, 0.2, 0.3] m\n"
    samples = sampled(netsim.load(f"{BODY}{text}run transient(stop = 1 s)\n"), ("o.work",), method="trbdf2", **options)
    assert difference(samples) < 1e-9


HINGE = "world gravity = [0, 0, 0] m/s2\nuse planar\n" + BODY + "h revolute (ground, x) at = [0, 0, 0] m, c = 12 N.m/rad\n"
LOADS = {
    "none": "",
    "force": "o world_force (x) F = [1 N, 0, 0]",
    "force in the body": "o body_force (x) F = [1 N, 0, 0]",
    "moments": "o body_moment (x) M = [0, 0, 1 N.m]\np world_moment (x) M = [0, 0, 1 N.m]\nq relative_moment (ground, x) M = [0, 0, 0] N.m",
    "torque": "o hinge_torque (ground, x) T = 2 N.m",
    "slide and line": "o slide_force (ground, x) F = 0 N\np line_force (ground, x) at1 = [2, 0, 0] m, at2 = [1, 0, 0] m, F = 0 N",
    "held": "k revolute (x, z) at = [1, 0, 0] m\nc body (z) m = 1 kg, I = diag(1, 1, 1) kg.m2\no hinge_angle (x, z) q = 0",
    "plane": "r planar_body (z) m = 1 kg, I = 1 kg.m2\ns planar_hinge_angle (ground, z) q = 0\nu planar_marker_displacement (z) at = [0, 0] m, s = [0, 0]",
}


@pytest.mark.parametrize("name", LOADS)
def test_sources_bring_no_modes(name):
    """3 kg.m2 on 12 N.m/rad: one mode at 2 rad/s (4 kg.m2 with the other body held to it), and none at 0 Hz for the work that a source keeps."""
    (samples,) = netsim.load(f"{HINGE}{LOADS[name]}\nrun modal()\n").samples()
    inertia = 4 if name == "held" else 3
    assert samples.series("frequency") == pytest.approx([np.sqrt(12 / inertia) / (2 * np.pi)], rel=1e-9)


def test_work_of_a_spun_up_wheel_is_its_energy():
    """40 000 rad/s2 t^2/2 about an axis beside the centre: (3 + 1) kg.m2 w^2/2."""
    text = "h revolute (ground, x) at = [1, 0, 0] m\no hinge_angle (ground, x) q = 200 rad/s2*time^2\n"
    samples = sampled(
        netsim.load("world gravity = [0, 0, 0] m/s2\n" + BODY + text + "run transient(stop = 0.3 s)\n"), ("o.work",), method="generalized_alpha"
    )
    assert samples.series("o.work") == pytest.approx(2 * (400 * samples.time) ** 2, rel=1e-4, abs=1e-2)


def test_measures_see_the_same_work():
    """At a peak between samples, and through an event."""
    friction = (
        "f hinge_friction (ground, x) T = 5 N.m\nh revolute (ground, x) at = [1, 0, 0] m\no hinge_torque (ground, x) T = 20 N.m*sin(8 rad/s*time)\n"
    )
    text = "measure last = final(o.work)\nmeasure most = max(o.work)\nrun transient(stop = 1 s)\n"
    (samples,) = netsim.load(BODY + friction + "save o.work\n" + text).samples({"rtol": 1e-8})
    figures = {figure.name: figure.value for figure in samples.figures}
    assert "f.mode" in samples.attributes["event_log"] or "mode" in samples.attributes["event_log"]
    assert difference(samples) < 1e-9
    assert figures["last"] == pytest.approx(samples.series("o.work")[-1], rel=1e-9)
    assert figures["most"] >= samples.series("o.work").max() * (1 - 1e-9)


def test_a_written_start_of_the_work_counts():
    text = SOURCES["hinge_torque"] + "\nstart o.work = 3 J\nrun transient(stop = 0.3 s)\n"
    samples = sampled(netsim.load(BODY + text), ("o.work",))
    assert samples.series("o.work") - 3 == pytest.approx(samples.energy[:, 1], abs=1e-12)


def test_an_integral_that_acts_is_the_methods_own():
    """A torque that ends when 2 J are delivered: what the condition reads is what is shown."""
    component = (
        'component metered (a, b : spatial) "torque about z until 2 J are delivered"\n  var E : J\n  discrete on : 1 = 1\n  on = if pre(on) == 1 and E < 2 J then 1 else 0\n'
        "  let T = if on == 1 then 5 N.m*a.R[3] else [0, 0, 0] N.m\n  a.t = T\n  b.t = -T\n  der(E) = dot(T, b.w - a.w)\n  source\nend\n"
    )
    text = f"{BODY}{component}h revolute (ground, x) at = [1, 0, 0] m\no metered (ground, x)\nrun transient(stop = 2 s)\n"
    samples = sampled(netsim.load("world gravity = [0, 0, 0] m/s2\n" + text), ("o.E",), rtol=1e-8)
    assert samples.series("o.E")[-1] == pytest.approx(2.0, rel=1e-9) and samples.energy[-1, 1] == pytest.approx(2.0, rel=1e-6)
