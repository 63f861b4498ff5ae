"""Points and directions in the frame of a body: the same machine as with coordinates worked out by hand."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

ARM = """
use spatial
param tilt = 30 deg
let   turn = [[cos(tilt), -sin(tilt), 0], [sin(tilt), cos(tilt), 0], [0, 0, 1]]
upper  body      (p)          m = 1 kg, I = diag(0.1, 0.2, 0.25)*1 kg.m2, at = [0.4, 0.1, 0] m, axes = turn
lower  body      (q)          m = 2 kg, I = diag(0.1, 0.2, 0.25)*1 kg.m2, at = {q}, axes = turn
j1     revolute  (ground, p)  at = {j1}, axis = {axis}
j2     revolute  (p, q)       at = {j2}, axis = {axis}
run transient(stop = 0.5 s, step = 5 ms, method = generalized_alpha)
save p.r, q.r, j1.q, j2.force
"""
FRAMES = {"q": "on(p, [0.8, 0, 0] m)", "j1": "on(p, [-0.3, 0.05, 0] m)", "j2": "on(q, [-0.4, 0, 0.1] m)", "axis": "along(p, [0, 1, 0.5])"}


def by_hand():
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    p = np.array([0.4, 0.1, 0])
    q = p + turn @ [0.8, 0, 0]
    points = {"q": q, "j1": p + turn @ [-0.3, 0.05, 0], "j2": q + turn @ [-0.4, 0, 0.1]}
    found = {name: f"[{', '.join(repr(float(x)) for x in point)}] m" for name, point in points.items()}
    return {**found, "axis": f"[{', '.join(repr(float(x)) for x in turn @ [0, 1, 0.5])}]"}


def test_frames_give_the_machine_that_coordinates_give():
    framed, plain = (netsim.load(ARM.format(**given)).samples()[0] for given in (FRAMES, by_hand()))
    np.testing.assert_allclose(framed.values, plain.values, rtol=0, atol=1e-12 * np.abs(plain.values).max())


def test_a_body_moves_with_what_is_placed_on_it():
    """A parameter turns the first body and all that is given in its frame, joints and the second body included."""
    model = netsim.load(ARM.format(**FRAMES))
    start = model.with_params(tilt=0.0).samples()[0]
    assert start.series("q.r.x")[0] == pytest.approx(1.2) and start.series("q.r.y")[0] == pytest.approx(0.1)


def test_in_the_plane():
    text = """
use planar
b  planar_body      (p)          m = 1 kg, I = 0.1 kg.m2, at = [0.5, 0] m
j  planar_revolute  (ground, p)  at = [0, 0] m
m  planar_marker    (p)          at = on(p, [0.5, 0] m)
run transient(stop = 1 ms, step = 1 ms, method = euler)
save m.r
"""
    assert netsim.load(text).samples()[0].series("m.r.x")[0] == pytest.approx(1.0)


WRONG = [
    ("on(p)", "E207", "takes a node and a vector"),
    ("on(r, [1, 0, 0] m)", "E206", "no node 'r'"),
    ("on(loose, [1, 0, 0] m)", "E206", "no body says where 'loose' is"),
    ("on(q, [1, 0] m)", "E204", "in 3 dimensions"),
    ("on(q, [1, 0, 0] s)", "E202", "m is wanted"),
    ("on(p, [1, 0, 0] m)", "E233", "depends on itself"),
]


@pytest.mark.parametrize("place, code, words", WRONG)
def test_what_is_wrong_is_said(place, code, words):
    text = f"""
use spatial
b1  body       (p)           m = 1 kg, I = diag(1, 1, 1)*1 kg.m2, at = {place}
b2  body       (q)           m = 1 kg, I = diag(1, 1, 1)*1 kg.m2
j   spherical  (q, loose)    at = [0, 0, 0] m
w   spherical  (loose, p)    at = [0, 0, 0] m
run transient(stop = 1 ms, step = 1 ms, method = euler)
"""
    with pytest.raises(InputError) as wrong:
        netsim.load(text).samples()
    assert any(p.code == code and words in p.message for p in wrong.value.problems)


TWICE = """use spatial
one body (a) m = 1 kg, I = diag(1, 1, 1)*1e-6 kg.m2, at = [{size}, 0, 0] m
two {second}
hinge revolute (ground, a) at = [0, 0, 0] m, axis = [0, 0, 1]
push hinge_torque (ground, a) axis = [0, 0, 1], T = 5 N.m
world gravity = [0, 0, 0] m/s2
run transient(stop = 1 s)
save hinge.q
"""


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_two_bodies_are_one_frame_only_at_one_point(size):
    """A body's equations hold at its centre of mass, where its node stands: a second one elsewhere would be moved there."""
    body = "body (a) m = 1 kg, I = diag(1, 1, 1)*1e-6 kg.m2, at = [{}, 0, 0] m"
    with pytest.raises(InputError, match="E238 'one' and 'two' are one frame 'a'") as told:
        netsim.load(TWICE.format(size=size, second=body.format(2 * size))).samples()
    with pytest.raises(InputError, match="E238"):
        netsim.load(TWICE.format(size=size, second=body.format(size * (1 + 2e-9)))).samples()
    assert netsim.load(TWICE.format(size=size, second=body.format(size * (1 + 5e-10)))).machine
    assert told.value.problems[0].span.line == 3 and "weld" in told.value.problems[0].hint
    (samples,) = netsim.load(TWICE.format(size=1.0, second=body.format(1.0))).samples()
    assert samples.series("hinge.q")[-1] == pytest.approx(5 / 2 / (2 + 2e-6), rel=1e-6)


def test_a_second_mass_of_a_frame_is_a_point_mass_or_welded():
    """Torque 5 N.m on 1 kg at 1 m and 1 kg at 2 m: 0.5 rad in a second."""
    mass = "point_mass (a) m = 1 kg, at = [2, 0, 0] m"
    welded = "body (b) m = 1 kg, I = diag(1, 1, 1)*1e-6 kg.m2, at = [2, 0, 0] m\nfast spatial_weld (a, b) at = [2, 0, 0] m"
    for second in (mass, welded):
        (samples,) = netsim.load(TWICE.format(size=1.0, second=second)).samples()
        assert samples.series("hinge.q")[-1] == pytest.approx(0.5, rel=1e-6)
