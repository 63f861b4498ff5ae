"""Six-vectors in a body's own frame, linear part first: twist (v, w), wrench (f, n). Compiled, on tuples, without
allocation.

A frame is a row of 12 numbers: the rotation R of child to parent axes by rows, then the child's origin p in the parent.

    twist to the child     (R^T (v + w x p), R^T w)                     G17 (4)-(7): the matrix T
    wrench to the parent   (R f, R n + p x R f)                         G17 (10), (11): T^T

Functions of the innermost loops are inlined by force, here and in the other files: an array passed to one that is not
has its references counted.
"""

from netsim.core.compiled.function import compiled


@compiled(forceinline=True)
def join(a, b):
    """Two three-vectors as a six-vector."""
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@compiled(forceinline=True)
def turned(x, i, a, b, c):
    """R (a, b, c) of the frame i."""
    return (
        x[i, 0] * a + x[i, 1] * b + x[i, 2] * c,
        x[i, 3] * a + x[i, 4] * b + x[i, 5] * c,
        x[i, 6] * a + x[i, 7] * b + x[i, 8] * c,
    )


@compiled(forceinline=True)
def turned_back(frame, i, x, y, z):
    """R^T (x, y, z) of the frame i."""
    return (
        frame[i, 0] * x + frame[i, 3] * y + frame[i, 6] * z,
        frame[i, 1] * x + frame[i, 4] * y + frame[i, 7] * z,
        frame[i, 2] * x + frame[i, 5] * y + frame[i, 8] * z,
    )


@compiled(forceinline=True)
def twist_to_child(x, i, m):
    """The twist of the child's origin for the parent's twist m (a 6-tuple) through the frame x[i]."""
    a = m[0] + m[4] * x[i, 11] - m[5] * x[i, 10]
    b = m[1] + m[5] * x[i, 9] - m[3] * x[i, 11]
    c = m[2] + m[3] * x[i, 10] - m[4] * x[i, 9]
    return join(turned_back(x, i, a, b, c), turned_back(x, i, m[3], m[4], m[5]))


@compiled(forceinline=True)
def wrench_to_parent(x, i, f):
    """The same wrench f (a 6-tuple) of the child about the parent's origin, in the parent's axes."""
    a, b, c = turned(x, i, f[0], f[1], f[2])
    p, q, r = turned(x, i, f[3], f[4], f[5])
    return (
        a,
        b,
        c,
        p + x[i, 10] * c - x[i, 11] * b,
        q + x[i, 11] * a - x[i, 9] * c,
        r + x[i, 9] * b - x[i, 10] * a,
    )


@compiled(forceinline=True)
def twist_to_parent(x, i, m):
    """The twist of the parent's origin for the child's twist m: (R v + p x R w, R w)."""
    w = wrench_to_parent(x, i, (m[3], m[4], m[5], m[0], m[1], m[2]))
    return (w[3], w[4], w[5], w[0], w[1], w[2])


@compiled(forceinline=True)
def to_ground(world, parent, frame, i):
    """world[i], the frame of a node in the ground's axes, from its parent's and its own."""
    for r in range(3):
        a, b, c = world[parent, 3 * r], world[parent, 3 * r + 1], world[parent, 3 * r + 2]
        for k in range(3):
            world[i, 3 * r + k] = a * frame[i, k] + b * frame[i, 3 + k] + c * frame[i, 6 + k]
        world[i, 9 + r] = world[parent, 9 + r] + a * frame[i, 9] + b * frame[i, 10] + c * frame[i, 11]


@compiled(forceinline=True)
def row(a, i):
    """Row i of an (n, 6) array as a tuple."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@compiled(forceinline=True)
def put(a, i, m):
    """a[i] = m"""
    a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5] = m


@compiled(forceinline=True)
def add(a, i, m):
    """a[i] += m"""
    a[i, 0] += m[0]
    a[i, 1] += m[1]
    a[i, 2] += m[2]
    a[i, 3] += m[3]
    a[i, 4] += m[4]
    a[i, 5] += m[5]


@compiled(forceinline=True)
def plus(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@compiled(forceinline=True)
def minus(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@compiled(forceinline=True)
def unit(k):
    """The k-th of six unit vectors."""
    return (1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2), 1.0 * (k == 3), 1.0 * (k == 4), 1.0 * (k == 5))


@compiled(forceinline=True)
def plus3(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@compiled(forceinline=True)
def minus3(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled(forceinline=True)
def scaled3(a, factor):
    """factor a"""
    return (factor * a[0], factor * a[1], factor * a[2])


@compiled(forceinline=True)
def dot3(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled(forceinline=True)
def cross3(a, b):
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled(forceinline=True)
def scaled(a, factor):
    """factor a"""
    return (factor * a[0], factor * a[1], factor * a[2], factor * a[3], factor * a[4], factor * a[5])


@compiled(forceinline=True)
def dot(a, b):
    """Power of a wrench on a twist."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@compiled(forceinline=True)
