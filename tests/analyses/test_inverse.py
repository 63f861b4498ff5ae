"""The inverse analysis against closed forms and against Newton and Euler's equations; its two procedures against each other; its refusals."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import netsim
import newton_euler as ne
from netsim.library.files import models_folder
from netsim.text.errors import InputError, SimulationError

MODELS = models_folder()
BELL = "0.1 m*bell(time, at = 1 s, width = 0.2 s)"
CARTS = """
use translational
m1 mass (a) m = 2 kg
s1 spring (a, b) c = 200 N/m
m2 mass (b) m = 1 kg
d1 damper (b, ground) d = 3 N.s/m
push force (b) F = 0 N
pull force (a) F = 0 N
mid relative_force (a, b) F = 0 N
fix displacement (z, ground) s = 0 m
m3 mass (z) m = 1 kg
save a.x, b.x, push.F, pull.F, mid.F
"""


def carts(track, actuators, **options):
    given = {"stop": 2.0, "step": 2e-3, **options}
    return netsim.load(CARTS).inverse(track=track, actuators=actuators, **{n: value for n, value in given.items() if value is not None})


def off(found, wanted):
    return np.abs(np.asarray(found) - wanted).max() / np.abs(wanted).max()


def derivatives(expression, times, order):
    """An expression of ne.TIME and its rates, as series."""
    found = [expression]
    for _ in range(order):
        found.append(ne.rate(found[-1]))
    function = ca.Function("rates", [ne.TIME], found)
    return [np.array([float(function(t)[k]) if order else float(function(t)) for t in times]) for k in range(order + 1)]


# ------------------------------------------------------------------------------------------------ closed forms


def test_voltage_behind_an_inductance():
    """v = R i + L i' + k w with i = (J w' + d w)/k: three derivatives of the angle."""
    data = netsim.load(MODELS / "motor_angle.net").samples()[0]
    _, w, dw, ddw = derivatives(2 * ne.bell(1, 0.2), data.time, 3)
    i, di = (1e-4 * dw + 1e-5 * w) / 0.05, (1e-4 * ddw + 1e-5 * dw) / 0.05
    assert off(data.series("src.v"), i + 0.5e-3 * di + 0.05 * w) < 1e-13
    assert "third derivative of shaft.phi" in data.attributes["notes"]


def test_force_behind_a_spring():
    """b = a + m1 a''/c, F = m2 b'' + d b' + c (b - a): four derivatives."""
    data = carts({"a.x": BELL}, ["push.F"])
    a, da, dda, d3a, d4a = derivatives(0.1 * ne.bell(1, 0.2), data.time.values, 4)
    b, db, ddb = a + 2 * dda / 200, da + 2 * d3a / 200, dda + 2 * d4a / 200
    assert off(data["push.F"], ddb + 3 * db + 200 * (b - a)) < 1e-12
    assert off(data["b.x"], b) < 1e-13


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_steps_may_be_chosen_by_the_error(rtol):
    """Without a step Radau goes by tolerance, through index 4 and 6 too, and the forward run stays as near."""
    text = (MODELS / "motor_angle.net").read_text(encoding="utf-8")
    (motor,) = netsim.load(text.replace("step = 1 ms", f"rtol = {rtol}, sample = 10 ms")).samples()
    _, w, dw, ddw = derivatives(2 * ne.bell(1, 0.2), motor.time, 3)
    i, di = (1e-4 * dw + 1e-5 * w) / 0.05, (1e-4 * ddw + 1e-5 * dw) / 0.05
    assert off(motor.series("src.v"), i + 0.5e-3 * di + 0.05 * w) < 1e-13
    free = netsim.load(CARTS).inverse(track={"b.x": BELL}, actuators=["push.F"], stop=2.0, sample=0.02, rtol=rtol)
    fine = netsim.load(CARTS).inverse(track={"b.x": BELL}, actuators=["push.F"], stop=2.0, sample=0.02, rtol=1e-11)
    assert off(free["push.F"], fine["push.F"].values) < rtol


def test_a_free_mass_behind_the_followed_one_moves_by_itself():
    """The inputs hold at every instant although the first mass is free: F = m2 b'' + d b' + c (b - a) at the a that the run itself found."""
    data = carts({"b.x": BELL}, ["push.F"], method="generalized_alpha")
    b, db, ddb = derivatives(0.1 * ne.bell(1, 0.2), data.time.values, 2)
    assert off(data["push.F"], ddb + 3 * db + 200 * (b - data["a.x"].values)) < 1e-12


# ---------------------------------------------------------------------------------------------- Newton and Euler


