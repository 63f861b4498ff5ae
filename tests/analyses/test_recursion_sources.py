"""Sources, inertias and starts of `run recursion` against closed forms, and against the network's own equations where there is none."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

CARDAN = """
use spatial
world gravity = [0, 0, 0] m/s2
b  body       (n)          m = {J} kg, I = {J}*diag(1, 1, 1) kg.m2, at = [0, 0, 0] m
u  universal  (ground, n)  at = [0, 0, 0] m
s1 hinge_angle (ground, n) axis = [1, 0, 0], across = [0, 1, 0], q = 1.2 rad/s*time
s2 hinge_torque {ends}, T = {J} N.m
run recursion(stop = 1 s, sample = 0.1 s, rtol = {rtol})
save u.q2
"""


def final(text: str, *names: str) -> list[float]:
    samples = netsim.load(text).samples()[-1]
    assert samples.finished, samples.message
    values = dict(zip([s.name for s in samples.signals], samples.values.T))
    return [float(values[name][-1]) for name in names]


@pytest.mark.parametrize(("J", "rtol"), [(1e-9, 1e-4), (1.0, 1e-6), (1e6, 1e-8), (1e-9, 1e-8)])
def test_torque_about_the_second_axis_of_a_cardan_joint(J, rtol):
    """The source's axis travels with the ground, the joint's second with the body, at the angle q1 = w t: J q2'' = T cos(w t)."""
    (q2,) = final(CARDAN.format(J=J, rtol=rtol, ends="(ground, n) axis = [0, 1, 0]"), "u.q2")
    assert abs(q2 / ((1 - np.cos(1.2)) / 1.44) - 1) < 20 * rtol


@pytest.mark.parametrize(("axis", "expected"), [("[0, -1, 0]", 0.5), ("[0, 1, 0]", -0.5)])
def test_torque_from_b_to_a_travels_with_b(axis, expected):
    """Written from b to a its axis stays the joint's second: J q2'' = T."""
    (q2,) = final(CARDAN.format(J=1, rtol=1e-8, ends=f"(n, ground) axis = {axis}"), "u.q2")
    assert abs(q2 - expected) < 1e-9


BODY = """
use spatial
use planar
use rotational
world gravity = [0.1, -0.3, -1] m/s2
b body (n) m = 2 kg, I = diag(1, 1.5, 0.7) kg.m2, at = [0.3, 0.2, -0.1] m
"""
PLATE = BODY.replace(
    "b body (n) m = 2 kg, I = diag(1, 1.5, 0.7) kg.m2, at = [0.3, 0.2, -0.1] m", "b planar_body (n) m = 1 kg, I = 1 kg.m2, at = [0.5, 0] m"
)
ACTING = {
    "one axis from either end": (BODY, "u universal (n, ground) at = [0, 0, 0] m",
        "s hinge_torque (n, ground) axis = [1, 0.3, 0], T = 1 N.m", "u.q1", "u.q2"),
    "ball joint": (BODY, "u spherical (ground, n) at = [0, 0, 0] m", "s hinge_torque (ground, n) axis = [0.3, 1, 0], T = 1 N.m", "n.w.x", "n.r.z"),
    "oblique torque": (BODY, "u revolute (ground, n) at = [0, 0, 0] m", "s hinge_torque (n, ground) axis = [0.3, 1, 1], T = 1 N.m", "u.q"),
    "oblique speed": (BODY, "u revolute (ground, n) at = [0, 0, 0] m", "s hinge_speed (n, ground) axis = [0.3, 1, 1], w = 1 rad/s", "u.q", "s.T"),
    "force on a hinge": (BODY, "u revolute (ground, n) at = [0, 0, 0] m",
        "s slide_force (ground, n) at = [1, 0, 0] m, axis = [0.3, 1, 1], F = 1 N", "u.q"),
    "force beside the centre": (BODY, "u planar_joint (ground, n) at = [0, 0, 0] m",
        "s slide_force (ground, n) at = [1, 0, 0] m, axis = [1, 1, 0], F = 1 N", "u.q", "u.x", "u.y"),
    "screw from b to a": (BODY, "u cylindrical (ground, n) at = [0, 0, 0] m",
        "s slide_displacement (n, ground) s = 1 m/s^2*time^2\nt hinge_torque (n, ground) T = 1 N.m", "u.q", "u.s", "s.F"),
    "in the plane": (PLATE, "u planar_revolute (n, ground) at = [0, 0] m", "s planar_hinge_torque (n, ground) T = 1 N.m", "u.q", "n.phi"),
    "in a slot": (PLATE, "u planar_pin_in_slot (n, ground) at = [0, 0] m", "s planar_slide_force (n, ground) F = 1 N", "n.r.x", "n.r.y", "u.q"),
    "driven in the plane": (PLATE, "u planar_revolute_driven (n, ground, f) at = [0, 0] m", "s torque (f) T = 1 N.m", "n.phi", "f.phi"),
}  # fmt: skip


