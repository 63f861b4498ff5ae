"""Robots from URDF: the same dynamics as Pinocchio's and as the recursions', names and placement, and what is said of mistakes in the file."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from netsim.formats.urdf.netlist import robot_program
from netsim.formats.urdf.reading import read_robot, rotation
from netsim.library.files import models_folder
from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.forward import aba
from netsim.multibody.tree.algorithms.inverse import rnea
from netsim.multibody.tree.algorithms.observers import placements
from netsim.multibody.tree.robot import robot_tree
from netsim.text.errors import InputError, render
from netsim.text.parse import parse
from netsim.text.show import show

ROBOTS = models_folder() / "robots"
PUMA, GRIPPER = ROBOTS / "puma.urdf", ROBOTS / "gripper.urdf"
CASES = [(PUMA, False), (GRIPPER, False), (GRIPPER, True)]
G = 9.81


@pytest.fixture(autouse=True)
def _robots_lie_here(tmp_path):
    """The netlists of these tests are texts, which name files by their full paths."""
    with netsim.allow(tmp_path):
        yield


def pinocchio():
    return pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'netsim-acausal[robots]'")


def twin(path, robot, floating=False):
    """Pinocchio's model, the places of its velocities in ours, and its positions for ours (cosine and sine of what turns for ever)."""
    pin = pinocchio()
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(str(path))
    model.gravity.linear = np.array([0, 0, -G])
    order = np.zeros(model.nv, int)
    joints = {name: model.joints[model.getJointId(name)] for name, part in robot.velocity.items() if part.stop > part.start}
    for name, joint in joints.items():
        order[joint.idx_v : joint.idx_v + joint.nv] = np.arange(robot.velocity[name].start, robot.velocity[name].stop)

    def positions(q):
        theirs = np.zeros(model.nq)
        for name, joint in joints.items():
            own = q[robot.position[name]]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(own[0]), np.sin(own[0])] if joint.nq == 2 else own
        return theirs

    return pin, model, model.createData(), order, positions


def state(robot, seed, floating=False):
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=robot.tree.nq), rng.normal(size=robot.tree.nv), rng.normal(size=robot.tree.nv)
    if floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, v, a


def close(ours, theirs, tolerance):
    return np.max(np.abs(ours - theirs)) <= tolerance * np.max(np.abs(theirs))


# ---------------------------------------------------------------------------------------------- the tree alone


@pytest.mark.parametrize("path, floating", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_has_the_dynamics_of_pinocchio(path, floating, seed):
    robot = robot_tree(path, (0, 0, -G), floating, friction=False)
    pin, model, data, order, positions = twin(path, robot, floating)
    assert model.nv == robot.tree.nv
    q, v, a = state(robot, seed, floating)
    theirs = positions(q)
    tau = rnea(robot.tree, q, v, a)
    assert close(tau[order], pin.rnea(model, data, theirs, v[order], a[order]), 1e-12)
    assert close(aba(robot.tree, q, v, tau)[order], pin.aba(model, data, theirs, v[order], tau[order]), 1e-10)
    upper = np.triu(pin.crba(model, data, theirs))
    assert close(crba(robot.tree, q)[np.ix_(order, order)], upper + np.triu(upper, 1).T, 1e-12)


@pytest.mark.parametrize("path, floating", CASES)
def test_links_stand_where_pinocchio_has_their_frames(path, floating):
    robot = robot_tree(path, (0, 0, -G), floating)
    pin, model, data, _, positions = twin(path, robot, floating)
    q = state(robot, 5, floating)[0]
    pin.framesForwardKinematics(model, data, positions(q))
    ours = placements(robot.tree, q)
    for link in robot.robot.links:
        theirs = data.oMf[model.getFrameId(link.name, pin.FrameType.BODY)]
        assert np.allclose(ours[robot.tree.node[link.name]], theirs.homogeneous[:3], atol=1e-13)


def test_mimicry_reduces_as_in_pinocchio():
    robot = robot_tree(GRIPPER, (0, 0, -G), friction=False)
    pin = pinocchio()
    model = pin.buildModelFromUrdf(str(GRIPPER), mimic=True)
    model.gravity.linear = np.array([0, 0, -G])
    data, matrix = model.createData(), robot.reduction
    assert model.nv == matrix.shape[1] == 3
    q, v, a = (np.array(x) for x in ([0.1, 0.7, 0.02], [0.3, -0.4, 0.1], [1.0, 2.0, -3.0]))
    full = matrix @ q + robot.offset
    assert full[robot.velocity["thumb_hinge"]] == pytest.approx(12 * 0.02 + 0.2)
    at = [model.joints[model.getJointId(name)].idx_v for name in ("slide", "wrist", "finger_left")]
    theirs = np.zeros(model.nq)
    for name, value in zip(("slide", "wrist", "finger_left"), q):
        joint = model.joints[model.getJointId(name)]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(value), np.sin(value)] if joint.nq == 2 else value
    given = [np.zeros(3), np.zeros(3)]
    given[0][at], given[1][at] = v, a
    assert close(matrix.T @ rnea(robot.tree, full, matrix @ v, matrix @ a), pin.rnea(model, data, theirs, *given)[at], 1e-12)


