"""What a moving picture shows: frames with shapes, links, force arrows and traces of markers over time.

Lengths are in m, times in s, axes are the world's; the z axis points up, and a planar scene (all motion in x and y) is
seen from above.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from netsim.text.errors import Problem

SIZES = {"box": 3, "cylinder": 2, "tube": 3, "sphere": 1, "line": 0, "point": 0}
LINKS = ("line", "spring", "damper")

Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float]


@dataclass(frozen=True)
class Shape:
    """A rigid shape placed in a frame by `position` (m) and `rotation` (quaternion w, x, y, z).

    Size in m by kind: box (x, y, z); cylinder (length, radius) and tube (length, outer radius, inner radius), both
    along x and centred; sphere (radius); a line goes through `points`; a point is a dot. Without a colour (any CSS
    colour) it has that of its frame.
    """

    kind: str
    size: tuple[float, ...] = ()
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Rotation = (1.0, 0.0, 0.0, 0.0)
    colour: str = ""
    points: tuple[Vector, ...] = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """A moving frame and the shapes fixed to it: position (nt, 3) in m; rotation (nt, 4) as quaternions w, x, y, z or
    (nt, 3, 3) as matrices.

    One position (3,) or rotation (4,), (3, 3) holds for all times. A name that starts with '_' is not shown.
    """

    name: str
    position: np.ndarray
    rotation: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    shapes: tuple[Shape, ...] = ()
    colour: str = ""


@dataclass(frozen=True, eq=False)
class Link:
    """A line, spring or damper between two moving points, start and end (nt, 3) or (3,) in m; `width` in m (0: chosen
    by the page)."""

    name: str
    start: np.ndarray
    end: np.ndarray
    kind: str = "line"
    width: float = 0.0
    colour: str = "#5b6770"


@dataclass(frozen=True, eq=False)
class Arrow:
    """A vector (nt, 3) in `unit` drawn from origin (nt, 3), `scale` metres long per unit (0: the longest is a quarter
    of the scene)."""

    name: str
    origin: np.ndarray
    vector: np.ndarray
    scale: float = 0.0
    unit: str = "N"
    colour: str = "#c2185b"


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of a point: points (nt, 3) in m."""

    name: str
    points: np.ndarray
    colour: str = ""


@dataclass(frozen=True, eq=False)
class Curve:
    """A bent line: points (nt, p, 3) in m where it is, and where it would be were it straight; the page multiplies what
    lies between."""

    name: str
    straight: np.ndarray
    bent: np.ndarray
    colour: str = "#1f5f8b"


@dataclass(frozen=True)
class TimeSection:
    """A part of the time that the page shows by itself, over and over: from `first` to `last` s."""

    name: str
    first: float
    last: float