def stewart(time):
    """The six forces of the shipped Stewart platform, body by body."""
    base, top, height, m_plate = 0.5, 0.3, 0.6, 20.0
    alpha = ca.asin(0.1 * ne.bell(2, 2 / 3))
    p = ne.vector(0.05 * ca.sin(ca.pi * ne.TIME), 0.05 * (1 - ca.cos(ca.pi * ne.TIME)), height + 0.08 * ne.bell(2, 0.5))
    plate = ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, ca.cos(alpha), -ca.sin(alpha)), ca.horzcat(0, ca.sin(alpha), ca.cos(alpha)))
    bodies, wrenches = [ne.Body(m_plate, np.diag([0.5, 0.5, 0.9]), p, plate)], []
    for k, letter in enumerate("ABCDEF"):
        centre, side = np.deg2rad(60 + 120 * (k // 2)), 2 * (k % 2) - 1
        phi1, phi2 = centre + side * np.deg2rad(10), centre + side * np.deg2rad(50)
        foot, head = base * np.array([np.cos(phi1), np.sin(phi1), 0]), np.array([top * np.cos(phi2), top * np.sin(phi2), height])
        drawn = (head - foot) / np.linalg.norm(head - foot)
        tangent = np.array([-np.sin(phi1), np.cos(phi1), 0])
        tangent = tangent - tangent @ drawn * drawn
        tangent /= np.linalg.norm(tangent)
        frame = np.column_stack([drawn, tangent, np.cross(drawn, tangent)])
        q = p + plate @ ca.DM(head - np.array([0, 0, height]))
        e = ne.unit(q - ca.DM(foot))
        third = ne.unit(ca.cross(e, ca.DM(tangent)))
        second = ca.cross(third, e)
        turn = ca.horzcat(e, second, third) @ ca.DM(frame.T)
        lower, upper = len(bodies), len(bodies) + 1
        bodies.append(ne.Body(1.5, frame @ np.diag([0.001, 0.02, 0.02]) @ frame.T, ca.DM(foot) + 0.2 * e, turn))
        bodies.append(ne.Body(1.0, frame @ np.diag([0.0005, 0.01, 0.01]) @ frame.T, q - 0.15 * e, turn))
        axes = [ca.SX(ca.DM(row)) for row in np.eye(3)]
        wrenches += [ne.Wrench(f"cardan{letter}{i}", ne.GROUND, lower, axis, ca.SX(ca.DM(foot))) for i, axis in enumerate(axes)]
        wrenches.append(ne.Wrench(f"cardan{letter}3", ne.GROUND, lower, ca.cross(ca.DM(tangent), third)))
        wrenches += [ne.Wrench(f"slide{letter}{i}", lower, upper, axis, q) for i, axis in enumerate((second, third))]
        wrenches += [ne.Wrench(f"slide{letter}{i + 2}", lower, upper, axis) for i, axis in enumerate(axes)]
        wrenches.append(ne.Wrench(f"leg{letter}.drive.F", lower, upper, e, q))
        wrenches += [ne.Wrench(f"ball{letter}{i}", upper, 0, axis, q) for i, axis in enumerate(axes)]
    return ne.solve(bodies, wrenches, [0, 0, 9.81], time)


@cache
def solved(model, step):
    """The forces of a model's own run, in one pass, with another step."""
    return netsim.load(MODELS / model).samples({"step": step})[0]


def test_stewart_platform():
    data = solved("mechanisms/stewart_platform.net", 0.02)
    wanted = stewart(data.time)
    for letter in "ABCDEF":
        assert off(data.series(f"leg{letter}.drive.F"), wanted[f"leg{letter}.drive.F"]) < 1e-9


def bar(at1, at2):
    """The rotation of a bar between two points of the plane from one along x."""
    x = ne.unit(at2 - at1)
    return ca.horzcat(x, ne.vector(-x[1], x[0], 0), ne.vector(0, 0, 1))


def five_bar(time):
    x, y = 0.03 * ca.sin(2 * ca.pi * ne.TIME), -0.38 - 0.02 * ca.cos(2 * ca.pi * ne.TIME)
    pin, bodies, wrenches = ne.vector(x, y, 0), [], []
    axes = [ca.SX(ca.DM(row)) for row in np.eye(3)]
    outer = np.hypot(0.1, 0.2)
    for k, (side, name) in enumerate(((-1, "mA.T"), (1, "mB.T"))):
        base = ca.SX(ca.DM([0.1 * side, 0, 0]))
        line = pin - base
        distance = ca.sqrt(ca.dot(line, line))
        along = (0.2**2 - outer**2 + distance**2) / (2 * distance)
        across = ca.sqrt(0.2**2 - along**2)
        normal = ne.vector(-line[1], line[0], 0) / distance
        elbow = base + along * line / distance + side * across * normal
        for first, second, length in ((base, elbow, 0.2), (elbow, pin, outer)):
            bodies.append(ne.Body(0.1, np.diag([0, 1, 1]) * 0.1 * length**2 / 12, (first + second) / 2, bar(first, second)))
        crank, coupler = 2 * k, 2 * k + 1
        wrenches += [ne.Wrench(f"base{k}{i}", ne.GROUND, crank, axes[i], base) for i in range(2)]
        wrenches.append(ne.Wrench(name, ne.GROUND, crank, axes[2]))
        wrenches += [ne.Wrench(f"elbow{k}{i}", crank, coupler, axes[i], elbow) for i in range(2)]
    wrenches += [ne.Wrench(f"pin{i}", 1, 3, axes[i], pin) for i in range(2)]
    return ne.solve(bodies, wrenches, [0, -9.81, 0], time, rows=(0, 1, 5))


def test_five_bar():
    data = solved("mechanisms/five_bar_inverse.net", 0.01)
    wanted = five_bar(data.time)
    for name in ("mA.T", "mB.T"):
        assert off(data.series(name), wanted[name]) < 1e-9


# ------------------------------------------------------------------------------------------------ the two procedures


@pytest.mark.parametrize(("model", "step"), [("mechanisms/five_bar_inverse.net", 0.01), ("mechanisms/stewart_platform.net", 0.02)])
def test_one_pass_and_two_agree(model, step):
    text = (MODELS / model).read_text(encoding="utf-8")
    one, two = solved(model, step), netsim.load(text.replace("run  inverse(", "run  inverse(passes = 2, ")).samples({"step": step})[0]
    for signal in one.signals:
        if signal.name.endswith((".F", ".T")):
            assert off(two.series(signal.name), one.series(signal.name)) < 1e-9
    assert (one.attributes["passes"], two.attributes["passes"]) == (1, 2)


def test_the_tripod_at_once_and_in_stages():
    """One pass from the marker's path equals the paper's second and third stage, forces and elongations."""
    overrides = {"stop": "20 s", "h": "50 ms"}
    once, stages = (netsim.load(MODELS / f"tripod/{name}.net").with_params(**overrides).samples()[0] for name in ("inverse", "stage3"))
    for rod in "ABC":
        assert off(once.series(f"{rod}.F"), stages.series(f"{rod}.F")) < 1e-9
        assert off(once.series(f"{rod}.k"), stages.series(f"{rod}.k")) < 1e-12


def test_tables_of_samples_keep_five_digits(tmp_path):
    """The tripod's forces from the marker's path through cubic tables of samples every 10 ms; through the run's own rates they keep all digits."""
    path = netsim.load(MODELS / "tripod/stage1.net").samples()[0]
    marker = [path.series(f"M.{c}").tolist() for c in "xyz"]
    rows = "".join(",".join(map(repr, row)) + "\n" for row in zip(path.time.tolist(), *marker))
    (tmp_path / "path.csv").write_text("time [s],x [m],y [m],z [m]\n" + rows)
    motions = {f"M.{c}": f'table("{tmp_path}/path.csv", time, "{c}")' for c in "xyz"}
    with netsim.allow(tmp_path):
        sampled = netsim.load(MODELS / "tripod/inverse.net").inverse(motions, ["A.F", "B.F", "C.F"], stop=30.0, step=0.01)
    for rod in "ABC":
        assert 1e-9 < off(sampled[f"{rod}.F"], path.series(f"{rod}.F")) < 1e-5


def strays(data, signal):
    """How far a signal strays in the forward run, by the notes of a result."""
    return float(data.attrs["notes"].split(f"{signal} deviates by ")[1].split()[0])


def farthest(data):
    """The share of its range by which the worst state strays."""
    return float(data.attrs["notes"].split("deviates most: by ")[1].split()[0])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_the_forward_run_keeps_to_the_motion(rtol):
    """All states of the free run under the inputs that were found keep to the tolerance, the free mass too."""
    data = carts({"b.x": BELL}, ["push.F"], step=None, sample=0.01, rtol=rtol)
    assert strays(data, "b.x") < 20 * rtol * 0.1
    assert farthest(data) < 20 * rtol
    assert "error of" not in data.attrs["notes"]


def test_whose_error_a_deviation_is():
    """The states that generalized-alpha's steps find wrong are of second order, and the forward run tells that they are not its own."""
    found = [farthest(data) for data in (carts({"b.x": BELL}, ["push.F"], step=h, method="generalized_alpha") for h in (0.01, 0.005))]
    assert 1.85 < np.log2(found[0] / found[1]) < 2.15
    data = carts({"b.x": BELL}, ["push.F"], step=0.01, method="generalized_alpha")
    assert "this is the error of the inverse run (its steps of 0.01 s have no error test)" in data.attrs["notes"]


# ------------------------------------------------------------------------------------------------ what the motions leave free

ARM = """
use planar
l1   planar_bar           (a)          m = {m} kg, at1 = [0, 0] m, at2 = [{l1}, 0] m
l2   planar_bar           (b)          m = {m} kg, at1 = [{l1}, 0] m, at2 = [{both}, 0] m
A    planar_revolute      (ground, a)  at = [0, 0] m
B    planar_revolute      (a, b)       at = [{l1}, 0] m
k    planar_hinge_spring  (a, b)       c = {c} N.m/rad
T    planar_hinge_torque  (ground, a)  T = 0 N.m
tip  planar_marker        (b)          at = [{both}, 0] m
save tip.r, T.T, A.q, B.q
"""


def arm(size=1.0, force=1.0):
    """Netlist and growth rate of an arm with an elastic hinge, of a size and with forces, whose tip is followed: with m2 (l2/2)(l1 - l1/2) q''
    - m2 l2^2/12 l1/l2 q'' = c (1 + l1/l2) q at small angles s^2 = 6 c (l1 + l2)/(m2 l1 l2^2)."""
    l1, l2, m, c = 0.4 * size, 0.6 * size, 0.5 * force / size, 100.0 * force * size
    return ARM.format(m=m, l1=l1, both=l1 + l2, c=c), np.sqrt(6 * c * (l1 + l2) / (m * l1 * l2**2))


@pytest.mark.parametrize(("size", "force"), [(1.0, 1.0), (1e-3, 1.0), (1.0, 1e6), (1e-3, 1e-6)])
def test_unstable_zero_dynamics_are_refused_by_their_growth(size, force):
    """The pole has its closed form at every scale, and a run is refused where e^(s stop) exceeds the bound, not where it is within."""
    text, rate = arm(size, force)
    track = {"tip.r.y": f"{1e-5 * size} m*smooth_step(time*{rate / 5} s^-1, 4)"}
    with pytest.raises(InputError) as wrong:
        netsim.load(text).inverse(track=track, actuators=["T.T"], stop=10 / rate)
    problem = wrong.value.problems[0]
    assert problem.code == "E445"
    assert "a.phi" in problem.message and "b.phi" in problem.message
    assert float(problem.message.split("e^(t/")[1].split(" s)")[0]) == pytest.approx(1 / rate, rel=5e-3)
    assert float(problem.message.split("errors grow ")[1].split("-fold")[0]) == pytest.approx(np.exp(10.0), rel=5e-3)
    data = netsim.load(text).inverse(track=track, actuators=["T.T"], stop=5 / rate)
    assert f"{np.exp(5.0):.3g}-fold during the run" in data.attrs["notes"]
    assert farthest(data) < 20e-6 * np.exp(5.0)


@pytest.mark.parametrize("force", [1.0, 1e6])
def test_an_effort_beyond_the_machine_s_scale_ends_the_run(force):
    text = arm(force=force)[0]
    track = "0.01 m*bell(time, at = 0.3 s, width = 0.1 s)"
    line = f"run inverse(track = [tip.r.y = {track}], actuators = [T.T], stop = 1 s, growth = 1e60)\n"
    run = netsim.load(text + line).samples()[0]
    assert not run.finished
    assert run.attributes["failure"].code == "E518"
    torque = np.abs(run.series("T.T"))
    assert torque[-1] < 1e9 * force
    assert np.all(torque[:-1] < torque[-1])


@pytest.mark.parametrize("stop", [2.0, 2000.0])
def test_what_only_swings_is_not_refused(stop):
    """A mass on an undamped spring behind the followed one has its poles on the axis: +-10j, at any length of the run."""
    from netsim.analyses.inverse.zero_dynamics import poles
    from netsim.simulate.setup.start_of_run import start_of_run

    held = netsim.load(CARTS.replace("push force (b) F = 0 N", "push displacement (b, ground) s = 0 m").replace("push.F", "push.f"))
    machine, _, g, _ = start_of_run(held.machine, held.structure)
    found = poles(machine, g).rates
    swinging = found[np.abs(found) > 1e-6]
    assert np.sort(swinging.imag) == pytest.approx([-10.0, 10.0], rel=1e-12)
    assert np.all(found.real == 0.0)


ELASTIC = """
use rotational
motor  inertia         (a)     J = {J1} kg.m2
shaft  torsion_spring  (a, b)  c = {c} N.m/rad
arm    inertia         (b)     J = {J2} kg.m2
T      torque          (a)     T = 0 N.m
save a.phi, b.phi, T.T
"""


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 2e-9, 1e-9, 1e-10])
@pytest.mark.parametrize("force", [1.0, 1e6])
def test_an_elastic_joint_at_every_tolerance(rtol, force):
    """phi_a = phi + J2 phi''/c, T = J1 phi_a'' + J2 phi'': four derivatives; a smaller tolerance makes no step too short for them."""
    j1, j2, c = 0.01 * force, 0.5 * force, 200.0 * force
    text = ELASTIC.format(J1=j1, J2=j2, c=c)
    data = netsim.load(text).inverse({"b.phi": "1 rad*bell(time, at = 1 s, width = 0.2 s)"}, ["T.T"], stop=2.0, sample=0.02, rtol=rtol)
    phi, _, d2, _, d4 = derivatives(ne.bell(1, 0.2), data.time.values, 4)
    assert off(data["T.T"], (j1 + j2) * d2 + j1 * j2 / c * d4) < 1e-12
    assert off(data["a.phi"], phi + j2 / c * d2) < 20 * rtol


