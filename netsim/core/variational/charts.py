"""Rotations in the charts of a step, and their changes: what netsim.core.variational.equations knows of them."""

from netsim.core.compiled.function import inner
from netsim.core.problem import CHARTS, A, V, X
from netsim.core.rotation import angular_velocity, in_chart
from netsim.core.states import copy


@inner
def set_base(problem, g, base):
    """The rotations at g."""
    charts = problem.sizes[CHARTS]
    for f in range(problem.rotations.shape[0]):
        copy(g, charts + 9 * f, base, 9 * f, 9)
    turn_base(problem, g, base)


@inner
def turn_base(problem, g, base):
    """Rotations by the coordinates in g: R <- cay(psi) R."""
    for f in range(problem.rotations.shape[0]):
        x = problem.sizes[X] + problem.rotations[f]
        a, b, c = g[x], g[x + 1], g[x + 2]
        scale = 1.0 / (1.0 + (a * a + b * b + c * c) / 4.0)
        for k in range(3):
            p, q, r = base[9 * f + k], base[9 * f + 3 + k], base[9 * f + 6 + k]
            u, v, w = b * r - c * q, c * p - a * r, a * q - b * p
            base[9 * f + k] = p + scale * (u + (b * w - c * v) / 2.0)
            base[9 * f + 3 + k] = q + scale * (v + (c * u - a * w) / 2.0)
            base[9 * f + 6 + k] = r + scale * (w + (a * v - b * u) / 2.0)


@inner
def into_chart(problem, base, row, g):
    """What a row holds, its rotations in the charts at `base`."""
    copy(row, 0, g, 0, row.shape[0])
    charts = problem.sizes[CHARTS]
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        x, v, a, r, c = problem.sizes[X] + i, problem.sizes[V] + i, problem.sizes[A] + i, charts + 9 * f, 9 * f
        trace = 0.0
        for k in range(3):
            for m in range(3):
                trace += base[c + 3 * k + m] * g[r + 3 * k + m]
        turned = 2.0 / (1.0 + trace)
        centre = (
            turned * (_product(base, c + 6, g, r + 3) - _product(base, c + 3, g, r + 6)),
            turned * (_product(base, c, g, r + 6) - _product(base, c + 6, g, r)),
            turned * (_product(base, c + 3, g, r) - _product(base, c, g, r + 3)),
        )
        psi, rate, second = in_chart(
            centre, (g[x], g[x + 1], g[x + 2]), (g[v], g[v + 1], g[v + 2]), (g[a], g[a + 1], g[a + 2])
        )
        for k in range(3):
            g[x + k], g[v + k], g[a + k] = psi[k], rate[k], second[k]
        copy(base, c, g, r, 9)


@inner
def _product(one, i, other, j):
    """The product of two rows of matrices."""
    return one[i] * other[j] + one[i + 1] * other[j + 1] + one[i + 2] * other[j + 2]


@inner
def change_charts(problem, g, x, v):
    """Changes of rotations and their rates from the chart that g is in to one in whose middle g stands."""
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        at, rate = problem.sizes[X] + i, problem.sizes[V] + i
        psi, turning = (g[at], g[at + 1], g[at + 2]), (g[rate], g[rate + 1], g[rate + 2])
        dpsi, drate = (x[i], x[i + 1], x[i + 2]), (v[i], v[i + 1], v[i + 2])
        scale = 1.0 / (1.0 + (psi[0] ** 2 + psi[1] ** 2 + psi[2] ** 2) / 4.0)
        w = angular_velocity(psi, turning)
        slope = (psi[0] * dpsi[0] + psi[1] * dpsi[1] + psi[2] * dpsi[2]) / 2.0
        for k in range(3):
            b, c = (k + 1) % 3, (k + 2) % 3
            x[i + k] = scale * (dpsi[k] - (dpsi[b] * psi[c] - dpsi[c] * psi[b]) / 2.0)
            turned = dpsi[b] * turning[c] - dpsi[c] * turning[b] + psi[b] * drate[c] - psi[c] * drate[b]
            v[i + k] = scale * (drate[k] + turned / 2.0 - slope * w[k])
        new = (x[i], x[i + 1], x[i + 2])
        for k in range(3):
            b, c = (k + 1) % 3, (k + 2) % 3
            v[i + k] -= (new[b] * w[c] - new[c] * w[b]) / 2.0