# ------------------------------------------------------------------------------------------------ in a network

JOINTS = ("waist", "shoulder_pitch", "elbow", "forearm_roll", "wrist_pitch", "hand_roll")
WAYS = np.array([1.2, -0.8, 1.5, 0.6, -0.9, 2.0])


def test_the_arms_torques_are_those_of_pinocchio():
    """The torques that models/robots/puma.net finds along its cycloid, against inverse dynamics at the exact motion."""
    run = netsim.load(ROBOTS / "puma.net").transient(stop=2.0, step=2e-3, method="generalized_alpha")
    robot = robot_tree(PUMA, (0, 0, -G))
    pin, model, data, order, positions = twin(PUMA, robot)
    found = np.column_stack([run[f"{name}.drive"].values for name in JOINTS])
    w = np.pi
    rows = range(0, 1001, 50)
    for row in rows:
        t = float(run.time[row])
        s = (t / 2 - np.sin(w * t) / (2 * np.pi), (1 - np.cos(w * t)) / 2, w * np.sin(w * t) / 2)
        q, v, a = (x * WAYS for x in s)
        theirs = pin.rnea(model, data, positions(q), v[order], a[order])
        assert np.max(np.abs(found[row] - theirs)) <= 1e-9 * np.max(np.abs(found)), t


def test_the_inverse_analysis_finds_the_same_torques():
    """Motions of joints and torques on flanges, in one run of `inverse`; against the recursion."""
    motions = {f"arm.{n}.q": f"{k}*bell(time, at = 0.5 s, width = 0.2 s)" for n, k in zip(JOINTS, WAYS)}
    drives = "\n".join(f"{n} torque (arm.{n}_flange) T = 0 N.m" for n in JOINTS)
    model = netsim.load(f'use "{PUMA}"\nworld gravity = [0, 0, -9.81] m/s2\narm puma (ground)\n{drives}\n')
    run = model.inverse(motions, [f"{n}.T" for n in JOINTS], stop=0.6, step=0.01, save=[f"{n}.T" for n in JOINTS])
    tree = robot_tree(PUMA, (0, 0, -G)).tree
    found = np.column_stack([run[f"{n}.T"].values for n in JOINTS])
    for row in range(0, len(run.time), 6):
        x = (float(run.time[row]) - 0.5) / 0.2
        bell = np.exp(-x * x)
        expected = rnea(tree, WAYS * bell, WAYS * bell * -2 * x / 0.2, WAYS * bell * (4 * x * x - 2) / 0.04)
        assert np.max(np.abs(found[row] - expected)) <= 1e-9 * np.max(np.abs(found))


