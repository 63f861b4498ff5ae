"""A moving picture of a mechanism as one HTML file that needs no network: bodies, links, traces of markers, force
arrows, a time slider.

A picture holds at most `MOST_TIMES` instants; the page interpolates between them (positions linearly, rotations along
the great circle). A motion that turns further than half a turn between two kept instants looks slower than it is: keep
more of them.
"""

import base64
import html
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from netsim.output.scene import (
    Arrow,
    Curve,
    Frame,
    Link,
    Scene,
    Shape,
    Trace,
    box,
    cylinder,
    line,
    point,
    problems,
    quaternions,
    rod,
    sphere,
)
from netsim.results.files import writable, write_atomically
from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem

__all__ = [
    "Arrow",
    "Frame",
    "Link",
    "Scene",
    "Shape",
    "Trace",
    "box",
    "cylinder",
    "line",
    "page_text",
    "point",
    "rod",
    "scene_of_samples",
    "sphere",
    "write_page",
]

MOST_TIMES = 2000
COLOURS = ("#2f6fb5", "#d1495b", "#2e8b57", "#e08e0b", "#6c4ab6", "#5b6770", "#0f8b8d", "#a44a3f")
SCRIPTS = ("motion.js", "shapes.js", "painter.js", "view.js", "page.js")
VIEWER = Path(__file__).parent / "viewer"

# --------------------------------------------------------------------------------------------------- the page


