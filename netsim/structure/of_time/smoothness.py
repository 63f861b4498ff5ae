"""Whether every prescribed function of time can be differentiated as often as the structure differentiates it (E306,
N306).

A source's input u meets the transfer functions A(s)^-1 b: where a through grows like s^k u, it contains the k-th
derivative of u. That count is exact for every coupling in between (masses behind rigid links, gears, transformers, a
motor's inductance).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.core.linear.columns import splu
from netsim.equations.system import System
from netsim.library.component import is_kinematic
from netsim.network.bindings import Shape, smoothness
from netsim.network.network import Instance
from netsim.network.values import Values
from netsim.structure.causes import Picture
from netsim.structure.nullspace import equilibrated
from netsim.structure.of_time.continuity import continuity, end_of_runs
from netsim.structure.pencil import Point, matrices
from netsim.structure.roles import domain_of_own
from netsim.text.errors import Problem
from netsim.text.syntax import Binary, Call, Conditional, DomainDef, Expr, Unary

Array = np.ndarray
RATES = ((1e2, 1e3), (1e4, 1e5), (1e8, 1e9))
"""Where growth with the rate is measured, with random elements of ordinary size: what grows at the second pair alone
has not come to its end there, as behind coils, whose field has the constant 4e-7 pi. The slowest pair serves what is
faint at both others: the angle of a driven hinge beside moments that grow with the square of the rate."""
SMOOTH_ENOUGH, UNSEEN = 4, -9
WORDS = {
    -1: "it jumps",
    0: "its first derivative jumps",
    1: "its second derivative jumps",
    2: "its third derivative jumps",
    3: "its fourth derivative jumps",
}
ORDERS = ("", "first derivative", "second derivative", "third derivative", "fourth derivative")


@dataclass(frozen=True)
class SmoothnessNeed:
    """How many continuous derivatives a function must have (-1: it may jump), and the domain that asks for them."""

    smoothness: int
    domain: DomainDef | None

    @property
    def mechanical(self) -> bool:
        return self.domain is not None and is_kinematic(self.domain)


@dataclass(frozen=True)
class FunctionInUse:
    """A function of time that may be rough: whose input it is bound to, and what the network needs of it."""

    instance: Instance
    name: str
    shape: Shape
    need: SmoothnessNeed


def functions_in_use(picture: Picture) -> list[FunctionInUse]:
    """What the network needs of the functions of time that may have too few derivatives, whatever their numbers are."""
    system = picture.system
    suspects = [
        (instance, name, shape, int(prescribed.numbers[0, k]))
        for prescribed in system.prescribed_inputs
        if prescribed.stage == 1
        for k, ((instance, name), shape) in enumerate(zip(prescribed.owners, prescribed.shapes))
        if smoothness(shape) < SMOOTH_ENOUGH
    ]
    if not suspects:
        return []
    needed = needed_smoothness(picture, [column for *_, column in suspects])
    found = [FunctionInUse(instance, name, shape, need) for (instance, name, shape, _), need in zip(suspects, needed)]
    return [one for one in found if smoothness(one.shape) < one.need.smoothness]


def too_rough_inputs(found: Sequence[FunctionInUse], values: Values) -> list[Problem]:
    """Inputs whose functions of time, with their present numbers, are less smooth than the network needs."""
    stop = end_of_runs(values) if found else 0.0
    have = [continuity(one.shape, values, stop) for one in found]
    return [
        _problem(one.instance, one.name, one.shape, one.need, k)
        for one, k in zip(found, have)
        if k < one.need.smoothness
    ]


def needed_smoothness(picture: Picture, columns: list[int]) -> list[SmoothnessNeed]:
    """For each prescribed input: k where a through takes k derivatives, more than the acrosses do; one less than the
    acrosses otherwise.

    A displacement on masses needs 2, on springs and dampers 0 (its velocity must be finite); a velocity on masses or a
    voltage on a capacitor 1; a voltage on resistors none (-1: it may jump)."""
    system = picture.system
    point = picture.point(1)
    slowest, slow, fast = (_growth(point, pair, columns) for pair in RATES)
    faint = np.where(slow == UNSEEN, np.minimum(slowest, 2), slow)  # accelerations; more has not come to its end there
    growth = np.where(fast == UNSEEN, faint, np.minimum(slow, fast))  # what is faint beside faster growth still follows
    return [_needed(picture, growth[:, j], _pushes(system, column)) for j, column in enumerate(columns)]


def _growth(point: Point, rates: tuple[float, float], columns: list[int]) -> Array:
    """With which power of the rate every unknown follows every prescribed input; UNSEEN where it does not, or where
    parameters differ by so many orders that the matrix has no factors."""
    sizes = []
    for s in rates:
        a, b = matrices(point, s)
        balanced, rows, scale = equilibrated(a)
        wanted = b.toarray()[:, columns]
        try:
            solved = splu(balanced).solve(rows[:, None] * wanted)
        except RuntimeError:
            return np.full(wanted.shape, UNSEEN)
        sizes.append(np.abs(scale[:, None] * solved))
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.rint(np.log10(sizes[1] / sizes[0]) / np.log10(rates[1] / rates[0]))
    visible = sizes[1] > 1e-12 * sizes[1].max(axis=0, initial=1e-300)
    return np.where(visible & np.isfinite(growth), growth, UNSEEN).astype(int)


def _pushes(system: System, column: int) -> bool:
    """Whether a prescribed input is a through (a force, a current) rather than an across: it stands in the balance of a
    node."""
    for batch in system.batches:
        for key, numbers in batch.prescribed_inputs.items():
            if column in numbers and not batch.shapes:
                entries = batch.kernels.partials.scatter
                return any(
                    e[0] == "partial"
                    and e[2] == key
                    and e[1] < len(batch.form.rows)
                    and batch.form.rows[e[1]][0] == "node"
                    for e in entries
                )
    return False


def _needed(picture: Picture, growth: Array, pushes: bool) -> SmoothnessNeed:
    throughs, acrosses = [SmoothnessNeed(UNSEEN, None)], [SmoothnessNeed(UNSEEN, None)]
    for unknown, k in enumerate(growth):
        node, owner = picture.node_of.get(unknown), picture.owner_of.get(unknown)
        if node is not None:
            domain = picture.system.network.nodes[node].domain
            if domain.through:  # the across of a kinematic node is the rate of what the unknown stands for
                acrosses.append(SmoothnessNeed(int(k) + (is_kinematic(domain) and not pushes), domain))
        elif owner is not None and not owner[0].shapes:
            batch, position, own = owner
            asking = domain_of_own(batch.instances[position].component, own)
            if asking is not None:
                throughs.append(SmoothnessNeed(int(k), asking))
    # a through that follows the function itself while acrosses only integrate it (a brake's torque) is a force: it may
    # jump
    through, across = (max(found, key=lambda need: need.smoothness) for found in (throughs, acrosses))
    return (
        through
        if through.smoothness > max(across.smoothness, 0)
        else SmoothnessNeed(across.smoothness - 1, across.domain)
    )


def _problem(instance: Instance, name: str, shape: Shape, need: SmoothnessNeed, have: int) -> Problem:
    binding = next(b for b in instance.text.bindings if b.name == name)
    rough_part = _rough_part(binding.value, shape)
    if not need.mechanical and have >= 0:
        through = need.domain.through[0].doc if need.domain else "through"
        message = f"input '{name}' of '{instance.name}' is not smooth: {WORDS[have]}, so a {through} jumps, too"
        return Problem("N306", message, rough_part.span)
    order = ORDERS[min(need.smoothness, 4)]
    if need.smoothness <= 0:
        wanted = "the network needs a function without jumps"
    else:
        wanted = f"masses need a continuous {order}" if need.mechanical else f"the network needs its {order}"
    message = f"input '{name}' of '{instance.name}' is not smooth enough: {WORDS[have]}, but {wanted}"
    otherwise = (
        ", or prescribe the force instead of the motion" if need.mechanical else ", or put a resistance in between"
    )
    return Problem("E306", message, rough_part.span, _mark(rough_part), _hint(rough_part, otherwise))


def too_rough(motion: Expr, shape: Shape, derivatives: int, values: Values, stop: float) -> Problem | None:
    """The problem of a motion, from 0 to `stop` s, whose derivative of order `derivatives` appears in the inputs.

    Derivatives up to the second must be continuous; a higher one may jump if the lower ones do not."""
    have = continuity(shape, values, stop)
    if have >= (derivatives if derivatives <= 2 else derivatives - 1):
        return None
    part = _rough_part(motion, shape)
    contained = f"its {ORDERS[derivatives]}" if derivatives else "the motion itself"
    message = f"is not smooth enough: {WORDS[have]}, but the inputs contain {contained}"
    return Problem("E306", message, part.span, _mark(part), _hint(part))


def _rough_part(expr: Expr, shape: Shape) -> Expr:
    """The innermost call or condition that is as rough as the whole."""
    for part in _calls(expr):
        if isinstance(part, Conditional) or (isinstance(part, Call) and part.function in _ROUGH):
            return part
    return expr


_ROUGH = {
    "step": "a step jumps", "ramp": "a ramp has kinks", "pulse": "a pulse jumps", "abs": "abs() has a kink",
    "sign": "sign() jumps", "floor": "floor() jumps", "mod": "mod() jumps", "min": "min() has a kink",
    "max": "max() has a kink", "smooth_step": "smooth_step(u, order) has `order` continuous derivatives",
    "cycloid": "a cycloid's third derivative jumps at both ends",
    "sine": "a sine that begins `at` an instant has a kink there", "table": "the table's interpolation is not smoother",
}  # fmt: skip


def _calls(expr: Expr) -> list[Expr]:
    match expr:
        case Call():
            inner = [*expr.arguments, *(v for _, v in expr.keywords)]
            return [*(c for e in inner for c in _calls(e)), expr]
        case Binary():
            return [*_calls(expr.left), *_calls(expr.right)]
        case Unary():
            return _calls(expr.operand)
        case Conditional():
            return [expr]
    return []


def _mark(expr: Expr) -> str:
    if isinstance(expr, Call):
        return _ROUGH.get(expr.function, "")
    return "a condition on the time makes a jump" if isinstance(expr, Conditional) else ""


def _hint(expr: Expr, otherwise: str = "") -> str:
    if isinstance(expr, Call) and expr.function == "table":
        return "interpolate the table with kind = cubic (two continuous derivatives)"
    smooth = "use a smooth function such as bell(time, at = ..., width = ...) or smooth_step(u, order)"
    return f"{smooth}, or a table with kind = cubic{otherwise}"