def fall(robot, q, v, times):
    """The free motion by articulated bodies and Runge-Kutta 8(5,3); mimic joints by the reduced mass matrix."""
    matrix, n = robot.reduction, robot.reduction.shape[1]

    def rates(_, x):
        full, speed = matrix @ x[:n] + robot.offset, matrix @ x[n:]
        if n == robot.tree.nv:
            return np.concatenate([x[n:], aba(robot.tree, full, speed, np.zeros(n))])
        bias = matrix.T @ rnea(robot.tree, full, speed, np.zeros(robot.tree.nv))
        return np.concatenate([x[n:], np.linalg.solve(matrix.T @ crba(robot.tree, full) @ matrix, -bias)])

    done = solve_ivp(rates, (0, times[-1]), np.concatenate([q, v]), "DOP853", times, rtol=1e-11, atol=1e-12)
    return (matrix @ done.y[:n]).T + robot.offset


@pytest.mark.parametrize(
    "path, name, joints, q, v, stop",
    [
        (PUMA, "puma", JOINTS, (0.2, -0.5, 0.4, 0.3, -0.6, 0.1), (1.0, 0.5, -1.0, 2.0, 1.0, -3.0), 0.4),
        (GRIPPER, "gantry_gripper", ("slide", "wrist", "finger_left"), (0.1, 0.3, 0.01), (0.5, 3.0, 0.02), 0.2),
    ],
    ids=["arm", "gripper"],
)
def test_free_motion_converges_to_that_of_the_recursions(path, name, joints, q, v, stop):
    """Second order: halving the step leaves a quarter of the distance, friction and mimicry included."""
    robot = robot_tree(path, (0, 0, -G))
    own = {joint: f"{joint}_joint" if joint.startswith("finger") else joint for joint in robot.velocity if joint != "camera"}
    starts = "\n".join(f"start r.{own[n]}.q = {x}\nstart r.{own[n]}.rate = {s}" for n, x, s in zip(joints, q, v))
    model = netsim.load(f'use "{path}"\nworld gravity = [0, 0, -9.81] m/s2\nr {name} (ground)\n{starts}\n')
    moving = [joint for joint, part in robot.velocity.items() if part.stop > part.start]
    signals = [f"r.{own[joint]}.q" for joint in moving]
    times = np.linspace(0, stop, 11)
    expected = fall(robot, np.array(q), np.array(v), times)[:, [robot.velocity[joint].start for joint in moving]]
    misses = []
    for steps in (400, 800):
        run = model.transient(save=signals, stop=stop, step=stop / steps, method="generalized_alpha")
        found = np.column_stack([run[signal].values for signal in signals])[:: steps // 10]
        misses.append(np.max(np.abs(found - expected)))
    print(misses)
    assert misses[1] <= 2e-5
    assert 3.5 <= misses[0] / misses[1] <= 4.5


def recursion(lines, stop, *saved, path=PUMA, rtol=1e-11):
    text = f'use "{path}"\nworld gravity = [0, 0, -9.81] m/s2\narm puma (ground)\n{lines}\n'
    run = netsim.load(f"{text}run recursion(stop = {stop}, sample = {stop / 10}, rtol = {rtol})\nsave {', '.join(saved)}\n").samples()[0]
    return run.time, np.column_stack([run.series(name) for name in saved])


def test_an_arm_runs_through_the_recursion(tmp_path):
    """Starts, friction at joints, what is welded to a link (a tool with mass) and torques on flanges; against the tree of the file alone."""
    path = tmp_path / "arm.urdf"
    text = PUMA.read_text()
    assert '<link name="tool"/>' in text
    elbow = text.index('<joint name="elbow"')
    text = text[:elbow] + text[elbow:].replace("</joint>", '<dynamics damping="0.7" friction="0.4"/></joint>', 1)
    path.write_text(text.replace('<link name="tool"/>', link("tool", 0.3)))
    q, v = np.array([0.2, -0.5, 0.4, 0.3, -0.6, 0.1]), np.array([1.0, 0.5, -1.0, 2.0, 1.0, -3.0])
    lines = [f"start arm.{n}.q = {x}\nstart arm.{n}.rate = {s}" for n, x, s in zip(JOINTS, q, v)]
    lines += ["push torque (arm.wrist_pitch_flange) T = 0.3 N.m*sin(4*time/(1 s))", "back relative_torque (ground, arm.waist_flange) T = 5 N.m"]
    with pytest.raises(InputError, match="'back'"):
        recursion("\n".join(lines), 0.4, "arm.waist.q", path=path)
    lines[-1] = "hold torque (arm.waist_flange) T = -5 N.m"
    times, found = recursion("\n".join(lines), 0.4, *(f"arm.{n}.q" for n in JOINTS), path=path)
    robot = robot_tree(path, (0, 0, -G))

    def rates(t, x):
        tau = np.array([-5.0, 0, 0, 0, 0.3 * np.sin(4 * t), 0])
        return np.concatenate([x[6:], aba(robot.tree, x[:6], x[6:], tau)])

    done = solve_ivp(rates, (0, 0.4), np.concatenate([q, v]), "DOP853", times, rtol=1e-12, atol=1e-13)
    assert found == pytest.approx(done.y[:6].T, abs=1e-8)
    assert np.ptp(found[:, 2]) > 0.1


def test_motions_of_flanges_through_the_recursion():
    """Angles and a speed of flanges are motions: the drives of models/robots/puma.net, with one source turned round."""
    text = (ROBOTS / "puma.net").read_text()
    text = text[: text.index("run ")].replace('use "puma.urdf"', f'use "{PUMA}"')
    text = text.replace("angle  (arm.elbow_flange, ground)           phi = 1.5", "angle  (ground, arm.elbow_flange)  phi = -1.5")
    names = [f"{n}.drive" for n in JOINTS]
    run = netsim.load(f"{text}run recursion(stop = 2 s, sample = 0.2 s)\nsave {', '.join(names)}, arm.hand_roll_flange.w\n").samples()[0]
    tree, signs = robot_tree(PUMA, (0, 0, -G)).tree, np.array([1, 1, -1, 1, 1, 1])
    w = np.pi
    for t, row in zip(run.time, np.column_stack([run.series(n) for n in names])):
        s = (t / 2 - np.sin(w * t) / (2 * np.pi), (1 - np.cos(w * t)) / 2, w * np.sin(w * t) / 2)
        assert row == pytest.approx(signs * rnea(tree, *(x * WAYS for x in s)), abs=1e-8)
    assert run.series("arm.hand_roll_flange.w") == pytest.approx(2 * (1 - np.cos(w * run.time)) / 2, abs=1e-12)


BOX = '<inertial><mass value="{}"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot_text(*parts):
    return '<robot name="odd">\n' + "\n".join(parts) + "\n</robot>\n"


def link(name, mass=1.0, inside=None):
    return f'<link name="{name}">{BOX.format(mass) if inside is None else inside}</link>'


def joint(name, kind, parent, child, inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


THROWN = robot_text(
    link("trunk", 3.0),
    link("leg"),
    link("puck", 0.5),
    link("ball", 0.7),
    joint("hip", "continuous", "trunk", "leg", '<origin xyz="0.1 0.2 0" rpy="0.3 0 0.4"/><axis xyz="0 1 1"/>'),
    joint("floor", "planar", "trunk", "puck", '<origin xyz="0 0 0.3" rpy="0 0.5 0"/><axis xyz="0 0.6 0.8"/>'),
    joint("loose", "floating", "leg", "ball", '<origin xyz="0 0 -0.5" rpy="0.2 0 0"/>'),
)


def test_floating_root_planar_and_floating_joints(tmp_path):
    """A robot that nothing carries and its parts fall as the recursion says: world positions and rotations after 0.2 s."""
    path = tmp_path / "thrown.urdf"
    path.write_text(THROWN)
    robot = robot_tree(path, (0, 0, -G), floating=True)
    tree = robot.tree
    q, v = np.zeros(tree.nq), np.zeros(tree.nv)
    q[robot.position["root_joint"]] = q[robot.position["loose"]] = [0, 0, 0, 0, 0, 0, 1]
    v[robot.velocity["root_joint"]] = [0.2, 0.1, 1.0, 0.4, 0.3, -0.5]
    v[robot.velocity["hip"]] = 3.0
    lines = ["start trunk.v = [0.2, 0.1, 1] m/s", "start trunk.w = [0.4, 0.3, -0.5]", "start r.hip.rate = 3", "start r.hip.q = 0"]
    world = placements(tree, q)
    turn = [0.4, 0.3, -0.5] + 3 * rotation(0.3, 0, 0.4) @ [0, np.sqrt(0.5), np.sqrt(0.5)]
    lever = world[tree.node["ball"]][:, 3] - world[tree.node["leg"]][:, 3]
    speed = np.array([0.2, 0.1, 1.0]) + np.cross([0.4, 0.3, -0.5], [0.1, 0.2, 0]) + np.cross(turn, lever)
    lines += [f"start r.ball.v = {list(map(float, speed))} m/s", f"start r.ball.w = {list(map(float, turn))}"]
    lines += [f"start r.floor.{c} = 0" for c in ("x", "y", "q")] + [f"start r.floor.{c} = 0" for c in ("ratex", "ratey", "rateq")]
    text = "\n".join([f'use "{path}"', "world gravity = [0, 0, -9.81] m/s2", "r odd (trunk)", *lines, ""])
    step, x, steps = 1e-3, np.concatenate([q, v]), 200
    for _ in range(steps):  # classical Runge-Kutta; quaternions by their rate, then made unit
        slopes = []
        for share, before in ((0.0, 0), (0.5, 0), (0.5, 1), (1.0, 2)):
            slopes.append(rates(tree, x + share * step * slopes[before] if share else x))
        x = x + step / 6 * (slopes[0] + 2 * slopes[1] + 2 * slopes[2] + slopes[3])
    expected = placements(tree, x[: tree.nq])
    names = ["trunk", "r.leg", "r.puck", "r.ball"]
    misses = []
    for h in (2e-3, 1e-3):
        saves = [f"{n}.r" for n in names] + [f"r.{n.removeprefix('r.')}_body.turned" for n in names]
        run = netsim.load(text).transient(save=saves, stop=0.2, step=h, method="generalized_alpha", from_="rest")
        miss = 0.0
        for name in names:
            frame = expected[tree.node[name.removeprefix("r.")]]
            own = np.array([run[f"{name}.r.{c}"].values[-1] for c in "xyz"])
            turned = np.array([run[f"r.{name.removeprefix('r.')}_body.turned[{i},{j}]"].values[-1] for i in (1, 2, 3) for j in (1, 2, 3)])
            miss = max(miss, np.max(np.abs(own - frame[:, 3])), np.max(np.abs(turned.reshape(3, 3) - frame[:, :3])))
        misses.append(miss)
    print(misses)
    assert misses[1] <= 1e-5
    assert 3.5 <= misses[0] / misses[1] <= 4.5


def rates(tree, x):
    """Of q and v, forces zero: the rate of a free joint's place is R v, of its quaternion half the product with the angular velocity."""
    q, v = x[: tree.nq], x[tree.nq :]
    found, at = [], 0
    for body in tree.bodies:
        part = v[tree.joint[body.name]]
        if body.joint.kind == "free":
            i, j, k, w = own = q[at + 3 : at + 7] / np.linalg.norm(q[at + 3 : at + 7])
            turn = np.array([[w, -k, j], [k, w, -i], [-j, i, w], [-i, -j, -k]])
            matrix = np.eye(3) + 2 * w * cross(own[:3]) + 2 * cross(own[:3]) @ cross(own[:3])
            found += [matrix @ part[:3], turn @ part[3:] / 2]
            at += 7
        else:
            found.append(part)
            at += len(part)
    unit = q.copy()
    at = 0
    for body in tree.bodies:
        if body.joint.kind == "free":
            unit[at + 3 : at + 7] /= np.linalg.norm(unit[at + 3 : at + 7])
            at += 7
        else:
            at += len(v[tree.joint[body.name]])
    return np.concatenate([*found, aba(tree, unit, v, np.zeros(tree.nv))])


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def test_a_robot_stands_anywhere():
    """Moved and turned together with gravity, an arm needs the same torques; its tool moves and turns with it."""
    turned, found = rotation(0.4, -0.7, 1.1), []
    holds = "\n".join(f"h{i} angle (arm.{n}_flange, ground) phi = {0.3 * w}" for i, (n, w) in enumerate(zip(JOINTS, WAYS)))
    for matrix, at in ((np.eye(3), np.zeros(3)), (turned, np.array([1.0, -2.0, 0.5]))):
        down = list(map(float, matrix @ [0, 0, -G]))
        placed = f"at = {list(map(float, at))} m, axes = {[list(map(float, row)) for row in matrix]}"
        model = netsim.load(f'use "{PUMA}"\nworld gravity = {down} m/s2\narm puma (ground) {placed}\n{holds}\n')
        run = model.transient(stop=1e-3, step=1e-3, save=[*(f"h{i}.drive" for i in range(6)), "arm.tool.r"], method="generalized_alpha")
        tool = np.array([run[f"arm.tool.r.{c}"].values[0] for c in "xyz"])
        found.append((np.array([run[f"h{i}.drive"].values[0] for i in range(6)]), matrix.T @ (tool - at)))
    assert np.allclose(found[0][0], found[1][0], atol=1e-10)
    assert np.allclose(found[0][1], found[1][1], atol=1e-12)


def test_stops_and_offsets_hold():
    """Mimic joints move as one; fingers pushed by 5 N come to rest a little beyond their limits, and `margin` says so."""
    run = netsim.load(ROBOTS / "gripper.net").transient(stop=0.5, step=2e-4, method="generalized_alpha")
    left, right, thumb = (run[f"robot.{n}.q"].values for n in ("finger_left_joint", "finger_right_joint", "thumb_hinge"))
    assert np.max(np.abs(left - right)) <= 1e-12 and np.max(np.abs(thumb - 12 * left - 0.2)) <= 1e-12
    margin = run["robot.finger_left_joint_limits.margin"].values
    assert np.allclose(margin, np.minimum(left, 0.04 - left), atol=1e-15)
    assert -3e-4 < margin[-1] < 0 < margin[0]


# --------------------------------------------------------------------------------------------------- as a text


@pytest.mark.parametrize("path", [PUMA, GRIPPER])
def test_a_robot_is_a_text(path):
    program = robot_program(path, alone=True)
    assert parse(show(program), "shown").statements == program.statements
    assert netsim.load(path).check() == []


def test_names_are_made_words(tmp_path):
    """Links called as joints, as reserved words, or with signs that no name has."""
    path = tmp_path / "odd.urdf"
    path.write_text(
        robot_text(link("base-link"), link("end"), link("2nd"), joint("end", "fixed", "base-link", "end"), joint("j/1", "continuous", "end", "2nd"))
    )
    net = tmp_path / "odd.net"
    net.write_text('use "odd.urdf"\nr odd (ground)\ndrive angle (r.j_1_flange, ground) phi = 0\n')
    network = netsim.load(net).network
    assert {n.name for n in network.nodes} == {"r.end_", "r._2nd", "r.j_1_flange"}
    assert {"r.end__joint", "r.j_1"} <= {i.name for i in network.instances}


# -------------------------------------------------------------------------------------------------------- mistakes

INERTIA = '<inertial><mass value="{}"/><inertia ixx="{}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
MISTAKES = {
    "<robot name='a'>\n<link name='b'>\n</robot>": (3, "E250", "no proper XML: mismatched tag"),
    "<model>\n</model>": (1, "E253", "the outermost element is <model>, not <robot>"),
    robot_text("<link/>"): (2, "E250", '<link> needs name="..."'),
    robot_text(link("a"), link("b"), joint("j", "revolut", "a", "b")): (4, "E251", "joint 'j' has the unknown type 'revolut'"),
    robot_text(link("a"), link("b"), joint("j", "fixed", "c", "b")): (4, "E251", "the parent of joint 'j' is 'c', and no link is called so"),
    robot_text(link("a"), link("b"), '<joint name="j" type="fixed"><child link="b"/></joint>'): (4, "E250", "joint 'j' does not say its <parent"),
    robot_text(link("a"), link("b")): (3, "E253", "the robot has 2 roots: 'a', 'b' are no joint's child"),
    robot_text(link("a"), link("a")): (3, "E253", "there are two links called 'a'"),
    robot_text(link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "a", "b")): (
        5,
        "E253",
        "link 'b' is the child of two joints",
    ),
    robot_text(link("a"), link("b"), link("c"), joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")): (4, "E253", "link 'c' carries itself"),
    robot_text(link("a", inside=INERTIA.format(-1, 1))): (2, "E252", "the mass of link 'a' is -1 kg, but must not be negative"),
    robot_text(link("a", inside=INERTIA.format("heavy", 1))): (2, "E250", 'value="heavy" of <mass> is not a number'),
    robot_text(link("a"), link("b"), joint("j", "revolute", "a", "b", '<origin xyz="0 1"/>')): (4, "E250", 'xyz="0 1" of <origin> is not 3 numbers'),
    robot_text(link("a"), link("b"), joint("j", "revolute", "a", "b", '<axis xyz="0 0 0"/>')): (4, "E252", "the axis of joint 'j' has no direction"),
    robot_text(link("a"), link("b"), joint("j", "revolute", "a", "b", '<limit lower="1" upper="0"/>')): (
        4,
        "E252",
        "its lower limit 1 above its upper",
    ),
    robot_text(link("a"), link("b"), joint("j", "revolute", "a", "b", '<mimic joint="k"/>')): (4, "E251", "joint 'j' mimics 'k', and no joint"),
    robot_text(link("a"), link("b"), joint("j", "revolute", "a", "b", '<mimic joint="j"/>')): (4, "E253", "joint 'j' mimics itself"),
    robot_text('<xacro:include filename="b.xacro"/>').replace("<robot", '<robot xmlns:xacro="x"'): (2, "E253", "this is a xacro file"),
}


@pytest.mark.parametrize("moment, words", [(9, "exceeds the sum"), (-0.1, "one of them is negative")])
def test_an_inertia_that_no_body_has_is_told_and_taken_as_written(tmp_path, moment, words):
    path = tmp_path / "a.urdf"
    path.write_text(robot_text(link("a", inside=INERTIA.format(1, moment)), link("b"), joint("j", "fixed", "a", "b", '<mimic joint="k"/>')))
    robot = read_robot(path)
    assert robot.links[0].inertial.tensor[0, 0] == moment and robot.joints[0].mimic is None
    beside = tmp_path / "beside.net"
    beside.write_text('use "a.urdf"\nr odd (ground)\n')
    for notes in (robot.notes, netsim.load(path).check(), netsim.load(beside).network.notes):
        (note,) = (n for n in notes if n.code == "N102")
        assert words in note.message and note.span.line == 2


@pytest.mark.parametrize("text", MISTAKES, ids=[words for _, _, words in MISTAKES.values()])
def test_mistakes_are_told_at_their_line(tmp_path, text):
    line, code, words = MISTAKES[text]
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        netsim.load(f'use "{path}"\nr a (ground)\n')
    assert any(p.code == code and words in p.message and p.span.line == line and p.span.file == str(path) for p in caught.value.problems), str(
        caught.value
    )
    assert all(len(render(problem).splitlines()) <= 6 for problem in caught.value.problems)


def test_a_wrong_figure_found_later_is_shown_in_the_robots_file(tmp_path):
    """A source that drives what the mimicry drives already: the problem leads to the netlist or the URDF, never nowhere."""
    net = tmp_path / "twice.net"
    net.write_text(f'use "{GRIPPER}"\nr gantry_gripper (ground)\none displacement (r.finger_left_joint_flange, ground) s = 0\n'
                   "two displacement (r.finger_right_joint_flange, ground) s = 0\nrun transient(stop = 1 ms, step = 1 ms)\n")  # fmt: skip
    problems = [p for p in netsim.load(net).check() if not p.is_note]
    assert problems and all(p.span is not None and p.span.line > 0 for p in problems)


def test_what_has_no_mass_needs_no_warning():
    """Frames, and a base that stands on the ground."""
    robot = read_robot(PUMA)
    assert [item.name for item in robot.links if item.inertial is None] == ["base", "tool"]
    assert netsim.load(ROBOTS / "puma.net").check() == []