@pytest.mark.parametrize("case", ACTING)
def test_sources_act_as_in_the_network_s_own_equations(case):
    """Where no closed form is at hand, the same netlist in absolute coordinates says what is right."""
    body, joint, source, *names = ACTING[case]
    text = f"{body}{joint}\n{source}\nrun {{}}\nsave {', '.join(names)}\n"
    found = final(text.format("recursion(stop = 0.5 s, rtol = 1e-9)"), *names)
    assert np.allclose(found, final(text.format("transient(stop = 0.5 s, rtol = 1e-8)"), *names), rtol=5e-7, atol=1e-8)


@pytest.mark.parametrize(
    "source",
    [
        "hinge_angle (ground, n) axis = [1, 0, 0], across = [0, 0, 1], q = 1 rad/s*time",
        "hinge_speed (ground, n) axis = [0, 1, 0], w = 1 rad/s",
        "hinge_angle (ground, n) axis = [1, 1, 0], q = 1 rad/s*time",
    ],
)
def test_a_motion_that_is_no_coordinate_is_refused(source):
    """What such a source moves depends on the other angle."""
    text = f"{BODY}u universal (ground, n) at = [0, 0, 0] m\ns {source}\nrun recursion(stop = 1 s)\nsave u.q1\n"
    with pytest.raises(InputError, match=r"E450.*'s' prescribes no coordinate of 'u'"):
        netsim.load(text).samples()


def test_newmark_refuses_what_acts_on_several_coordinates():
    text = CARDAN.format(J=1, rtol=1e-8, ends="(ground, n) axis = [0, 1, 0]").replace("sample = 0.1 s, rtol = 1e-08", "step = 10 ms")
    with pytest.raises(InputError, match=r"E450.*'s2' belongs to no coordinate"):
        netsim.load(text).samples()


@pytest.mark.parametrize("J", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("more", ["", "p point_mass (n) m = {J} kg, at = [0, 0, 0] m\n", "c link (n) m = 0 kg, I = {J}*diag(1, 1, 2) kg.m2\n"])
def test_an_inertia_without_mass_counts(J, more):
    """phi = T t^2/(2 I), with all that turns about the axis."""
    text = f"""use spatial
world gravity = [0, 0, 0] m/s2
b link (n) m = 0 kg, I = {J}*diag(1, 1, 2) kg.m2
{more.format(J=J)}u revolute (ground, n) at = [0, 0, 0] m
s hinge_torque (ground, n) T = {J} N.m
run recursion(stop = 1 s)
save u.q
"""
    assert abs(final(text, "u.q")[0] - (0.125 if "link (n)" in more else 0.25)) < 1e-10


CHAIN = f"""{BODY}b2 body (m) m = 2 kg, I = diag(1, 1.5, 0.7) kg.m2, at = [0.7, 0.9, -0.1] m
u universal (ground, n) at = [0.1, 0.2, 0.3] m
j revolute (n, m) at = [0.37, 0.11, 0.3] m, axis = [0.3, 1, 0.2]
{{}}
run recursion(stop = 10 ms)
save u.q1, u.q2, j.q, u.v1, u.v2, j.rate
"""


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ("", {}),
        ("start u.q1 = 0.3 rad", {"u.q1": 0.3}),
        ("start u.q1 = 2 rad\nstart j.q = 5 rad\nstart u.v2 = 0.3 rad/s", {"u.q1": 2.0, "j.q": 5.0, "u.v2": 0.3}),
        ("start j.rate = 1e-7 rad/s", {"j.rate": 1e-7}),
    ],
)
def test_coordinates_without_a_start_begin_at_exactly_zero(starts, expected):
    samples = netsim.load(CHAIN.format(starts)).samples()[-1]
    first = dict(zip([s.name for s in samples.signals], samples.values[0].tolist()))
    for name, value in first.items():
        bound = 0.0 if name in ("u.q1", "u.q2", "j.q") and name not in expected else 1e-15 + 1e-14 * abs(expected.get(name, 0.0))
        assert abs(value - expected.get(name, 0.0)) <= bound, name
    assert bool(samples.attributes["start_moves"]) == ("q" in "".join(expected))


def test_what_moved_to_close_a_start_is_told():
    """A turn of 0.3 rad about the first axis, and what it carries."""
    samples = netsim.load(CHAIN.format("start u.q1 = 0.3 rad")).samples()[-1]
    assert "n moved" in samples.attributes["start_moves"] and "m moved" in samples.attributes["start_moves"]
    assert samples.attributes["start_moves"].count("turned 17.2 deg") == 2
