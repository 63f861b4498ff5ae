"""The tripod of Fedoruk et al. 2013 in its four stages, against published-machine figures made elsewhere and against an oracle without any network.

tests/reference/tripod_law1.csv (elongations, marker, forces every 0.5 s) comes from a Lagrange code of three coordinates with exact derivatives;
`tripod_oracle.py` is a second, independent formulation that holds for any law, geometry and mass.
"""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import netsim
from conftest import sampled
from netsim.library.files import models_folder
from tripod_oracle import Tripod, law

FOLDER = models_folder() / "tripod"
REFERENCE = np.loadtxt(Path(__file__).parents[1] / "reference" / "tripod_law1.csv", delimiter=",", skiprows=1)
TIMES, PEAK = REFERENCE[:, 0], np.max(np.abs(REFERENCE[:, 7:]))
RODS, AXES = "ABC", "xyz"

OTHER_LAW = {
    "aA": 0.02, "aB": -0.015, "aC": 0.035, "tA": 3.0, "tB": 4.5, "tC": 4.0, "wA": 1.2, "wB": 1.0, "wC": 1.5,
    "stop": 8.0, "friction": 0.3, "m_platform": 2.5, "m_left": 0.12, "m_right": 0.05, "m_D": 0.4,
}  # fmt: skip
OTHER_MACHINE = {"base_radius": 0.12, "ball_radius": 0.11, "height": 0.25, "tip": 0.08, "oA": 0.012, "oB": -0.007, "oC": 0.004, "stop": 18.0}
BOTH = OTHER_MACHINE | OTHER_LAW


def series(samples, quantity, names):
    """(3, nt): 'M.x', 'M.y', 'M.z' or 'A.k', 'B.k', 'C.k'."""
    return np.array([samples.series(f"{n}.{quantity}" if quantity in ("k", "F", "rate", "power") else f"{quantity}.{n}") for n in names])


def marker(samples):
    return series(samples, "M", AXES)


def elongations(samples):
    return series(samples, "k", RODS)


def forces(samples):
    return series(samples, "F", RODS)


@cache
def run(number, method_forces=False, **params):
    """All stages up to `number` in one chain of tables: {1: samples, ...}, under the same parameter values."""
    with tempfile.TemporaryDirectory() as folder:
        for file in FOLDER.iterdir():
            text = file.read_text(encoding="utf-8")
            Path(folder, file.name).write_text(text.replace("forces = recovered", "forces = method") if method_forces else text, encoding="utf-8")
        model = netsim.load(Path(folder, f"stage{number}.net")).with_overrides(params)
        (last,) = model.samples()
        others = {int(path[-5]): samples for (path, _), samples in model.shared.get("others", {}).items()}
    assert last.finished and all(samples.finished for samples in others.values())
    return others | {number: last}


def oracle(time, **params):
    """Elongations, marker and forces by the oracle, under the parameters of the netlists."""
    three = [tuple(params.get(letter + rod, default) for rod, default in zip(RODS, defaults)) for letter, defaults in
             (("a", (0.03, 0.045, 0.06)), ("t", (15.0,) * 3), ("w", (4.0,) * 3), ("o", (0.0,) * 3))]  # fmt: skip
    machine = Tripod(**{name: value for name, value in params.items() if name in Tripod.__dataclass_fields__})
    k = law(time, *three)
    q = machine.coordinates(k)
    return k.x, machine.marker(q).x, machine.forces(q)


def worst(found, wanted, scale=1.0):
    return np.max(np.abs(found - wanted)) / scale


def test_the_oracle_agrees_with_the_reference():
    k, m, f = oracle(TIMES)
    assert worst(k, REFERENCE[:, 1:4].T) < 1e-15
    assert worst(m, REFERENCE[:, 4:7].T) < 1e-14
    assert worst(f, REFERENCE[:, 7:].T, PEAK) < 1e-12


# ------------------------------------------------------------------------------------------------------------ stage 1


@pytest.mark.parametrize("h", [0.1, 0.01])
def test_stage_1_marker(h):
    """Implicit Euler with imposed elongations is exact in position at every step."""
    every = round(0.5 / h)
    for method_forces in (True, False):
        samples = run(4, method_forces, h=h)[1]
        assert worst(samples.time[::every], TIMES) < 1e-12
        assert worst(marker(samples)[:, ::every], REFERENCE[:, 4:7].T) < 1e-12
        assert worst(elongations(samples)[:, ::every], REFERENCE[:, 1:4].T) < 1e-15