@dataclass(frozen=True, eq=False)
class Scene:
    """All that a page shows over time (nt,) in s, with `chapters` one of them at a time.

    `planar` None: found from the motion. `ground` is the height z of the grid, None: just below everything. `message`
    is shown in red.
    """

    title: str
    time: np.ndarray
    frames: tuple[Frame, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    traces: tuple[Trace, ...] = ()
    links: tuple[Link, ...] = ()
    curves: tuple[Curve, ...] = ()
    planar: bool | None = None
    grid: bool = True
    ground: float | None = None
    message: str = ""
    chapters: tuple[TimeSection, ...] = ()


# --------------------------------------------------------------------------------------------------- shapes


def box(x: float, y: float, z: float, at: Vector = (0.0, 0.0, 0.0), colour: str = "") -> Shape:
    """A box with edges x, y, z along the frame's axes and its centre at `at`."""
    return Shape("box", (x, y, z), at, colour=colour)


def sphere(radius: float, at: Vector = (0.0, 0.0, 0.0), colour: str = "") -> Shape:
    """A sphere about `at`."""
    return Shape("sphere", (radius,), at, colour=colour)


def cylinder(
    length: float,
    radius: float,
    axis: Vector = (1.0, 0.0, 0.0),
    at: Vector = (0.0, 0.0, 0.0),
    inner: float = 0.0,
    colour: str = "",
) -> Shape:
    """A cylinder (with an `inner` radius a tube) along `axis` with its centre at `at`; a mark on its faces shows how it
    turns."""
    size = (length, radius, inner) if inner else (length, radius)
    return Shape("tube" if inner else "cylinder", size, at, _turn_from_x(axis), colour)


def rod(start: Vector, end: Vector, radius: float, colour: str = "") -> Shape:
    """A cylinder from one point of the frame to another."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    middle, along = (a + b) / 2, b - a
    return cylinder(float(np.linalg.norm(along)), radius, _vector(along), _vector(middle), colour=colour)


def line(*points: Vector, colour: str = "") -> Shape:
    """A line through points of the frame."""
    return Shape("line", points=points, colour=colour)


def point(at: Vector = (0.0, 0.0, 0.0), colour: str = "") -> Shape:
    """A dot at a point of the frame."""
    return Shape("point", (), at, colour=colour)


def _vector(a: np.ndarray) -> Vector:
    return float(a[0]), float(a[1]), float(a[2])


def _turn_from_x(axis: Vector) -> Rotation:
    """The quaternion of the shortest turn that takes x into `axis`: (1 + x.n, x cross n), normalised."""
    n = np.asarray(axis, float)
    length = float(np.linalg.norm(n))
    if length == 0:
        return 1.0, 0.0, 0.0, 0.0
    n = n / length
    q = np.array([1 + n[0], 0.0, -n[2], n[1]]) if n[0] > -1 + 1e-12 else np.array([0.0, 0.0, 0.0, 1.0])
    w, x, y, z = (q / np.linalg.norm(q)).tolist()
    return w, x, y, z


def quaternions(rotation: np.ndarray) -> np.ndarray:
    """Unit quaternions (k, 4) as w, x, y, z of rotations given as quaternions (4,), (k, 4) or matrices (3, 3), (k, 3,
    3)."""
    from scipy.spatial.transform import Rotation as Turn

    rotation = np.asarray(rotation, float)
    if rotation.shape[-2:] == (3, 3):
        return np.atleast_2d(Turn.from_matrix(rotation).as_quat(scalar_first=True))
    rotation = np.atleast_2d(rotation)
    return rotation / np.linalg.norm(rotation, axis=1, keepdims=True)


# --------------------------------------------------------------------------------------------------- checks


def problems(scene: Scene) -> Iterator[Problem]:
    """What does not fit together, one problem each."""
    time = np.asarray(scene.time, float)
    if time.ndim != 1 or not len(time) or not np.all(np.isfinite(time)) or np.any(np.diff(time) < 0):
        yield Problem(
            "E437", f"the times of scene '{scene.title}' must be a series (nt,) of finite numbers that do not decrease"
        )
        return
    for owner, series, one in _all_series(scene):
        shape = np.shape(series)
        allowed = [(len(time), *o) for o in one] + list(one)
        if shape not in allowed:
            yield Problem("E437", f"{owner} has the shape {shape}", hint="expected " + " or ".join(map(str, allowed)))
        elif not np.all(np.isfinite(np.asarray(series, float))):
            yield Problem("E437", f"{owner} is not finite everywhere", hint="omit the instants after a failed step")
    for frame in scene.frames:
        for s in frame.shapes:
            if s.kind not in SIZES:
                yield Problem(
                    "E437", f"frame '{frame.name}' has no shape '{s.kind}'", hint="the shapes are " + ", ".join(SIZES)
                )
            elif (
                len(s.size) != SIZES[s.kind]
                or not all(np.isfinite(x) and x >= 0 for x in s.size)
                or (s.kind == "line" and len(s.points) < 2)
            ):
                yield Problem("E437", f"the {s.kind} of frame '{frame.name}' cannot have the size {s.size}")
    yield from (
        Problem("E437", f"link '{k.name}' has no kind '{k.kind}'", hint="the kinds are " + ", ".join(LINKS))
        for k in scene.links
        if k.kind not in LINKS
    )


def _all_series(scene: Scene) -> Iterator[tuple[str, np.ndarray, list[tuple[int, ...]]]]:
    """(what it is, series, shape of one row) of everything that moves."""
    for f in scene.frames:
        yield f"the position of frame '{f.name}'", f.position, [(3,)]
        yield f"the rotation of frame '{f.name}'", f.rotation, [(4,), (3, 3)]
    for k in scene.links:
        yield f"the start of link '{k.name}'", k.start, [(3,)]
        yield f"the end of link '{k.name}'", k.end, [(3,)]
    for a in scene.arrows:
        yield f"the origin of arrow '{a.name}'", a.origin, [(3,)]
        yield f"the vector of arrow '{a.name}'", a.vector, [(3,)]
    for t in scene.traces:
        yield f"the path of trace '{t.name}'", t.points, [(3,)]