DAMPED = ELASTIC.replace("torsion_spring  (a, b)  c = {c} N.m/rad", "torsion_spring_damper (a, b) c = {c} N.m/rad, d = 1 N.m.s/rad")


def relaxing(times):
    """z = phi_a - phi of an elastic joint with a damper, d z' + c z = J2 phi'': c = 200, d = 1, J2 = 0.5; by a quadrature of its own."""
    d2 = ca.Function("d2", [ne.TIME], [ne.rate(ne.rate(ne.bell(1, 0.2)))])
    fine = np.linspace(0.0, times[-1], 20 * round(times[-1] / 1e-3) + 1)
    drive = 0.5 * np.array(d2.map(len(fine))(fine[None, :])).ravel()
    h, found = fine[1], np.zeros(len(fine))
    decay = np.exp(-200.0 * h)
    first = (1.0 - decay) / 200.0  # exact for drives that are straight within h
    second = (1.0 - first / h) / 200.0
    for k in range(len(fine) - 1):
        found[k + 1] = decay * found[k] + (first - second) * drive[k] + second * drive[k + 1]
    return np.interp(times, fine, found)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_an_elastic_joint_with_a_damper(rtol):
    """d z' + c z = J2 phi'': what relaxes behind the prescribed motion is a state, and keeps to the tolerance."""
    text = DAMPED.format(J1=0.01, J2=0.5, c=200)
    data = netsim.load(text).inverse({"b.phi": "1 rad*bell(time, at = 1 s, width = 0.2 s)"}, ["T.T"], stop=2.0, sample=0.02, rtol=rtol)
    assert np.abs((data["a.phi"] - data["b.phi"]).values - relaxing(data.time.values)).max() < 20 * rtol


