"""CPU time of RNEA, ABA, mixed dynamics, CRBA and the derivatives of RNEA beside Pinocchio's (pip install pin), on the
same trees in one run.

Both sides are compiled: ours is called by a compiled loop, Pinocchio's by one of Python, from which the time of a call
that does almost nothing is taken away: the same function for a model of one joint. The ratio compares what the further
joints cost: ours is taken less its own time for one joint. Both subtracted times are printed. The mixed problem (half
of the motions known) is held against Pinocchio's aba. The joints are revolute about the z axis, the placements are
general; chains, and trees in which every body carries two. What remains unfair is in README.md.
"""

import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.formats.urdf.reading import rotation
from netsim.multibody.tree.algorithms.composite import crba, mass_matrix_into
from netsim.multibody.tree.algorithms.derivatives import derivatives_into, make_derivatives, rnea_derivatives
from netsim.multibody.tree.algorithms.forward import aba, make_articulated, mixed_into, velocities
from netsim.multibody.tree.algorithms.inverse import rnea, rnea_into
from netsim.multibody.tree.kinematics import make_motion
from netsim.multibody.tree.model import Body, Inertia, Joint, Tree, build_tree

SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
DENSE = 256
"""The largest size of what has n^2 results, and of Pinocchio, whose data hold tensors of n^3 numbers (more than 20 GB
at 1 024)."""
BUDGET = 0.05
"""Seconds of each measurement, of which the best of five counts."""
ROUNDS, TURN = 7, 300_000
"""Of a fit: rounds, and bodies in a turn."""


def chain_or_tree(n: int, children: int) -> Tree:
    """n bodies of which each carries `children`, with revolute joints at random placements."""
    rng = np.random.default_rng(n)
    bodies: list[Body] = []

    def add(i: int) -> None:
        spread = rng.normal(size=(3, 3))
        inertia = Inertia(
            rng.uniform(0.5, 2), tuple(0.1 * rng.normal(size=3)), 0.1 * spread @ spread.T + 0.05 * np.eye(3)
        )
        place = tuple(0.3 * rng.normal(size=3)), rotation(*rng.normal(size=3))
        bodies.append(Body(f"b{i}", None if i == 0 else f"b{(i - 1) // children}", Joint("revolute"), inertia, *place))

    waiting = [0]
    while waiting:  # depth first: Pinocchio's subtrees are ranges of joints
        i = waiting.pop()
        add(i)
        waiting += [c for c in range(children * i + children, children * i, -1) if c < n]
    return build_tree(bodies)


def twin(pinocchio: Any, tree: Tree) -> Any:
    """The same tree as Pinocchio's model."""
    model = pinocchio.Model()
    for body in tree.bodies:
        parent = tree.node[body.parent] if body.parent else 0
        joint = model.addJoint(
            parent,
            pinocchio.JointModelRZ(),
            pinocchio.SE3(np.asarray(body.rotation), np.asarray(body.position)),
            body.name,
        )
        inertia = pinocchio.Inertia(body.inertia.mass, np.asarray(body.inertia.centre), np.asarray(body.inertia.tensor))
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    return model


@compiled
def repeat_rnea(t, q, v, a, wrenches, count):  # type: ignore[no-untyped-def]
    """Inverse dynamics `count` times, in room that is made once."""
    m, tau = make_motion(t), np.empty(len(v))
    for _ in range(count):
        rnea_into(t, q, v, a, wrenches, m, tau)
    return tau


@compiled
def repeat_aba(t, q, v, a, wrenches, count):  # type: ignore[no-untyped-def]
    """Forward dynamics `count` times; a stands for the forces."""
    m, w, found, tau, motion = (
        make_motion(t),
        make_articulated(t),
        np.empty(len(v)),
        np.empty(len(v)),
        np.zeros(len(v), np.bool_),
    )
    for _ in range(count):
        mixed_into(t, q, v, a, motion, wrenches, m, w, found, tau)
    return found


@compiled
def repeat_mixed(t, q, v, a, wrenches, count):  # type: ignore[no-untyped-def]
    """The mixed problem `count` times: every other motion is known."""
    m, w, found, tau, motion = (
        make_motion(t),
        make_articulated(t),
        np.empty(len(v)),
        np.empty(len(v)),
        np.arange(len(v)) % 2 == 0,
    )
    for _ in range(count):
        mixed_into(t, q, v, a, motion, wrenches, m, w, found, tau)
    return found


@compiled
def repeat_crba(t, q, v, a, wrenches, count):  # type: ignore[no-untyped-def]
    """The mass matrix `count` times, whole and symmetric."""
    m, w, matrix = make_motion(t), make_articulated(t), np.zeros((len(v), len(v)))
    for _ in range(count):
        velocities(t, q, w.zero, wrenches, m, w)
        mass_matrix_into(t, q, m, w, matrix)
    return matrix


@compiled
def repeat_derivatives(t, q, v, a, wrenches, count):  # type: ignore[no-untyped-def]
    """Derivatives of inverse dynamics by q, v and a `count` times."""
    d, tau, found = make_derivatives(t), np.empty(len(v)), np.zeros((3, len(v), len(v)))
    for _ in range(count):
        derivatives_into(t, q, v, a, wrenches, d, tau, found[0], found[1], found[2])
    return found