def cross_twist(a, b):
    """a x b of twists: (w_a x v_b + v_a x w_b, w_a x w_b)."""
    return (
        a[4] * b[2] - a[5] * b[1] + a[1] * b[5] - a[2] * b[4],
        a[5] * b[0] - a[3] * b[2] + a[2] * b[3] - a[0] * b[5],
        a[3] * b[1] - a[4] * b[0] + a[0] * b[4] - a[1] * b[3],
        a[4] * b[5] - a[5] * b[4],
        a[5] * b[3] - a[3] * b[5],
        a[3] * b[4] - a[4] * b[3],
    )


@compiled(forceinline=True)
def cross_wrench(a, f):
    """a x* f, a twist on a wrench: (w x f, w x n + v x f)."""
    return (
        a[4] * f[2] - a[5] * f[1],
        a[5] * f[0] - a[3] * f[2],
        a[3] * f[1] - a[4] * f[0],
        a[4] * f[5] - a[5] * f[4] + a[1] * f[2] - a[2] * f[1],
        a[5] * f[3] - a[3] * f[5] + a[2] * f[0] - a[0] * f[2],
        a[3] * f[4] - a[4] * f[3] + a[0] * f[1] - a[1] * f[0],
    )


@compiled(forceinline=True)
def momentum(a, i, c, m):
    """The momentum of a rigid body of twist m: a[i, c:] is (mass, mass x centre (3), moments xx xy xz yy yz zz about
    the origin)."""
    k, x, y, z = a[i, c], a[i, c + 1], a[i, c + 2], a[i, c + 3]
    xx, xy, xz, yy, yz, zz = a[i, c + 4], a[i, c + 5], a[i, c + 6], a[i, c + 7], a[i, c + 8], a[i, c + 9]
    return (
        k * m[0] + m[4] * z - m[5] * y,
        k * m[1] + m[5] * x - m[3] * z,
        k * m[2] + m[3] * y - m[4] * x,
        xx * m[3] + xy * m[4] + xz * m[5] + y * m[2] - z * m[1],
        xy * m[3] + yy * m[4] + yz * m[5] + z * m[0] - x * m[2],
        xz * m[3] + yz * m[4] + zz * m[5] + x * m[1] - y * m[0],
    )


@compiled(forceinline=True)
def inertia_to_ground(world, i, a, j, c, out):
    """out[i] (10) = the inertia row a[j, c:] of a body turned and moved by its frame world[i]: J = R J R^T + what a
    shift by p adds."""
    k, x, y, z = a[j, c], world[i, 9], world[i, 10], world[i, 11]
    h = turned(world, i, a[j, c + 1], a[j, c + 2], a[j, c + 3])
    xx, xy, xz, yy, yz, zz = a[j, c + 4], a[j, c + 5], a[j, c + 6], a[j, c + 7], a[j, c + 8], a[j, c + 9]
    f, g, e = turned(world, i, xx, xy, xz), turned(world, i, xy, yy, yz), turned(world, i, xz, yz, zz)  # columns of R J
    t = world[i]
    px, py, pz = h[0] + k * x, h[1] + k * y, h[2] + k * z
    ax, ay, az = h[0] + px, h[1] + py, h[2] + pz  # of moments: h p^T + p h^T + k p p^T, symmetric
    sx, sy, sz = x * ax, y * ay, z * az
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = k, px, py, pz
    out[i, 4] = t[0] * f[0] + t[1] * g[0] + t[2] * e[0] + sy + sz
    out[i, 5] = t[3] * f[0] + t[4] * g[0] + t[5] * e[0] - h[0] * y - x * py
    out[i, 6] = t[6] * f[0] + t[7] * g[0] + t[8] * e[0] - h[0] * z - x * pz
    out[i, 7] = t[3] * f[1] + t[4] * g[1] + t[5] * e[1] + sx + sz
    out[i, 8] = t[6] * f[1] + t[7] * g[1] + t[8] * e[1] - h[1] * z - y * pz
    out[i, 9] = t[6] * f[2] + t[7] * g[2] + t[8] * e[2] + sx + sy


@compiled(_nrt=False, no_cpython_wrapper=True, forceinline=True)
def _six_rows(x, start, end):
    return x[0, start:end], x[1, start:end], x[2, start:end], x[3, start:end], x[4, start:end], x[5, start:end]


@compiled(_nrt=False, no_cpython_wrapper=True, fastmath={"contract"})
def columns_dot(a, x, start, out):
    """out[k] = a . x[:, start + k]"""
    x0, x1, x2, x3, x4, x5 = _six_rows(x, start, start + len(out))
    for k in range(len(out)):
        out[k] = (a[0] * x0[k] + a[1] * x1[k] + a[2] * x2[k]) + (a[3] * x3[k] + a[4] * x4[k] + a[5] * x5[k])


@compiled(_nrt=False, no_cpython_wrapper=True, fastmath={"contract"})
def add_columns_dot(a, x, start, out):
    """out[k] += a . x[:, start + k]"""
    x0, x1, x2, x3, x4, x5 = _six_rows(x, start, start + len(out))
    for k in range(len(out)):
        out[k] += (a[0] * x0[k] + a[1] * x1[k] + a[2] * x2[k]) + (a[3] * x3[k] + a[4] * x4[k] + a[5] * x5[k])
