"""Bricard's mechanism of the IFToMM benchmark: a closed chain that moves although its constraints outnumber its freedoms."""

import numpy as np
from scipy.integrate import quad

import netsim
from netsim.library.files import models_folder

GRAVITY = 9.81

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)


def turned(axis, angle):
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def chain(a):
    """Centres and rotations of the five rods, and the far end of the last: joints turn by a, b, a, b, a with sin a + sin b + sin a sin b = 0."""
    angles = np.resize([a, np.arcsin(-np.sin(a) / (1 + np.sin(a)))], 5)
    at, rotation, centres, rotations = np.zeros(3), np.eye(3), [], []
    for axis, angle, begin, end in zip(AXES, angles, POINTS, POINTS[1:]):
        rotation = rotation @ turned(axis, angle)
        rod = rotation @ (end - begin)
        centres.append(at + rod / 2)
        rotations.append(rotation)
        at = at + rod
    return np.array(centres), rotations, at


def inertia_and_height(a, step=1e-5):
    """Mass that the angle a feels, and the sum of the heights of the rods' centres."""
    centres, rotations, end = chain(a)
    assert np.abs(end - POINTS[5]).max() < 1e-12  # the chain closes
    (before, first, _), (behind, last, _) = chain(a - step), chain(a + step)
    velocity = (behind - before) / (2 * step)
    total = (velocity**2).sum()
    for rotation, r0, r1, begin, end in zip(rotations, first, last, POINTS, POINTS[1:]):
        spin = rotation.T @ (r1 - r0) / (2 * step)
        w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        along = np.abs(end - begin)
        total += w @ (((1 + 0.01) / 12 * (1 - along) + 0.01 / 6 * along) * w)
    return total, centres[:, 1].sum()


def speed(a):
    inertia, height = inertia_and_height(a)
    return np.sqrt(2 * GRAVITY * (-3.0 - height) / inertia)


def test_bricards_mechanism_goes_on_where_other_constraints_become_redundant():
    """From rest at the cube to a right angle in the time that energy and the closed chain's geometry say, there and beyond with its energy."""
    quarter = quad(lambda s: 2 * s / speed(s * s), 1e-4, np.sqrt(np.pi / 2), epsabs=1e-10)[0] + 2 * 1e-4**2 / speed(1e-8)
    model = netsim.load(models_folder() / "benchmarks/bricard.net")
    result = model.transient(stop=2.5 * quarter, rtol=1e-7, sample=quarter / 4, save=["j1.q", "j1.rate", "P3.r.y"])
    assert abs(float(result["j1.q"][4]) - np.pi / 2) < 1e-5
    assert abs(float(result["j1.rate"][4]) - speed(np.pi / 2 - 1e-6)) < 1e-4
    assert abs(float(result["P3.r.y"][4]) + np.sqrt(3)) < 1e-5
    energy = result["energy.stored"].values
    assert np.abs(energy - energy[0]).max() < 1e-4
