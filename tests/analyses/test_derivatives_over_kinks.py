"""Derivatives across kinks of the equations, which are no events, against closed forms."""

import numpy as np
import pytest

import netsim
from netsim.analyses.sensitivity import kinks

SCALES = [1e-9, 1.0, 1e6]
EXACT = {"rtol": 1e-10}


def hung(stiffness, length, mass, speed, force, stop):
    """x of a mass that falls under a force until a rope holds it."""
    a = force / mass
    begin = (speed + np.sqrt(speed**2 + 2 * a * length)) / a
    w, t = np.sqrt(stiffness / mass), stop - begin
    return a / w**2 * (np.cos(w * t) - 1) + (speed - a * begin) / w * np.sin(w * t) - length


def by_each(function, *values):
    """Derivatives by differences of fourth order."""
    found = []
    for k, value in enumerate(values):
        h = 1e-4 * (abs(value) or 1.0)
        at = [function(*values[:k], value + s * h, *values[k + 1 :]) for s in (-2, -1, 1, 2)]
        found.append((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h))
    return np.array(found)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("options, within", [(EXACT, 1e-8), ({}, 2e-6)])
def test_a_rope_that_tightens(scale, options, within):
    given = 50.0 * scale, 1.0, 2.0 * scale, 0.0
    text = f"""use translational
    m1 mass  (a)         m = {given[2]!r}, start x = 0 m, start v = 0 m/s
    w  force (a)         F = -{9.81 * given[2]!r}
    r  rope  (ground, a) c = {given[0]!r}, l = 1 m
    """
    names = ["r.c", "r.l", "m1.m", "m1.v.start"]
    found = netsim.load(text).sensitivity(to=names, of=["a.x"], stop=0.8, **options)
    own = np.array([found[f"d(a.x)/d({name})"].values[-1] for name in names])
    want = by_each(lambda *values: hung(*values, 9.81 * given[2], 0.8), *given)
    assert own == pytest.approx(want, rel=within)


CLIP = """use signal
param A = 2
component clip (in u, out y : signal) "limits from above"
  param L : 1
  y = min(u, L)
end
u signal_source (s0)    value = A*sin(2*pi*time/(1 s))
c clip          (s0, s1) L = 1
f first_order   (s1, y)  T = 300 ms, start y = 0
"""


def clipped(amplitude, limit, lag, stop=2.3):
    """y of the lag behind sin(2 pi t) that is limited, piece by piece."""
    w, y, t = 2 * np.pi, 0.0, 0.0
    first = np.arcsin(limit / amplitude) / w
    ends = [e for k in range(4) for e in ((k + first, False), (k + 0.5 - first, True))]
    for end, flat in [*(e for e in ends if e[0] < stop), (stop, ends[sum(e[0] < stop for e in ends)][1])]:
        decay = np.exp(-(end - t) / lag)

        def forced(at, flat=flat):
            wave = amplitude * (np.sin(w * at) - w * lag * np.cos(w * at)) / (1 + (w * lag) ** 2)
            return limit if flat else wave

        y, t = forced(end) + (y - forced(t)) * decay, end
    return y


@pytest.mark.parametrize("derivatives", ["forward", "adjoint"])
@pytest.mark.parametrize("options, within", [(EXACT, 1e-8), ({}, 5e-7)])
def test_a_limited_signal(derivatives, options, within):
    names = ["A", "c.L", "f.T"]
    found = netsim.load(CLIP).sensitivity(to=names, of=["y"], stop=2.3, derivatives=derivatives, **options)
    if derivatives == "forward":
        own = [found[f"d(y)/d({name})"].values[-1] for name in names]
    else:
        own = [found.attrs[f"measure.d(final(y))/d({name})"] for name in names]
    assert own == pytest.approx(by_each(clipped, 2.0, 1.0, 0.3), rel=within)


def test_multipliers_of_an_orbit_across_kinks():
    """C v' = I cos(w t) - G v with another G on either side of zero: the multiplier is exp(-integral(G)/C)."""
    text = """use electrical
    component bent (p, n : electrical) "two conductances"
      param Gp : S
      param Gn : S
      branch p -> n : v, i
      i = Gp*max(v, 0) + Gn*min(v, 0)
    end
    g bent      (a, ground) Gp = 0.3 S, Gn = 2 S
    c capacitor (a, ground) C = 1 F
    i current   (ground, a) I = 1 A*cos(2*pi*time/(1 s))
    """
    found = netsim.load(text).periodic(save=["a.v"])
    t, v = found["time"].values, found["a.v"].values
    passing = np.flatnonzero(np.diff(np.sign(v)))
    roots = [t[k] - v[k] * (t[k + 1] - t[k]) / (v[k + 1] - v[k]) for k in passing]
    assert len(roots) == 2
    inside = roots[1] - roots[0]
    positive = inside if v[passing[0] + 1] > 0 else 1 - inside
    multiplier = found["multipliers.real"].values
    assert multiplier == pytest.approx([np.exp(-0.3 * positive - 2 * (1 - positive))], rel=2e-6)


def test_parts_of_a_step_keep_what_stands_still():
    """A truth of 1 stays 1 to the last digit; what is cubic is found between the nodes; parts meet."""
    t = 2.0 + 0.1 * kinks.NODES
    step = np.column_stack([t, np.ones(4), 0.1 * np.ones(4), t**3 - t])
    found = kinks._parts(step, np.array([0.25, 0.5]))
    assert found.shape == (3, 4, 4)
    assert (found[:, :, 1] == 1.0).all() and (found[:, :, 2] == 0.1).all()
    assert found[:, :, 3] == pytest.approx(found[:, :, 0] ** 3 - found[:, :, 0], rel=1e-13)
    assert (found[1:, 0] == found[:-1, 3]).all() and (found[0, 0] == step[0]).all() and (found[-1, 3] == step[3]).all()
    assert found[:, 3, 0] == pytest.approx([2.025, 2.05, 2.1], rel=1e-14)


def test_operands_that_stay_alike_make_no_kinks():
    noise = 1e-12 * np.array([[[1.0, -1, 1, -1]], [[1e12, 1e12, 1e12, 1e12]]]).transpose(1, 0, 2)
    assert not list(kinks._passed(noise))
    assert [round(share, 12) for _, share in kinks._passed((kinks.NODES - 0.4)[None, None])] == [0.4]


def test_constants_of_kinks():
    assert (kinks.AHEAD, kinks.RESTS, kinks.REAL) == (1e-8, 1e-9, 1e-6)