def test_rounding_of_third_derivatives_is_told():
    """The velocity behind the damper follows the second derivative of what is prescribed: its rounding eps/h^2 is above 1e-10 in the steps that this
    tolerance wants. A shorter step then has a larger estimate, which the message says instead of blaming an element."""
    text = DAMPED.format(J1=0.01, J2=0.5, c=200)
    with pytest.raises(netsim.SimulationError, match="rtol = 1e-10 is near the rounding errors of these equations: try rtol = 1e-09; derivatives"):
        netsim.load(text).inverse({"b.phi": "1 rad*bell(time, at = 1 s, width = 0.2 s)"}, ["T.T"], stop=2.0, sample=0.02, rtol=1e-10)


VESSEL = """
use hydraulic
use translational
use couplings
supply  flow      (chamber, ground)                Q = 0 m3/s
oil     volume    (chamber)                        V = 0.5 L
save chamber.p, supply.Q
"""


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_a_pressure_that_the_motion_determines(rtol):
    """A vessel that only a pump fills has no pressure at rest by itself, but the motion gives it: Q = V/K p'; also behind a cylinder, p = c x/A."""
    data = netsim.load(VESSEL).inverse({"chamber.p": "10 bar*smooth_step(time/(1 s), 4)"}, ["supply.Q"], stop=1.5, sample=0.01, rtol=rtol)
    slope = np.gradient(data["chamber.p"].values, data.time.values)
    assert off(data["supply.Q"], slope * (data["supply.Q"].values @ slope) / (slope @ slope)) < 1e-2
    text = VESSEL + "piston cylinder (chamber, ground, rod, ground) Aa = 1e-3 m2, Ab = 1e-3 m2\n"
    text += "press spring (rod, ground) c = 5e4 N/m\nknob mass (rod) m = 2 kg\n"
    data = netsim.load(text).inverse({"rod.x": "50 mm*smooth_step(time/(1 s), 4)"}, ["supply.Q"], stop=1.5, sample=0.01, rtol=rtol)
    assert float(data["chamber.p"][-1]) == pytest.approx(5e4 * 0.05 / 1e-3, rel=20 * rtol)


