"""How mechanisms are put together: joint coordinates, placements that nearly close, what was moved, and what cannot be closed."""

import numpy as np
import pytest

import four_bar
import netsim
from netsim.core.linear import factors as linear
from netsim.core.linear.columns import columns_of, diagonal_of
from netsim.initial.consistent import newton
from netsim.initial.initial import consistent_start
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.errors import InputError, render

CX, CY = 0.325, np.sqrt(0.039375)

FOUR_BAR = f"""{four_bar.PLANE}
run   transient(stop = 10 ms, step = 1 ms, method = euler)
save  pA.q, pB.q, pC.q, pD.q, a.r, b.r, b.phi
"""

CHAIN = """
use spatial
b1  body      (upper)         m = 1 kg, I = diag(0, 1/12, 1/12) kg.m2, at = [0.5, 0, 0] m
b2  body      (lower)         m = 1 kg, I = diag(0, 1/12, 1/12) kg.m2, at = [1.5, 0, 0] m
j1  revolute  (ground, upper) at = [0, 0, 0] m, axis = [0, 1, 0]
j2  revolute  (upper, lower)  at = [1, 0, 0] m, axis = [0, 0, 1]
m1  marker    (lower)         at = [2, 0, 0] m
run   transient(stop = 10 ms, step = 1 ms, method = euler)
save  j1.q, j2.q, j1.rate, j2.rate, lower.r, lower.v, lower.w, lower.R, m1.r
"""


def rocker_angle(crank):
    """The rocker's turn of the four-bar from where it is drawn: the coupler is 0.3 m long."""
    way = 0.1 * np.array([np.cos(crank), np.sin(crank)]) - np.array([0.3, 0.0])
    distance = np.hypot(*way)
    corner = np.arccos((0.2**2 + distance**2 - 0.3**2) / (2 * 0.2 * distance))
    return (np.arctan2(way[1], way[0]) - corner - np.arctan2(CY, CX - 0.3) + np.pi) % (2 * np.pi) - np.pi


def first(text, name):
    samples = netsim.load(text).samples()[0]
    return float(samples.series(name)[0])


def start_of(text):
    """What a run begins with, and what it says of it."""
    samples = netsim.load(text).samples()[0]
    return {s.name: float(samples.values[0, j]) for j, s in enumerate(samples.signals)}, samples.attributes


