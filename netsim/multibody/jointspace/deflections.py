"""How the far end of a bent link moves with its coordinates, read from the equations that hold it there.

Seen from the frame a of its clamped end, the end b stands at c(q), turned by the Cayley rotation of psi(q), with

    c = U q + q.H q/2,    psi = D q

for deflections, slopes, twist and foreshortening of any shape functions. Components state `... = b.r + ...` and `sum of
X_i x N_i = 0`, X and N being the axes of both ends: with both frames at rest in the reference placement the first
equation's residual is c, the second's to first order -2 psi.
"""

import numpy as np

from netsim.equations.batches import form_of
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import UNIFORMS, Key
from netsim.equations.kernels.kernel import Kernel, known_kernel, make_kernel
from netsim.equations.kernels.reference import evaluate
from netsim.equations.kernels.symbolic import ca
from netsim.equations.parameters import instance_parameters
from netsim.network.network import Instance
from netsim.network.values import Values

Array = np.ndarray


def deflections(instance: Instance, keys: list[Key], held: list[int], values: Values) -> tuple[Array, Array]:
    """[U | D] (coordinates, 6) and H (coordinates, coordinates, 3) in the axes of the reference placement, for
    coordinates with these keys; `held` are the own unknowns whose six rows hold the end: three of its place, three of
    its rotation."""
    form = form_of(instance, True).form
    kernel = known_kernel(form.facts, ("deflections", *keys, *held), lambda: _derivatives(form, keys, held))
    standing = [[float(key[0] == "chart" and key[2] in (0, 4, 8))] for key, _ in kernel.gather]
    parameters = np.array(instance_parameters(form, instance, values), float)[:, None]
    found = evaluate(kernel.program, np.array(standing).reshape(-1, 1), np.zeros(len(UNIFORMS)), parameters)[:, 0]
    n = len(keys)
    first, second = found[: 6 * n].reshape(n, 6), found[6 * n :].reshape(n, n, 3)
    return first * np.repeat([1.0, -0.5], 3), second


def _derivatives(form: Form, keys: list[Key], held: list[int]) -> Kernel:
    """First derivatives of the held rows by the coordinates, ('first', coordinate, row), then second ones of the first
    three, ('second', coordinate, coordinate, row)."""
    rows = {key: residual for key, residual in zip(form.rows, form.residuals) if key[0] == "own"}
    residual = ca.vertcat(*(rows["own", k] for k in held))
    moving = ca.vertcat(*(form.symbols.at(key, 0) for key in keys))
    n, slopes = len(keys), ca.jacobian(residual, moving)
    bends = ca.jacobian(slopes[:3, :], moving)  # entry (3 j + i, k): of row i by coordinates j and k
    first = [(("first", j, i), slopes[i, j]) for j in range(n) for i in range(6)]
    second = [(("second", j, k, i), bends[3 * j + i, k]) for j in range(n) for k in range(n) for i in range(3)]
    return make_kernel(form.symbols, [*first, *second])