def test_what_no_motion_determines_is_still_told():
    apart = VESSEL + "other volume (far) V = 1 L\nthird volume (farther) V = 1 L\nhose pipe (far, farther) R = 1e9 Pa.s/m3\n"
    with pytest.raises(InputError, match="E302"):
        netsim.load(apart).inverse({"chamber.p": "10 bar*smooth_step(time/(1 s), 4)"}, ["supply.Q"], stop=1.5)


def test_a_polynomial_of_clipped_time_may_be_followed():
    """Four continuous derivatives by smooth_step and by its polynomial give the same forces through a spring; one of order 2 is refused (E306)."""
    u = "min(max(time/(1 s), 0), 1)"
    poly = f"0.1 m*(126*{u}^5 - 420*{u}^6 + 540*{u}^7 - 315*{u}^8 + 70*{u}^9)"
    found = [carts({"a.x": motion}, ["push.F"], step=0.01) for motion in (poly, "0.1 m*smooth_step(time/(1 s), 4)")]
    assert off(found[0]["push.F"], found[1]["push.F"].values) < 1e-10
    with pytest.raises(InputError, match="E306"):
        carts({"a.x": "0.1 m*smooth_step(time/(1 s), 2)"}, ["push.F"])


# ------------------------------------------------------------------------------------------------ spare actuators