def about(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    s = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * s + (1 - np.cos(angle)) * s @ s


# ------------------------------------------------------------------------------------------------ joint coordinates


@pytest.mark.parametrize("angle", [5.0, 30.0, 70.0, -25.0])
def test_four_bar_starts_at_a_crank_angle(angle):
    found, said = start_of(FOUR_BAR + f"start pA.q = {angle} deg\n")
    assert found["pA.q"] == pytest.approx(np.radians(angle), abs=1e-14)
    assert found["pD.q"] == pytest.approx(rocker_angle(np.radians(angle)), abs=1e-10)
    assert f"turned {abs(angle):g} deg" in said["start_moves"]
    assert "start" not in said["start_moves"]  # nothing written has given way


@pytest.mark.parametrize(("q1", "q2"), [(30.0, 45.0), (-100.0, 170.0), (30.0, 200.0), (180.0, -180.0), (20.0, 750.0)])
def test_chain_starts_at_joint_coordinates(q1, q2):
    found, said = start_of(CHAIN + f"start j1.q = {q1} deg\nstart j2.q = {q2} deg\nstart j1.rate = 0.7 rad/s\nstart j2.rate = -1.2 rad/s\n")
    a, b = np.radians([q1, q2])
    first_, second = about((0, 1, 0), a), about((0, 0, 1), b)
    along = np.array([1.0, 0, 0])
    tip = first_ @ (along + second @ along)
    assert [found["j1.q"], found["j2.q"]] == pytest.approx([a, b], abs=1e-12)  # turns are counted
    assert [found[f"m1.r.{c}"] for c in "xyz"] == pytest.approx(tip, abs=1e-12)
    turned = np.array([[found[f"lower.R[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)])
    assert turned == pytest.approx(first_ @ second, abs=1e-12)
    assert np.abs(turned.T @ turned - np.eye(3)).max() < 1e-14
    w1 = 0.7 * np.array([0, 1, 0])
    w2 = w1 - 1.2 * first_ @ np.array([0, 0, 1])
    v = np.cross(w1, first_ @ along) + np.cross(w2, first_ @ second @ (0.5 * along))
    assert [found[f"lower.w.{c}"] for c in "xyz"] == pytest.approx(w2, abs=1e-12)
    assert [found[f"lower.v.{c}"] for c in "xyz"] == pytest.approx(v, abs=1e-12)
    assert "upper" in said["start_moves"]


def test_a_sliding_coordinate_in_space():
    text = CHAIN.replace(
        "j2  revolute  (upper, lower)  at = [1, 0, 0] m, axis = [0, 0, 1]", "j2  prismatic (upper, lower) at = [1, 0, 0] m, axis = [1, 0, 0]"
    )
    found, _ = start_of(text + "start j1.q = 90 deg\nstart j2.q = 0.25 m\n")
    assert [found[f"m1.r.{c}"] for c in "xyz"] == pytest.approx([0, 0, -2.25], abs=1e-12)


def test_a_driven_joint_starts_by_its_flange():
    """The flange has no inertia of its own, so that in the static problem its position comes after the bodies'."""
    driven = FOUR_BAR.replace("pA       planar_revolute  (ground, a) ", "pA  planar_revolute_driven  (ground, a, shaft)").replace("pA.q", "shaft.phi")
    text = driven + "d  torsion_damper (shaft, ground) d = 0.1 N.m.s/rad\nstart shaft.phi = 20 deg\n"
    found, _ = start_of(text)
    assert found["shaft.phi"] == pytest.approx(np.radians(20), abs=1e-14)
    assert found["pD.q"] == pytest.approx(rocker_angle(np.radians(20)), abs=1e-10)


# ------------------------------------------------------------------------------------------------ placements


@pytest.mark.parametrize("degrees", [40.0, 120.0, 180.0])
def test_a_free_body_takes_a_rotation_and_a_position(degrees):
    axis = np.array([1, 2, 2]) / 3
    wanted = about(axis, np.radians(degrees))
    rows = ", ".join("[" + ", ".join(f"{x:.17f}" for x in row) + "]" for row in wanted)
    text = f"""
use spatial
b1  body (p)  m = 1 kg, I = diag(1, 2, 3) kg.m2
start p.R = [{rows}]
start p.r = [1, 2, 3] m
start p.w = [0.1, 0.2, 0.3] rad/s
run   transient(stop = 1 ms, step = 1 ms, method = euler)
save  p.R, p.r, p.w
"""
    found, said = start_of(text)
    assert np.array([[found[f"p.R[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)]) == pytest.approx(wanted, abs=1e-12)
    assert [found[f"p.{q}.{c}"] for q in "rw" for c in "xyz"] == pytest.approx([1, 2, 3, 0.1, 0.2, 0.3], abs=1e-14)
    assert said["start_moves"] == ""  # as written


def test_a_matrix_that_is_no_rotation_is_refused():
    text = CHAIN + "start upper.R = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]\n"
    with pytest.raises(InputError, match="E413"):
        netsim.load(text).samples()


def test_four_bar_placed_five_degrees_off_is_closed_and_says_so():
    """The least-squares solution: the crank moves by little where the rocker, with the longer way to go, misses by 5 deg."""
    crank, rocker = np.radians(30.0), rocker_angle(np.radians(30.0)) + np.radians(5.0)
    model = netsim.load(FOUR_BAR + f"start a.phi = {crank} rad\nstart c.phi = {rocker} rad\n")
    samples = model.samples()[0]
    found = {s.name: float(samples.values[0, j]) for j, s in enumerate(samples.signals)}
    misses = found["pA.q"] - crank, found["pD.q"] - rocker
    assert found["pD.q"] == pytest.approx(rocker_angle(found["pA.q"]), abs=1e-10)  # closed
    step = 1e-5
    slope = (rocker_angle(found["pA.q"] + step) - rocker_angle(found["pA.q"] - step)) / (2 * step)
    assert misses[0] + slope * misses[1] == pytest.approx(0.0, abs=1e-5)  # sum of squares is least
    assert 0 < np.hypot(*misses) < np.radians(5.0)
    moved = samples.attributes["start_moves"]
    assert moved.startswith("start ") and "start c.phi = " in moved and "start a.phi = " in moved and "was changed to" in moved
    notes = [p for p in model.check() if p.code == "N401"]
    assert len(notes) == 1 and "start c.phi" in notes[0].message


def test_rounded_coordinates_of_all_joints_are_closed():
    """Every joint written, three digits: over-determined by two, and off by the rounding."""
    exact = start_of(FOUR_BAR + "start pA.q = 40 deg\n")[0]
    lines = "".join(f"start {p}.q = {round(np.degrees(exact[f'{p}.q']), 1)} deg\n" for p in ("pA", "pB", "pC", "pD"))
    found, said = start_of(FOUR_BAR + lines)
    for p in ("pA", "pB", "pC", "pD"):
        assert found[f"{p}.q"] == pytest.approx(exact[f"{p}.q"], abs=np.radians(0.1))
    assert found["pD.q"] == pytest.approx(rocker_angle(found["pA.q"]), abs=1e-10)
    assert "start pB.q = " in said["start_moves"]


def test_the_chain_in_space_is_closed_too():
    tip = about((0, 1, 0), np.radians(30)) @ np.array([0.5, 0, 0])
    x, y, z = tip + np.array([0, 0.01, 0])  # 10 mm out of the plane the hinge allows
    found, said = start_of(CHAIN + f"start upper.r = [{x}, {y}, {z}] m\n")
    assert found["j1.q"] == pytest.approx(np.radians(30), abs=1e-9)
    assert "start upper.r.y = 10 mm was changed to" in said["start_moves"]


# ------------------------------------------------------------------------------------------------ what cannot be closed


def told(text):
    with pytest.raises(InputError) as caught:
        netsim.load(text).samples()
    return "\n".join(render(p) for p in caught.value.problems)


def test_contradictory_joint_starts_name_the_minimal_conflict():
    text = told(FOUR_BAR + "start pA.q = 30 deg\nstart pD.q = 50 deg\n")
    assert "E410" in text and "network: pA.q, pD.q" in text and "start pA.q = 30 deg" in text and "the points of '" in text and " apart" in text


def test_joint_start_out_of_reach_is_named_alone():
    """The rocker turns by less than 60 deg, wherever the crank stands."""
    text = told(FOUR_BAR + "start pA.q = 30 deg\nstart pD.q = 60 deg\n")
    assert "E410" in text and "network: pD.q" in text and "pA.q" not in text


def test_bodies_placed_far_apart_are_told_at_the_joint():
    text = told(CHAIN + "start upper.r = [0.5, 0, 0] m\nstart lower.r = [1500, 0, 0] m\n")
    assert "E411 the written starts place the points of 'j2' 1.5e+03 m apart" in text and "the size of the mechanism is 2 m" in text
    assert "j2  revolute  (upper, lower)" in text and "^" in text and "start lower.r" in text


def test_a_loop_that_cannot_close_names_its_joint():
    text = told(FOUR_BAR + "motor planar_line_displacement (ground, b) at1 = [0, 0] m, at2 = [Cx, Cy], l = 2 m\n")
    assert "E412" in text and "apart" in text and "planar_revolute" in text


def test_starts_in_one_dimension_never_yield():
    text = "use translational\nm1 mass (a) m = 1 kg\nw weld (a, b)\nm2 mass (b) m = 1 kg\nstart a.x = 1 mm\nstart b.x = 1.001 mm\n"
    assert "E410" in told(text + "run transient(stop = 1 s, step = 1 s, method = euler)\n")


# ------------------------------------------------------------------------------------------------ cost


def test_singular_starts_cost_no_diagnosis(monkeypatch):
    """Where a start's square matrix is singular least change takes over; null spaces (30 times its cost on long ladders) are nobody's wish."""

    def refused(*_):
        raise AssertionError("null spaces were computed")

    monkeypatch.setattr(linear, "null_spaces", refused)
    matrix = columns_of(np.array([1.0, 1.0, 1.0, 1.0, 2.0]), np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), (3, 3))
    pivots = newton.Pivots()
    with pytest.raises(linear.SingularMatrix):
        pivots.of(matrix)
    step = newton.least_change(matrix, np.array([2.0, 2.0, 6.0]), lambda: diagonal_of(np.ones(3)), True, np.zeros(0), pivots)
    assert step == pytest.approx([1.0, 1.0, 3.0], abs=1e-9)


def test_redundant_loops_are_started_too():
    from netsim.library.files import models_folder

    path = models_folder() / "mechanisms" / "fourbar_spatial.net"
    text = path.read_text().replace("motor    hinge_angle (ground, a)  q = (6 rad/s)*time", "start pA.q = 30 deg")
    model = netsim.load("\n" + "\n".join(line for line in text.splitlines() if not line.startswith(("save", "plot"))) + "\nsave pA.q, pD.q\n")
    start_of_run(model.machine, model.structure)
    assert first(model.network.text, "pD.q") == pytest.approx(rocker_angle(np.radians(30)), abs=1e-9)


def test_a_start_analyses_each_stage_once(monkeypatch):
    """Rounding ends a stage and pivots serve all of its rounds: a start costs a few orderings, not sixty per stage."""
    analysed = []
    ordinary = linear.analyse
    monkeypatch.setattr(linear, "analyse", lambda *given, **how: (analysed.append(1), ordinary(*given, **how))[1])
    links = "\n".join(f"j{k} revolute (a{k - 1}, a{k}) at = [{k}, 0, 0]*0.1 m, axis = [0, 1, 0]" for k in range(1, 13))
    bodies = "\n".join(f"b{k} body (a{k}) m = 0.1 kg, I = diag(1e-5, 9e-5, 9e-5)*1 kg.m2, at = [{k + 0.5}, 0, 0]*0.1 m" for k in range(1, 13))
    text = f"use spatial\n{links.replace('a0', 'ground')}\n{bodies}\nrun transient(stop = 1 ms, step = 1 ms, method = euler)\n"
    model = netsim.load(text)
    consistent_start(model.machine, model.structure)
    assert 1 <= len(analysed) <= 3


BRANCHES = """
use {library}
world gravity = [0, -9.81, 0] m/s2
b1 {body} (a) m = 1 kg, I = {one}, at = [0, 0.5{zero}] m
b2 {body} (b) m = 1 kg, I = {one}, at = [{cx}/2, (1 + {cy})/2{zero}] m
b3 {body} (c) m = 1 kg, I = {one}, at = [(4 + {cx})/2, {cy}/2{zero}] m
crank {hinge} (ground, a) at = [0, 0{zero}] m
knee  {hinge} (a, b)      at = [0, 1{zero}] m
elbow {hinge} (b, c)      at = [{cx}, {cy}{zero}] m
rock  {hinge} (ground, c) at = [4, 0{zero}] m
{starts}
run transient(stop = 1 ms)
save crank.q, knee.q, elbow.q
"""
IN_PLANE = {"library": "planar", "body": "planar_body", "hinge": "planar_revolute", "one": "1 kg.m2", "zero": ""}
IN_SPACE = {"library": "spatial", "body": "body", "hinge": "revolute", "one": "diag(1, 1, 1) kg.m2", "zero": ", 0"}


def elbows(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The elbow above and below the line from the crank's end (1 m, turned from where it is drawn) to the ground's (4 m): bars of 4 and 3 m."""
    crank, ground = np.array([-np.sin(angle), np.cos(angle)]), np.array([4.0, 0.0])
    span = np.linalg.norm(ground - crank)
    along = (ground - crank) / span
    x = (16 - 9 + span**2) / (2 * span)
    across = np.sqrt(16 - x * x) * np.array([-along[1], along[0]])
    return crank + x * along + across, crank + x * along - across


def bent(elbow: np.ndarray, angle: float) -> float:
    """The angle from the coupler to the rocker."""
    crank = np.array([-np.sin(angle), np.cos(angle)])
    return float(np.subtract(*(np.arctan2(v[1], v[0]) for v in (np.array([4.0, 0.0]) - elbow, elbow - crank))))


@pytest.mark.parametrize("kind", [IN_PLANE, IN_SPACE], ids=["plane", "space"])
@pytest.mark.parametrize("angle", [0.0, 0.2])
@pytest.mark.parametrize("guess", [None, -100.0, -140.0, 15.0])
def test_a_guess_chooses_the_branch(kind, angle, guess):
    """A four-bar closes with its elbow above or below, whichever is nearer to what is guessed; its crank stands where it is written."""
    cx, cy = elbows(0.0)[0]
    starts = f"start crank.q = {angle} rad" + (f"\nguess elbow.q = {guess} deg" if guess is not None else "")
    first = netsim.load(BRANCHES.format(**kind, cx=cx, cy=cy, starts=starts)).samples()[-1].values[0]
    branches = [bent(elbow, angle) - bent(np.array([cx, cy]), 0.0) for elbow in elbows(angle)]
    expected = branches[0 if guess is None or guess > 0 else 1]
    assert abs(first[0] - angle) < 1e-12
    assert abs(np.angle(np.exp(1j * (first[2] - expected)))) < 1e-9


@pytest.mark.parametrize(("angle", "moved"), [("0 rad", ""), ("0.3 rad", "n moved 299 mm and turned 17.2 deg")])
def test_a_start_beside_an_equilibrium_is_told_from_the_drawing(angle, moved):
    """A hinge held where it is drawn has not moved, although its equilibrium is elsewhere."""
    text = f"""
use spatial
world gravity = [0, 0, -10] m/s2
b   body     (n)         m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [1, 0, 0] m
rev revolute (ground, n) at = [0, 0, 0] m, axis = [0, 1, 0], c = 20 N.m/rad
start rev.q = {angle}
run transient(stop = 1 ms, from = static)
"""
    assert netsim.load(text).samples()[-1].attributes["start_changes"] == moved