@pytest.mark.parametrize("h", [0.1, 0.01])
def test_stage_1_force_of_the_method_is_late_by_a_step(h):
    samples = run(4, True, h=h)[1]
    assert worst(forces(samples), oracle(samples.time)[2], PEAK) == pytest.approx(0.488 * h, rel=2e-3)


def test_stage_1_recovered_force_is_exact():
    for h in (0.1, 0.01):
        samples = run(4, h=h)[1]
        assert worst(forces(samples)[:, :: round(0.5 / h)], REFERENCE[:, 7:].T, PEAK) < 1e-9
        assert worst(forces(samples), oracle(samples.time)[2], PEAK) < 1e-9


def test_stage_1_works():
    """The bells end where they began: the net work is what friction takes."""
    samples = run(4, h=0.01)[1]
    net, both, positive = (samples.series(f"work_{name}") for name in ("net", "abs", "pos"))
    assert net[-1] == pytest.approx(4.0889374e-5, rel=1e-7)
    assert both[-1] == pytest.approx(1.1780992e-3, rel=5e-7)
    assert positive[-1] == pytest.approx(6.094943e-4, rel=5e-7)
    assert both[-1] == pytest.approx(2 * positive[-1] - net[-1], rel=1e-9)
    assert samples.energy[-1, 2] == pytest.approx(net[-1], rel=1e-7)
    assert net[0] == both[0] == positive[0] == 0.0


# -------------------------------------------------------------------------------------------------------- stages 2 to 4


def test_stage_2_finds_the_elongations_of_stage_1():
    """Three coordinates of the marker for three freedoms: there is only one answer."""
    for method_forces in (True, False):
        stages = run(4, method_forces, h=0.01)
        assert worst(marker(stages[2]), marker(stages[1])) < 1e-12
        assert worst(elongations(stages[2]), elongations(stages[1])) < 1e-12


def test_stage_3_finds_the_forces_of_stage_1():
    exact = run(4, h=0.01)
    assert worst(forces(exact[3]), forces(exact[1]), PEAK) < 1e-12
    assert worst(marker(exact[3]), marker(exact[1])) < 1e-14
    for name in ("work_net", "work_abs", "work_pos"):
        assert exact[3].series(name)[-1] == pytest.approx(exact[1].series(name)[-1], rel=1e-9)
    late = run(4, True, h=0.01)
    assert worst(forces(late[3]), forces(late[1]), PEAK) < 1e-8  # differences over h of differences over h of round-off
    assert worst(forces(late[3]), forces(exact[3]), PEAK) == pytest.approx(0.00488, rel=2e-3)


def test_stage_4_with_the_methods_forces_returns_to_stage_1():
    """Steps of one size invert themselves, whatever their size: only round-off is integrated."""
    for h in (0.1, 0.01):
        stages = run(4, True, h=h)
        assert worst(marker(stages[4]), marker(stages[1])) < 1e-10
        assert worst(elongations(stages[4]), elongations(stages[1])) < 1e-10
        assert worst(forces(stages[4]), forces(stages[3]), PEAK) < 1e-15


@pytest.mark.parametrize("h", [0.1, 0.01])
def test_stage_4_with_exact_forces_is_off_by_the_first_order(h):
    """mm at h = 0.01 s, by the Lagrange code: x 0.092, y 0.060, z 0.033."""
    stages = run(4, h=h)
    deviation = np.max(np.abs(marker(stages[4]) - marker(stages[1])), axis=1)
    assert deviation * 1e3 == pytest.approx(np.array([9.19, 6.014, 3.322]) * h, rel=4e-3)
    assert np.abs([stages[4].series(f"dev_{axis}") for axis in AXES]).max(axis=1) == pytest.approx(deviation, rel=1e-9)


def test_the_drawn_curves_of_earlier_stages_are_theirs():
    stages = run(4, h=0.01)
    for rod in RODS:
        assert worst(stages[4].series(f"k1.{rod}"), stages[1].series(f"{rod}.k")) < 1e-15
        assert worst(stages[4].series(f"k2.{rod}"), stages[2].series(f"{rod}.k")) < 1e-15
    for axis in AXES:
        assert worst(stages[4].series(f"M1.{axis}"), stages[1].series(f"M.{axis}")) < 1e-15


# --------------------------------------------------------------------------------------------- other laws, other machines


def test_stage_1_of_another_tripod():
    """Other bells, masses and friction; other places of the joints, and rods that are not as drawn at the start."""
    samples = run(4, h=0.02, **BOTH)[1]
    k, m, f = oracle(samples.time, **BOTH)
    assert worst(elongations(samples), k) < 1e-14
    assert worst(marker(samples), m) < 1e-12
    assert worst(forces(samples), f, np.max(np.abs(f))) < 1e-9