def best(work: Callable[[int], Any], budget: float = BUDGET) -> float:
    """Microseconds of CPU of one repetition, the best of five measurements."""
    work(1)
    began = clock.process_time()
    work(3)
    once = max((clock.process_time() - began) / 3, 1e-7)
    count = max(3, int(budget / once))
    found = []
    for _ in range(5):
        began = clock.process_time()
        work(count)
        found.append((clock.process_time() - began) / count)
    return 1e6 * min(found)


def theirs(pinocchio: Any, name: str, model: Any, state: tuple[Any, Any, Any], budget: float = BUDGET) -> float:
    """Microseconds of a call of Pinocchio's function from Python."""
    data, (q, v, a) = model.createData(), state
    function = {
        "rnea": pinocchio.rnea,
        "aba": pinocchio.aba,
        "mixed": pinocchio.aba,
        "crba": pinocchio.crba,
        "derivatives": pinocchio.computeRNEADerivatives,
    }[name]
    given = (q,) if name == "crba" else (q, v, a)

    def work(count: int) -> None:
        for _ in range(count):
            function(model, data, *given)

    return best(work, budget)


OURS = {
    "rnea": repeat_rnea,
    "aba": repeat_aba,
    "mixed": repeat_mixed,
    "crba": repeat_crba,
    "derivatives": repeat_derivatives,
}
CALLS = {"rnea": rnea, "aba": aba, "derivatives": rnea_derivatives}


def exponent(repeat: Callable[..., Any], children: int, sizes: list[int], turn: int = TURN) -> float:
    """The slope of log time over log bodies; sizes take turns, seven rounds, of which the least counts: what else the
    machine does hits all alike."""
    work = []
    for n in sizes:
        tree, state = chain_or_tree(n, children), tuple(np.random.default_rng(n).normal(size=(3, n)))
        work.append(lambda count, t=tree, s=state: repeat(t.flat, *s, np.zeros((t.nodes, 6)), count))
    times = np.full(len(sizes), np.inf)
    for _ in range(ROUNDS):
        for k, n in enumerate(sizes):
            count = max(1, turn // n)
            began = clock.process_time()
            work[k](count)
            times[k] = min(times[k], (clock.process_time() - began) / count)
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def report(sizes: tuple[int, ...] = SIZES, budget: float = BUDGET, turn: int = TURN) -> None:
    """A row for each algorithm and size: microseconds of both, the call that was subtracted, and their ratio; then
    growth and single calls."""
    try:
        import pinocchio
    except ImportError:
        pinocchio = None
        print("Recursions (Pinocchio is not installed: its columns are left out; pip install pin)")
    else:
        print(f"Recursions, CPU time; Pinocchio {pinocchio.__version__} without the cost of the call from Python")
    for children, shape in ((1, "chain"), (2, "binary tree")):
        for name, repeat in OURS.items():
            call, one, zero = 0.0, chain_or_tree(1, 1), (np.zeros(1),) * 3
            single = best(lambda count, f=repeat, t=one.flat, s=zero: f(t, *s, np.zeros((2, 6)), count), budget)
            if pinocchio:
                call = theirs(pinocchio, name, twin(pinocchio, one), zero, budget)
            print(
                f" {name} of a {shape}; one joint takes {single:.2f} us"
                + (f", a call of Pinocchio's {call:.2f} us" if pinocchio else "")
            )
            print(f"  {'bodies':>6} {'netsim us':>10}" + (f" {'Pinocchio us':>13} {'ratio':>6}" if pinocchio else ""))
            own_sizes = [n for n in sizes if name in ("rnea", "aba", "mixed") or n <= DENSE]
            for n in own_sizes:
                tree = chain_or_tree(n, children)
                rng = np.random.default_rng(n)
                state = tuple(rng.normal(size=(3, n)))
                wrenches = np.zeros((tree.nodes, 6))
                own = best(lambda count, t=tree, s=state, w=wrenches, f=repeat: f(t.flat, *s, w, count), budget)
                line = f"  {n:6} {own:10.2f}"
                if pinocchio and n <= DENSE:
                    other = theirs(pinocchio, name, twin(pinocchio, tree), state, budget) - call
                    line += f" {other:13.2f} {(own - single) / other:6.2f}"
                print(line, flush=True)
            print(
                f"  growth from 16 to {own_sizes[-1]} bodies: "
                f"n^{exponent(repeat, children, [n for n in own_sizes if n >= 16], turn):.2f}"
            )
    tree, state = chain_or_tree(7, 1), tuple(np.random.default_rng(7).normal(size=(3, 7)))
    print(" One call from Python, a chain of 7")
    for name, function in CALLS.items():
        own = best(lambda count, f=function: [f(tree, *state) for _ in range(count)], budget)
        print(
            f"  {name:12} {own:8.2f}"
            + (f" {theirs(pinocchio, name, twin(pinocchio, tree), state, budget):13.2f}" if pinocchio else "")
        )
    print(f"  {'crba':12} {best(lambda count: [crba(tree, state[0]) for _ in range(count)], budget):8.2f}")


if __name__ == "__main__":
    report()
