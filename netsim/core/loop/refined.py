"""What a run's trace says between the nodes of its steps: the steps' polynomials at instants in between, and where a
series of these passes zero.

A trace has signals at the nodes of each step (steps, nodes). A step is refined into POINTS intervals of the same
length; where a signal jumps between a step and the next one, an interval of no length parts them, in POINTS pieces too,
so that sums over pairs of intervals see no jump.
"""

from netsim.core.compiled.function import inner

POINTS = 8
"""Intervals of a step."""
ITERATIONS, CLOSE = 100, 1e-15
"""Newton's iterations for a root, and the correction, as a share of the interval, that ends them."""


@inner
def mark_jumps(series, jumps):
    """jumps[k] = 1 where a signal (steps, nodes) is another one behind step k."""
    for k in range(series.shape[0] - 1):
        if series[k, series.shape[1] - 1] != series[k + 1, 0]:
            jumps[k] = 1


@inner
def refine_axis(time, jumps, first, last, axis):
    """Instants from `first` to `last`, into `axis`; how many there are (none where no step lies there)."""
    count, end = 0, time.shape[1] - 1
    for k in range(time.shape[0]):
        if not (time[k, end] > first and time[k, 0] < last):
            continue
        if count and jumps[k - 1]:
            count = _part(axis, count)
        begin, size = time[k, 0], time[k, end] - time[k, 0]
        low, high = _cut(begin, size, first, last)
        for i in range(POINTS):
            axis[count + i] = begin + (low + i / POINTS * (high - low)) * size
        count += POINTS
        axis[count] = begin + high * size
    return count + 1 if count else 0


@inner
def refine_series(time, series, jumps, first, last, to_powers, found):
    """The polynomials of the steps of a signal at the instants of `refine_axis`. `to_powers`: from values at nodes to
    coefficients, highest power first."""
    count, end = 0, time.shape[1] - 1
    for k in range(time.shape[0]):
        if not (time[k, end] > first and time[k, 0] < last):
            continue
        if count and jumps[k - 1]:
            count = _part(found, count)
        low, high = _cut(time[k, 0], time[k, end] - time[k, 0], first, last)
        for i in range(POINTS + 1):
            place, value = low + i / POINTS * (high - low), 0.0
            for m in range(end + 1):
                coefficient = 0.0
                for n in range(end + 1):
                    coefficient += to_powers[m, n] * series[k, n]
                value = value * place + coefficient
            found[count + i] = value
        count += POINTS


@inner
def _part(found, count):
    """An interval of no length behind the last instant."""
    for i in range(POINTS):
        found[count + i] = found[count]
    return count + POINTS


@inner
def _cut(begin, size, first, last):
    """The shares of a step between which it is looked at."""
    low = (min(max(begin, first), last) - begin) / size
    return low, (min(max(begin + size, first), last) - begin) / size


@inner
def roots(time, series, way, strict, found):
    """Instants at which a series passes zero on the way up (way 1), down (-1) or either way (0), into `found`; how many
    there are. It does where it comes to stand at zero or, `strict`, beyond it."""
    count = 0
    for i in range(series.shape[0] - 1):
        a, b = series[i], series[i + 1]
        up = (a <= 0.0 and b > 0.0) if strict else (a < 0.0 and b >= 0.0)
        down = (a >= 0.0 and b < 0.0) if strict else (a > 0.0 and b <= 0.0)
        if (up and way >= 0) or (down and way <= 0):
            found[count] = _root(time, series, i)
            count += 1
    return count


@inner
def _root(time, series, i):
    """Where the cubic through the points around interval i passes zero in it: by Newton's method between bounds."""
    a, b = series[i], series[i + 1]
    if a == 0.0 or b == 0.0 or time[i] == time[i + 1]:
        return time[i] if a == 0.0 else time[i + 1]
    low, high, s = 0.0, 1.0, a / (a - b)
    c, d, p = _differences(time, series, i)
    for _ in range(ITERATIONS):
        inside = c + (s - p) * d
        value = a + s * (b - a + (s - 1.0) * inside)
        if value == 0.0:
            break
        if (value > 0.0) == (a > 0.0):
            low = s
        else:
            high = s
        slope = b - a + (2.0 * s - 1.0) * inside + s * (s - 1.0) * d
        moved = s - value / slope if slope != 0.0 else low
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if abs(moved - s) <= CLOSE:
            break
        s = moved
    return time[i] + s * (time[i + 1] - time[i])


@inner
def _differences(time, series, i):
    """c, d and p of Newton's form a + s (b - a + (s - 1) (c + (s - p) d)) through the points around interval i, s from
    0 to 1 in it; a straight line where one beside it stands at the same instant, or there is none."""
    scale, c, d, p = time[i + 1] - time[i], 0.0, 0.0, 0.0
    before, behind = i > 0, i + 2 < time.shape[0]
    if (before and not time[i - 1] < time[i]) or (behind and not time[i + 2] > time[i + 1]):
        return c, d, p
    rise = series[i + 1] - series[i]
    if before:
        p = (time[i - 1] - time[i]) / scale
        c = (rise - (series[i] - series[i - 1]) / -p) / (1.0 - p)
    if behind:
        q = (time[i + 2] - time[i]) / scale
        other = ((series[i + 2] - series[i + 1]) / (q - 1.0) - rise) / q
        if before:
            d = (other - c) / (q - p)
        else:
            c = other
    return c, d, p
