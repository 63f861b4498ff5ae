"""How the far end of a bent link moves with its coordinates, read from the equations that hold it there.

Seen from the frame a of its clamped end, the end b stands at c(q), turned by the Cayley rotation of psi(q), with

    c = U q + q.H q/2,    psi = D q

for deflections, slopes, twist and foreshortening of any shape functions. Components state `... = b.r + ...` and `sum of
X_i x N_i = 0`, X and N being the axes of both ends: with both frames at rest in the reference placement the first
equation's residual is c, the second's to first order -2 psi.
"""

import casadi as ca
import numpy as np

from netsim.equations.batches import form_of
from netsim.equations.forms.form import UNIFORM, Key
from netsim.equations.parameters import instance_parameters
from netsim.network.network import Instance
from netsim.network.values import Values

Array = np.ndarray


def deflections(instance: Instance, keys: list[Key], held: list[int], values: Values) -> tuple[Array, Array]:
    """[U | D] (coordinates, 6) and H (coordinates, coordinates, 3) in the axes of the reference placement, for
    coordinates with these keys; `held` are the own unknowns whose six rows hold the end: three of its place, three of
    its rotation."""
    form = form_of(instance, True).form
    rows = {key: residual for key, residual in zip(form.rows, form.residuals) if key[0] == "own"}
    residual = ca.vertcat(*(rows["own", k] for k in held))
    parameters = ca.vertcat(*(s for scalars in form.symbols.parameters.values() for s in scalars))
    moving = ca.vertcat(*(form.symbols.at(key, 0) for key in keys))
    rest = [(key, order) for key, order in form.symbols.gathered if (key, order) not in {(k, 0) for k in keys}]
    place = ca.vertcat(*(form.symbols.gathered[each] for each in rest))
    standing = [float(key[0] == "chart" and key[2] in (0, 4, 8)) for key, _ in rest]
    slopes = ca.jacobian(residual, moving)
    found = ca.Function(
        "deflections",
        [parameters, place, moving, ca.vertcat(*UNIFORM.values())],
        [slopes, ca.jacobian(slopes[:3, :], moving)],
    )
    n = len(keys)
    first, second = found(instance_parameters(form, instance, values), standing, np.zeros(n), np.zeros(len(UNIFORM)))
    lean = np.array(ca.DM(first)).T * np.repeat([1.0, -0.5], 3)
    return lean, np.array(ca.DM(second)).reshape(n, 3, n).transpose(0, 2, 1)