def write_page(scene: Scene | Samples, path: Path | str, most_times: int = MOST_TIMES) -> Path:
    """Write the scene (of samples: what `scene_of_samples` makes of them) as one HTML file of at most `most_times`
    instants and return its path.

    Raises `InputError` for a scene whose arrays do not fit together, for samples without positions, for a path that
    cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            Problem("E436", f"an animation cannot be written to '{path}'", hint="write it to a .html file")
        )
    page = page_text(scene_of_samples(scene) if isinstance(scene, Samples) else scene, most_times)
    return write_atomically(writable(path), lambda place: place.write_text(page, encoding="utf-8"))


def page_text(scene: Scene, most_times: int = MOST_TIMES) -> str:
    """The page itself; raises `InputError` for a scene whose arrays do not fit together."""
    parts = {
        "title": html.escape(scene.title or "animation"),
        "style": _file("page.css"),
        "licence": _file("three.LICENSE.txt"),
        "library": _file("three.bundle.js"),
        "scene": json.dumps(encoded(scene, most_times)).replace("<", "\\u003c"),
        "viewer": "\n".join(_file(name) for name in SCRIPTS),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def _file(name: str) -> str:
    return (VIEWER / name).read_text(encoding="utf-8")


# --------------------------------------------------------------------------------------------------- what the page
# reads


def encoded(scene: Scene, most_times: int = MOST_TIMES) -> dict[str, Any]:
    """The scene as JSON: series are [first, rows, width] of one block of float32, times are float64, both little-endian
    in base64.

    Series that never change are kept once. `bounds` is the least and greatest x, y, z that anything reaches.
    """
    if wrong := list(problems(scene)):
        raise InputError(wrong)
    keep = kept_times(np.asarray(scene.time, float), most_times)
    time = np.asarray(scene.time, float)[keep]
    block = _Block(len(scene.time), keep)
    frames = [(f, block.rows(f.position), block.rows(quaternions(f.rotation))) for f in scene.frames]
    arrows, bounds = _arrows(scene, np.concatenate([np.zeros((0, 3)), *_reached(scene, frames, block)]), block)
    lines = {
        "title": scene.title,
        "message": scene.message,
        "chapters": [asdict(chapter) for chapter in scene.chapters],
        "planar": _is_planar(scene, frames, bounds) if scene.planar is None else scene.planar,
        "grid": scene.grid,
        "ground": scene.ground,
        "bounds": bounds.tolist(),
        "frames": [_frame(i, f, position, rotation, block) for i, (f, position, rotation) in enumerate(frames)],
        "arrows": [block.record(arrow) for arrow in arrows],
        "traces": [
            block.record(replace(t, colour=t.colour or COLOURS[i % len(COLOURS)])) for i, t in enumerate(scene.traces)
        ],
        "links": [block.record(link) for link in scene.links],
        "curves": [block.record(replace(c, straight=_flat(c.straight), bent=_flat(c.bent))) for c in scene.curves],
    }
    return {
        **lines,
        "time": _base64(time.astype("<f8")),
        "series": _base64(np.concatenate([np.zeros(0, "<f4"), *block.parts])),
    }


def _arrows(scene: Scene, reached: np.ndarray, block: "_Block") -> tuple[list[Arrow], np.ndarray]:
    """The arrows with the scales at which they are drawn, and the bounds of what is reached with their tips."""
    bounds = np.array([reached.min(axis=0), reached.max(axis=0)]) if len(reached) else np.array([[-0.5] * 3, [0.5] * 3])
    arrows = [replace(a, scale=a.scale or _arrow_scale(block.rows(a.vector), bounds)) for a in scene.arrows]
    tips = [block.rows(a.origin) + a.scale * block.rows(a.vector) for a in arrows]
    least = np.min([bounds[0], *(t.min(axis=0) for t in tips)], axis=0)
    most = np.max([bounds[1], *(t.max(axis=0) for t in tips)], axis=0)
    return arrows, np.array([least, most])


def _flat(points: np.ndarray) -> np.ndarray:
    return points.reshape(len(points), -1)


class _Block:
    """Collects series in float32, thinned to the kept times."""

    def __init__(self, total: int, keep: np.ndarray):
        self.total, self.keep, self.size = total, keep, 0
        self.parts: list[np.ndarray] = []

    def record(self, each: Arrow | Curve | Link | Trace) -> dict[str, Any]:
        """A record by its fields: series are put into the block."""
        named = {field.name: getattr(each, field.name) for field in fields(each)}
        return {
            name: value if isinstance(value, str | float | int) else self.put(value) for name, value in named.items()
        }

    def rows(self, series: np.ndarray) -> np.ndarray:
        """The series at the kept times, (kept, width); one row where it never changes."""
        series = np.atleast_2d(np.asarray(series, float))
        if len(series) == 1 or np.array_equal(series, np.broadcast_to(series[0], series.shape)):
            return series[:1]
        return series[self.keep]

    def put(self, series: np.ndarray, thinned: bool = False) -> list[int]:
        rows = np.asarray(series if thinned else self.rows(series), "<f4")
        self.parts.append(rows.ravel())
        self.size += rows.size
        return [self.size - rows.size, *rows.shape]


def _frame(i: int, frame: Frame, position: np.ndarray, rotation: np.ndarray, block: _Block) -> dict[str, Any]:
    own = [s.colour for s in frame.shapes]
    colour = frame.colour or (own[0] if own and all(own) else COLOURS[i % len(COLOURS)])
    shapes = [
        {
            "kind": s.kind,
            "size": s.size,
            "position": s.position,
            "rotation": s.rotation,
            "colour": s.colour or colour,
            "points": s.points,
        }
        for s in frame.shapes
    ]
    return {
        "name": frame.name,
        "colour": colour,
        "position": block.put(position, True),
        "rotation": block.put(rotation, True),
        "shapes": shapes,
    }


def _base64(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


def kept_times(time: np.ndarray, most: int) -> np.ndarray:
    """Indices of at most `most` samples, spread evenly in time, the first and the last among them."""
    if len(time) <= most:
        return np.arange(len(time))
    wanted = np.linspace(time[0], time[-1], max(2, most))
    after = np.clip(np.searchsorted(time, wanted), 1, len(time) - 1)
    return np.unique(np.where(wanted - time[after - 1] < time[after] - wanted, after - 1, after))


# --------------------------------------------------------------------------------------------------- extent


def _reached(scene: Scene, frames: list[tuple[Frame, np.ndarray, np.ndarray]], block: _Block) -> Iterator[np.ndarray]:
    """Points (any, 3) that bodies, links, traces and the feet of arrows reach."""
    for frame, position, rotation in frames:
        yield position
        for shape in frame.shapes:
            yield _corners(shape, position, rotation)
    yield from (block.rows(points) for link in scene.links for points in (link.start, link.end))
    yield from (curve.bent[::, k] for curve in scene.curves for k in (0, -1))
    yield from (block.rows(trace.points) for trace in scene.traces)
    yield from (block.rows(arrow.origin) for arrow in scene.arrows)


def _corners(shape: Shape, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """The corners of the box around a shape at every time."""
    from scipy.spatial.transform import Rotation as Turn

    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    local = np.asarray(shape.points, float) if shape.kind == "line" else signs * _half_edges(shape)
    local = Turn.from_quat(quaternions(np.array(shape.rotation))[0], scalar_first=True).apply(local) + shape.position
    matrices = Turn.from_quat(rotation, scalar_first=True).as_matrix()
    points = (position[:, None, :] + np.einsum("tij,kj->tki", matrices, local)).reshape(-1, 3)
    return np.concatenate([points + s * shape.size[0] for s in signs]) if shape.kind == "sphere" else points


def _half_edges(shape: Shape) -> np.ndarray:
    """Of the box around a shape (none for a sphere, which stays what it is when turned)."""
    if shape.kind in ("cylinder", "tube"):
        return np.array([shape.size[0] / 2, shape.size[1], shape.size[1]])
    return np.array(shape.size) / 2 if shape.kind == "box" else np.zeros(3)


def _arrow_scale(vectors: np.ndarray, bounds: np.ndarray) -> float:
    longest = float(np.linalg.norm(vectors, axis=1).max())
    size = float(np.linalg.norm(bounds[1] - bounds[0]))
    return 0.25 * (size or 1.0) / longest if longest else 1.0


def _is_planar(scene: Scene, frames: list[tuple[Frame, np.ndarray, np.ndarray]], bounds: np.ndarray) -> bool:
    """Does everything move in planes of constant z, and turn about z alone?"""
    size = float(np.linalg.norm(bounds[1] - bounds[0]))
    heights = [p[:, 2] for _, p, _ in frames] + [np.asarray(t.points, float)[:, 2] for t in scene.traces]
    heights += [np.atleast_2d(np.asarray(p, float))[:, 2] for k in scene.links for p in (k.start, k.end)]
    spread = max((float(np.ptp(h)) for h in heights), default=0.0)
    turns = max((float(np.abs(q[:, 1:3]).max()) for _, _, q in frames), default=0.0)
    vectors = [np.atleast_2d(np.asarray(a.vector, float)) for a in scene.arrows]
    tilt = max((float(np.abs(v[:, 2]).max() / np.abs(v).max()) for v in vectors if np.any(v)), default=0.0)
    return spread <= 1e-6 * size and max(turns, tilt) <= 1e-6


# --------------------------------------------------------------------------------------------------- samples alone


def scene_of_samples(samples: Samples, title: str = "") -> Scene:
    """The saved positions as plain bodies: nodes in space (r, R) and in the plane (r, phi) as boxes with their paths,
    nodes on a line (x) in lanes.

    Instants from the first that is not finite on are left out. Raises `InputError` where no position was saved.
    """
    table = {s.name: samples.values[:, j] for j, s in enumerate(samples.signals)}
    good = int(np.argmin(np.r_[np.all(np.isfinite(samples.values), axis=1), False]))
    paths = {
        name.removesuffix(".r.x"): _path(table, name.removesuffix(".x")) for name in table if name.endswith(".r.x")
    }
    lanes = [
        s.name
        for s in samples.signals
        if s.name.endswith(".x") and s.unit == "m" and s.name.removesuffix(".x") + ".y" not in table
    ]
    if not good or not (paths or lanes):
        raise InputError(
            Problem(
                "E438",
                "the samples contain no positions to animate",
                hint="add a line: save body.r, body.R (in space), save a.x (on a line)",
            )
        )
    points = [p[:good] for p in paths.values()]
    size = (
        max(
            [float(np.ptp(np.concatenate(points), axis=0).max())]
            if points
            else [float(np.ptp([table[n][:good] for n in lanes]))]
        )
        or 1.0
    )
    edge = 0.08 * size
    frames = [Frame(n, p[:good], _turns(table, n, good), (box(edge, edge, edge),)) for n, p in paths.items()]
    for i, name in enumerate(lanes):
        along = np.column_stack([table[name][:good], np.full(good, -2.0 * i * edge), np.zeros(good)])
        frames.append(Frame(name.removesuffix(".x"), along, shapes=(box(edge, edge, edge),)))
    traces = tuple(Trace(n, p[:good]) for n, p in paths.items())
    return Scene(
        title or samples.name or "animation",
        samples.time[:good],
        tuple(frames),
        traces=traces,
        message="" if samples.finished else samples.message,
    )


def _path(table: dict[str, np.ndarray], name: str) -> np.ndarray:
    """(nt, 3) of a saved vector; what it lacks (z in the plane) is zero."""
    return np.column_stack([table.get(f"{name}.{c}", np.zeros_like(table[f"{name}.x"])) for c in "xyz"])


def _turns(table: dict[str, np.ndarray], name: str, good: int) -> np.ndarray:
    """The saved rotations of a node: a matrix in space, an angle in the plane, else none."""
    entries = [f"{name}.R[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3)]
    if all(e in table for e in entries):
        return np.stack([table[e][:good] for e in entries], axis=1).reshape(good, 3, 3)
    half = table.get(f"{name}.phi", np.zeros(good))[:good] / 2
    return np.column_stack([np.cos(half), np.zeros(good), np.zeros(good), np.sin(half)])
