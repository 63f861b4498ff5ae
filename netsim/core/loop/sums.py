"""Integrals over a step by the quadrature of its method: work, and what is summed like it (`Sampler` says of which
arrays)."""

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.problem import ENTRIES
from netsim.core.states import copy


@inner
def set_rates(problem, trial, sampler):
    """The rates of the integrals that are summed, as their equations have them at what g holds."""
    if sampler.summed.shape[1] == 0:
        return
    for i in range(problem.sizes[ENTRIES]):
        trial.out[i] = 0.0
    run_table(problem.residual, trial.g, trial.out)
    for j in range(sampler.summed.shape[1]):
        trial.g[sampler.summed[1, j]] -= sampler.summed[4, j] * trial.out[sampler.summed[3, j]]


@inner
def traces_sums(sampler):
    """Whether the trace reads integrals that are known only when the powers at all nodes are."""
    found = 0
    for j in range(sampler.summed.shape[1]):
        found += sampler.summed[2, j]
    return found > 0


@inner
def show_sums(sampler, g):
    """The integrals that are summed, into g."""
    for j in range(sampler.summed.shape[1]):
        g[sampler.summed[0, j]] = sampler.totals[1, 2 * sampler.power.shape[0] + j]


@inner
def total(sampler, h, theta):
    """Supplied and dissipated energy and integrals up to theta: of the polynomial through the powers at the nodes."""
    copy(sampler.totals[0], 0, sampler.totals[1], 0, sampler.totals.shape[1])
    for k in range(sampler.nodes.shape[0]):
        share = 0.0
        for m in range(sampler.nodes.shape[0] - 1, -1, -1):
            share = (share + sampler.integrals[k, m]) * theta
        for i in range(sampler.totals.shape[1]):
            sampler.totals[1, i] += h * share * sampler.powers[k, i]


@inner
def stored(sampler, theta):
    """Stored energy of all accounts by the polynomial through that at the nodes."""
    found, first = 0.0, sampler.totals.shape[1]
    for k in range(sampler.nodes.shape[0]):
        share = 0.0
        for m in range(sampler.nodes.shape[0] - 1, -1, -1):
            share = share * theta + (m + 1) * sampler.integrals[k, m]
        for i in range(first, sampler.powers.shape[1]):
            found += share * sampler.powers[k, i]
    return found
