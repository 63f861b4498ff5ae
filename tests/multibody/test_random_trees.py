"""Random mechanisms as trees: `run recursion` and `transient` in both formulations are three ways to the same motion, and none loses energy.

A few fixed examples by default; `pytest --hypothesis-profile=thorough` draws more of them.
"""

import hypothesis
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import netsim
from netsim.results.samples import Samples

RTOL = 1e-8
FEW, MANY = 3, 60
JOINTS = {
    "revolute": ("axis = {axis}", ("d = {d} N.m.s/rad",), ("c = {c} N.m/rad",), ("q",)),
    "prismatic": ("axis = {axis}", ("d = {d} N.s/m",), ("c = {c} N/m",), ("q",)),
    "universal": ("axis1 = {axis}, axis2 = {across}", (), ("c1 = {c} N.m/rad", "d2 = {d} N.m.s/rad"), ("q1", "q2")),
    "spherical": ("", (), ("c = {c} N.m/rad", "d = {d} N.m.s/rad"), ()),
    "spatial_weld": ("", (), (), ()),
}
"""Parameters of joints: axes, what `run recursion` knows of springs and dampers, what it does not, coordinates."""


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False).map(lambda x: round(x, 3))


def vector(x: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:.17g}" for value in x) + "]"


@st.composite
def mechanisms(draw: st.DrawFn, springs: bool) -> tuple[str, list[str]]:
    """The text of a tree of one to four bodies without its run line, and what is compared."""
    lines = ["use spatial", f"world gravity = {vector(np.array([draw(numbers(-5, 5)) for _ in range(3)]))} m/s2"]
    saved, kinds = [], draw(st.lists(st.sampled_from(sorted(JOINTS)), min_size=1, max_size=4))
    for k, kind in enumerate(kinds):
        axis, other, place, centre, moments = (np.array([draw(numbers(-1, 1)) for _ in range(3)]) for _ in range(5))
        axis = axis if np.linalg.norm(axis) > 0.2 else np.array([0.0, 0.6, 0.8])
        across = np.cross(axis, other if np.linalg.norm(np.cross(axis, other)) > 0.1 else np.roll(axis, 1) + np.array([0.3, 0.0, 0.0]))
        parent, turned = draw(st.sampled_from(["ground", *(f"n{i}" for i in range(k))])), draw(st.booleans())
        nodes = f"(n{k}, {parent})" if turned else f"({parent}, n{k})"
        axes, known, unknown, coordinates = JOINTS[kind]
        given_ = [f"at = {vector(place)} m", axes, *known, *(unknown if springs else ())]
        values = {"axis": vector(axis), "across": vector(across), "c": draw(numbers(0.5, 5)), "d": draw(numbers(0.0, 0.5))}
        mass, inertia = draw(numbers(0.3, 3)), 1.0 + 0.3 * np.abs(moments)
        lines.append(f"b{k} body (n{k}) m = {mass} kg, I = diag({inertia[0]}, {inertia[1]}, {inertia[2]}) kg.m2, at = {vector(centre)} m")
        lines.append(f"j{k} {kind} {nodes} {', '.join(part.format(**values) for part in given_ if part)}")
        for c in coordinates:
            lines.append(f"start j{k}.{c} = {draw(numbers(-0.5, 0.5))}")
        if kind in ("revolute", "universal", "spherical") and draw(st.booleans()):
            ends = nodes if draw(st.booleans()) else "(" + ", ".join(nodes.strip("()").split(", ")[::-1]) + ")"
            lines.append(f"s{k} hinge_torque {ends} axis = {vector(axis + 0.2 * across)}, T = {draw(numbers(-1, 1))} N.m*cos(3 rad/s*time)")
        saved += [f"n{k}.r", f"n{k}.R"]
    return "\n".join(lines), saved


def ran(text: str, saved: list[str], line: str) -> Samples:
    samples = netsim.load(f"{text}\nrun {line}\nsave {', '.join(saved)}\n").samples()[-1]
    assert samples.finished, f"{samples.message}\n{text}"
    return samples


def agree(text: str, runs: list[Samples]) -> None:
    """Places and rotations within 50 rtol of the largest, and the energy accounted for."""
    for run in runs:
        assert np.max(np.abs(run.values[-1] - runs[0].values[-1])) <= 50 * RTOL * max(1.0, np.abs(runs[0].values).max()), text
        stored, supplied, dissipated = (run.energy[:, k] - run.energy[0, k] for k in range(3))
        turned = np.abs(run.kinetic).max() + np.ptp(run.energy[:, 0]) + np.abs(supplied).max() + np.abs(dissipated).max()
        assert abs(stored - supplied + dissipated)[-1] <= 1e-4 * turned, text


def settings(count: int) -> hypothesis.settings:
    """A few examples, always the same, unless a profile asks for more."""
    more = hypothesis.settings.get_profile("thorough") if hypothesis.settings.get_current_profile_name() == "thorough" else None
    return hypothesis.settings(max_examples=MANY if more else count, derandomize=not more, database=None, phases=[hypothesis.Phase.generate])


@settings(FEW)
@given(mechanisms(springs=False))
def test_recursion_tree_and_absolute_coordinates_agree(drawn):
    text, saved = drawn
    span = f"stop = 0.3 s, sample = 5 ms, rtol = {RTOL}"
    lines = f"recursion({span})", f"transient({span})", f"transient({span}, formulation = tree)"
    agree(text, [ran(text, saved, line) for line in lines])


@settings(FEW - 1)
@given(mechanisms(springs=True))
def test_tree_and_absolute_coordinates_agree_with_springs(drawn):
    text, saved = drawn
    span = f"stop = 0.3 s, sample = 5 ms, rtol = {RTOL}"
    agree(text, [ran(text, saved, line) for line in (f"transient({span})", f"transient({span}, formulation = tree)")])