def test_all_stages_of_another_tripod():
    exact, late = run(4, h=0.02, **BOTH), run(4, True, h=0.02, **BOTH)
    k, m, f = oracle(exact[1].time, **BOTH)
    assert worst(elongations(exact[2]), k) < 1e-12
    assert worst(forces(exact[3]), f, np.max(np.abs(f))) < 1e-9
    assert worst(marker(late[4]), m) < 1e-10
    fine = run(4, h=0.01, **BOTH)
    coarse_off, fine_off = (worst(marker(s[4]), marker(s[1])) for s in (exact, fine))
    assert coarse_off < 1e-3 and coarse_off / fine_off == pytest.approx(2.0, abs=0.05)


def test_a_parameter_that_only_a_bell_reads_reaches_every_stage():
    """`-p aA=...` on stages that have no bell of their own, and a dotted name."""
    params = {"aA": 0.01, "stop": 0.2, "h": 0.1, "platform.m": 9.8}
    stages = run(4, **params)
    assert worst(elongations(stages[1]), law(stages[1].time, (0.01, 0.045, 0.06)).x) < 1e-15
    f = oracle(stages[1].time, aA=0.01, m_platform=9.8)[2]
    assert worst(forces(stages[3]), f, np.max(np.abs(f))) < 1e-9


# ---------------------------------------------------------------------------------------------------------- constraints

FRAMES = ("plate", "d", *(end + rod for rod in RODS for end in ("lo", "hi")))


EARLIER = {}
"""Runs of earlier stages at h = 0.05 s, which the later ones read."""


@cache
def frames(number):
    """Centre (3, nt) and rotation (3, 3, nt) of every body of a stage, at h = 0.05 s."""
    names = [f"{n}.r.{a}" for n in FRAMES for a in AXES] + [f"{n}.R[{i},{j}]" for n in FRAMES for i in (1, 2, 3) for j in (1, 2, 3)]
    model = netsim.load(FOLDER / f"stage{number}.net").with_params(h=0.05)
    model.shared["others"] = EARLIER
    samples = sampled(model, tuple(names))
    nt = len(samples.time)
    return {n: (np.array([samples.series(f"{n}.r.{a}") for a in AXES]), rotations(samples, n, nt)) for n in FRAMES}


def rotations(samples, node, nt):
    return np.array([samples.series(s.name) for s in samples.signals if s.name.startswith(f"{node}.R")]).reshape(3, 3, nt)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_joints_hold_and_rotations_are_rotations(number):
    """Distances, orthogonalities and parallel axes of the joints, by the bodies' centres and rotations alone."""
    bodies, machine = frames(number), Tripod()
    eye = np.eye(3)[..., None]
    for _, turn in bodies.values():
        assert worst(np.einsum("ijt,ikt->jkt", turn, turn), eye) < 1e-12
    plate, turn = bodies["plate"]
    d, d_turn = bodies["d"]
    assert worst(d_turn, eye) < 1e-13 and np.max(np.abs(d[1:])) < 1e-13
    assert worst(plate - d, np.array([[machine.height / 2], [0], [0]])) < 1e-13
    assert np.max(np.abs(turn[1, 2])) < 1e-13  # e_y of D is normal to e_z of the platform: R = Ry Rz has R23 = 0
    for rod, azimuth in zip(RODS, machine.azimuths):
        out, tangent = np.array([0, np.cos(azimuth), np.sin(azimuth)]), np.array([0, -np.sin(azimuth), np.cos(azimuth)])
        G, S = machine.base_radius * out, machine.height * np.eye(3)[0] + machine.ball_radius * out
        along = (S - G) / np.linalg.norm(S - G)
        (left, left_turn), (right, right_turn) = bodies[f"lo{rod}"], bodies[f"hi{rod}"]
        drawn = np.einsum("ijt,j->it", left_turn, along)
        assert worst(left_turn, right_turn) < 1e-12
        assert worst(left - 0.0875 * drawn, G[:, None]) < 1e-13
        assert worst(right + 0.0905 * drawn, plate + np.einsum("ijt,j->it", turn, machine.ball_radius * out)) < 1e-13
        assert np.max(np.abs(np.cross(right - left, drawn, axis=0))) < 1e-13
        assert np.max(np.abs(tangent @ np.einsum("ijt,j->it", left_turn, np.cross(along, tangent)))) < 1e-13