def test_spare_actuators_share_in_the_least_norm():
    """Three forces on two masses: [push + mid on b, pull - mid on a], the shortest vector by the pseudoinverse."""
    track = {"b.x": BELL, "a.x": "0.5*0.1 m*bell(time, at = 1 s, width = 0.3 s)"}
    weights = [1.0, 2.0, 0.5]
    actuators = ["mid.F", "push.F", "pull.F"]
    for given in ({}, {"weights": weights}):
        data = carts(track, actuators, **given)
        t = data.time.values
        b, db, ddb = derivatives(0.1 * ne.bell(1, 0.2), t, 2)
        a, _, dda = derivatives(0.05 * ne.bell(1, 0.3), t, 2)
        needed = np.array([ddb + 3 * db + 200 * (b - a), 2 * dda + 200 * (a - b)])
        w = np.diag(1 / np.array(given.get("weights", [1.0, 1.0, 1.0])))
        effect = np.array([[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])  # mid pushes a and b apart: a is its first node
        wanted = w @ np.linalg.pinv(effect @ w) @ needed
        for k, name in enumerate(actuators):
            assert off(data[name], wanted[k]) < 1e-9
        assert "3 actuators for 2 motions: minimum" in data.attrs["notes"]


def redundant_platform(time, weights):
    """The four forces of the shipped platform: the least |w F| among all that balance every body."""
    p = ne.vector(0.1 * ne.bell(1, 0.3), 0.05 * ca.sin(2 * ca.pi * ne.TIME), 0)
    turn = ne.turned(0.2 * ne.bell(1, 0.4))
    bodies, wrenches = [ne.Body(4.0, np.diag([0, 0, 0.03]), p, turn)], []
    axes = [ca.SX(ca.DM(row)) for row in np.eye(3)]
    for letter, sx, sy in (("A", -1, -1), ("B", 1, -1), ("C", 1, 1), ("D", -1, 1)):
        foot = ca.SX(ca.DM([0.5 * sx, 0.5 * sy, 0]))
        q = p + turn @ ca.DM([0.1 * sy, -0.1 * sx, 0])
        e = ne.unit(q - foot)
        rotation = bar(foot, q)
        lower, upper = len(bodies), len(bodies) + 1
        bodies += [ne.Body(0.5, np.diag([0, 0, 0.002]), foot + 0.1 * e, rotation), ne.Body(0.3, np.diag([0, 0, 0.001]), q - 0.1 * e, rotation)]
        wrenches += [ne.Wrench(f"foot{letter}{i}", ne.GROUND, lower, axes[i], foot) for i in range(2)]
        wrenches += [ne.Wrench(f"leg{letter}.drive.F", lower, upper, e, q), ne.Wrench(f"slide{letter}", lower, upper, rotation[:, 1], q)]
        wrenches += [ne.Wrench(f"turn{letter}", lower, upper, axes[2])]
        wrenches += [ne.Wrench(f"head{letter}{i}", upper, 0, axes[i], q) for i in range(2)]
    named = {f"leg{letter}.drive.F": w for letter, w in zip("ABCD", weights)}
    return ne.solve(bodies, wrenches, [0, -9.81, 0], time, weights=named, rows=(0, 1, 5))


@pytest.mark.parametrize("weights", [(1, 1, 1, 1), (1, 3, 0.5, 1)])
def test_redundant_platform(weights):
    text = (MODELS / "mechanisms/redundant_platform.net").read_text(encoding="utf-8")
    data = netsim.load(text.replace("run  inverse(", f"run  inverse(weights = {list(weights)}, ")).samples({"step": 0.02})[0]
    wanted = redundant_platform(data.time, weights)
    for letter in "ABCD":
        assert off(data.series(f"leg{letter}.drive.F"), wanted[f"leg{letter}.drive.F"]) < 1e-8


# ------------------------------------------------------------------------------------------------ refusals

REFUSED = [
    ({"a.x": BELL, "b.x": BELL}, ["push.F"], "E432", "too few actuators"),
    ({"z.x": BELL}, ["push.F"], "E432", "no actuator moves z.x"),
    ({"b.x": BELL, "b.x - a.x": "0 m", "a.x": "0 m"}, ["push.F", "mid.F", "pull.F"], "E432", "independently"),
    ({"b.x": "0.1 m*ramp(time/(1 s), at = 1)"}, ["push.F"], "E306", "the motion of b.x is not smooth enough"),
    ({"b.x": BELL}, ["push.F", "mid.F"], "E436", "do not determine the whole movement"),
    ({"b.x": BELL}, ["push.x"], "E431", "not an input"),
    ({"b.x": BELL}, ["pusch.F"], "E431", "no element 'pusch'"),
    ({"b.x": BELL}, ["push.F", "push.F"], "E431", "twice"),
    ({"c.x": BELL}, ["push.F"], "E206", "nothing is called 'c.x'"),
    ({"b.x": "1 N"}, ["push.F"], "E202", "m is wanted"),
    ({"3 m": BELL}, ["push.F"], "E430", "no signal"),
]


@pytest.mark.parametrize("track, actuators, code, words", REFUSED)
def test_what_cannot_work_is_refused_in_the_user_s_words(track, actuators, code, words):
    with pytest.raises(InputError) as wrong:
        carts(track, actuators)
    problem = wrong.value.problems[0]
    assert problem.code == code
    assert words in problem.message


def test_what_dry_friction_holds_where_it_begins_is_told():
    text = "use translational\nm1 mass (a) m = 1 kg\nf1 coulomb_friction (a, ground) F = 1 N\npush force (a) F = 0 N\n"
    with pytest.raises(InputError, match=r"no actuator moves a\.x") as wrong:
        netsim.load(text).inverse({"a.x": "0.1 m*sin(time/(1 s))^3"}, ["push.F"], stop=1.0)
    assert "held by dry friction where it begins" in wrong.value.problems[0].hint


def test_the_second_pass_needs_a_coordinate():
    track, actuators = {"b.x": BELL, "a.x": "0 m"}, ["push.F", "mid.F"]
    one, two, told = (carts(track, actuators, **given) for given in ({}, {"passes": 2}, {"passes": 2, "coordinates": ["b.x", "mid.s"]}))
    assert off(two["mid.F"], one["mid.F"].values) < 1e-9
    assert off(told["mid.F"], one["mid.F"].values) < 1e-9
    motor, angle = netsim.load(MODELS / "motor_angle.net"), {"shaft.phi": "1 rad*bell(time, at = 1 s, width = 0.2 s)"}
    with pytest.raises(InputError, match="write coordinates"):
        motor.inverse(track=angle, actuators=["src.v"], passes=2, stop=2.0, step=0.01)


@pytest.mark.parametrize(
    "option, words",
    [("passes = 3", "passes must be 1 or 2"), ("weights = [1, 2]", "one for each actuator"), ("track = [b.x]", "pairs signal = motion")],
)
def test_options_are_checked(option, words):
    text = CARTS + f"run inverse(track = [b.x = {BELL}], actuators = [push.F], stop = 1 s, step = 1 ms, {option})\n"
    if option.startswith("track"):
        text = text.replace(f"track = [b.x = {BELL}], ", "")
    with pytest.raises(InputError, match=words):
        netsim.load(text).samples()


LIFT = """
use hydraulic
use translational
use couplings
p pressure (s, ground) p = 10 MPa
v valve (s, a) opening = 0.5, A = 10 mm2
c chamber_piston (a, x, ground) A = 10 cm2, V0 = 100 cm3, K = 1 GPa
m mass (x) m = 100 kg
f force (x) F = -5 kN
run inverse(track = [x.x = 0.1 m*smooth_step(time/(0.3 s), 3)], actuators = [v.opening], stop = 0.5 s, from = rest)
"""


def test_a_valve_that_is_closed_is_named():
    """Its static solution has no pressure drop, which is no reason to refuse it. A closed valve leaks more than a piston at rest takes."""
    with pytest.raises(SimulationError) as told:
        netsim.load(LIFT).run()
    (problem,) = told.value.problems
    assert problem.code == "E502" and problem.message == "'v.opening' has no effect at t = 0 s"
    assert problem.span.line == 10 and "a valve that is closed" in problem.hint


def test_starts_of_an_inverse_problem_speak_of_the_actuators():
    with pytest.raises(SimulationError, match=r"E501.*'v\.opening' \(the signal x follows a motion\)"):
        netsim.load(LIFT.replace(", from = rest", "")).run()


@pytest.mark.parametrize("m", [1e-12, 1.0, 1e6])
@pytest.mark.parametrize("T", [1e-6, 1.0, 1e5, 1e9])
def test_forces_of_an_elastic_motion_of_any_mass_and_duration(m, T):
    """m at the force, 2 m behind a spring of c = 400 m/T^2: F = 3 m s'' + 2 m^2/c s''''. Motions of many hours were refused: at 100 rad/s the
    spring carries nothing, and the actuator seemed to move nothing."""
    data = netsim.load(
        f"use translational\na mass (x) m = {m} kg\nk spring (x, y) c = {400 * m / T**2} N/m\nb mass (y) m = {2 * m} kg\nf force (x) F = 0 N\n"
        f"run inverse(track = [y.x = 1 m*smooth_step(time/({T} s), 4)], actuators = [f.F], stop = {T} s, sample = {T / 50} s)\nsave f.F\n"
    ).samples()[0]
    step = np.polynomial.Polynomial([0] * 5 + [126, -420, 540, -315, 70])
    at = data.time / T
    assert off(data.series("f.F"), m / T**2 * (3 * step.deriv(2)(at) + step.deriv(4)(at) / 200)) < 1e-11


@pytest.mark.parametrize("S", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("T", "M"), [(1.0, 1.0), (1e-6, 1e-12), (1e6, 1e9)])
def test_torques_of_an_arm_of_every_size(S, T, M):
    """Two bars in gravity by Lagrange's equations, at lengths S, times T and masses M; an actuator counts however little it moves."""
    text = f"""use planar
world gravity = [0, {-9.81 * S / T**2}, 0] m/s2
l1 planar_bar (a) m = {0.5 * M} kg, at1 = [0, 0] m, at2 = [{0.4 * S}, 0] m
l2 planar_bar (b) m = {0.3 * M} kg, at1 = [{0.4 * S}, 0] m, at2 = [{0.7 * S}, 0] m
A planar_revolute (ground, a) at = [0, 0] m
B planar_revolute (a, b) at = [{0.4 * S}, 0] m
mA planar_hinge_torque (ground, a) T = 0 N.m
mB planar_hinge_torque (a, b) T = 0 N.m
save A.q, B.q, mA.T, mB.T
"""
    track = {f"{joint}.q": f"{size} rad*(1 - cos(2*pi*time/({T} s)))" for joint, size in (("A", 0.5), ("B", 0.8))}
    found = netsim.load(text).inverse(track=track, actuators=["mA.T", "mB.T"], stop=1.7 * T)
    w, x = 2 * np.pi, found.time.values / T
    q, v, a = ([size * each for size in (0.5, 0.8)] for each in (1 - np.cos(w * x), w / T * np.sin(w * x), (w / T) ** 2 * np.cos(w * x)))
    m1, m2, l1, l2, g = 0.5 * M, 0.3 * M, 0.4 * S, 0.3 * S, 9.81 * S / T**2
    inner, coupled = m2 * l2**2 / 3, m2 * l1 * l2 / 2
    cross, weight = inner + coupled * np.cos(q[1]), m2 * g * l2 / 2 * np.cos(q[0] + q[1])
    first = (m1 * l1**2 / 3 + inner + m2 * l1**2 + 2 * coupled * np.cos(q[1])) * a[0] + cross * a[1]
    first += (m1 / 2 + m2) * g * l1 * np.cos(q[0]) + weight - coupled * np.sin(q[1]) * (2 * v[0] + v[1]) * v[1]
    second = cross * a[0] + inner * a[1] + coupled * np.sin(q[1]) * v[0] ** 2 + weight
    assert found["mA.T"].values == pytest.approx(first, abs=1e-9 * np.abs(first).max())
    assert found["mB.T"].values == pytest.approx(second, abs=1e-9 * np.abs(second).max())
