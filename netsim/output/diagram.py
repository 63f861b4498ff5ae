"""A network as a picture: elements as boxes coloured by domain, nodes as dots, ground as its symbol wherever something
touches it.

Places come from the graph of elements, nodes and grounds (Kamada and Kawai, Inf. Process. Lett. 31, 1989: distances on
paper like distances in the graph); then boxes that overlap are pushed apart.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.network.network import GROUND, Instance, Network
from netsim.results.files import write_atomically
from netsim.results.plots import check_picture

if TYPE_CHECKING:
    from netsim.api import Model

Array = np.ndarray
Vertex = tuple[str, int, int]
"""('element', i, 0), ('node', i, 0) or ('ground', element, terminal)."""

DOMAIN_COLOURS = {
    "electrical": "#2f6fb5", "translational": "#2e8b57", "rotational": "#0f8b8d", "spatial": "#6c4ab6",
    "planar": "#9b59b6",
    "thermal": "#d1495b", "hydraulic": "#c77d0a", "signal": "#6b7780",
}  # fmt: skip
OTHER_COLOUR = "#8a6d3b"
LETTER = 0.078
"""Width of a letter in inches at the size used."""
GAP = 0.16
MOST_EXACT = 400
"""Vertices up to which all distances in the graph are used; beyond, forces of a spring model."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """Vertices with half sizes and places (k, 2) in inches, and lines between them with the name of the terminal."""

    vertices: list[Vertex]
    halves: Array
    places: Array
    lines: list[tuple[int, int, str]]


def draw_network(model: "Model", path: Path | str) -> Path:
    """Draw a model's network into a .png or .svg file and return its path; raises `InputError` for another format."""
    drawing = arranged(model.network)
    return write_atomically(check_picture(path), lambda place: _draw(model.network, drawing, place))


def arranged(network: Network) -> Drawing:
    """Where everything goes: no two boxes overlap."""
    vertices: list[Vertex] = [("element", i, 0) for i in range(len(network.instances))] + [
        ("node", i, 0) for i in range(len(network.nodes))
    ]
    number = {vertex: k for k, vertex in enumerate(vertices)}
    lines: list[tuple[int, int, str]] = []
    for i, instance in enumerate(network.instances):
        for t, (terminal, node) in enumerate(zip(instance.component.terminals, instance.nodes)):
            end: Vertex = ("ground", i, t) if node == GROUND else ("node", node, 0)
            if end not in number:
                number[end] = len(vertices)
                vertices.append(end)
            lines.append((number["element", i, 0], number[end], terminal))
    halves = np.array([_half_size(network, vertex) for vertex in vertices]).reshape(-1, 2)
    return Drawing(vertices, halves, _apart(_layout(len(vertices), lines), halves), lines)


def _half_size(network: Network, vertex: Vertex) -> tuple[float, float]:
    kind, i, _ = vertex
    if kind == "element":
        return 0.09 + LETTER / 2 * max(map(len, _words(network.instances[i]))), 0.21
    return (0.1 + LETTER / 2 * len(network.nodes[i].name), 0.15) if kind == "node" else (0.13, 0.13)


def _words(instance: Instance) -> tuple[str, str]:
    return instance.name, instance.component.name


def _layout(count: int, lines: list[tuple[int, int, str]]) -> Array:
    """Places in units of an edge's length; parts of the network that do not touch stand side by side."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((a, b) for a, b, _ in lines)
    found, right = np.zeros((count, 2)), 0.0
    for part in sorted(nx.connected_components(graph), key=min):
        piece = graph.subgraph(sorted(part))
        exact = len(part) <= MOST_EXACT
        places = (
            nx.kamada_kawai_layout(piece) if exact and len(part) > 1 else nx.spring_layout(piece, seed=1, iterations=80)
        )
        points = _lying(np.array([places[v] for v in piece]))
        edges = (
            [np.hypot(*(points[list(piece).index(a)] - points[list(piece).index(b)])) for a, b in piece.edges]
            if len(part) <= 2000
            else [1.0]
        )
        points = points / (float(np.median(edges)) if edges else 1.0)
        points += [right - points[:, 0].min(), -points[:, 1].mean()]
        right = points[:, 0].max() + 1.5
        found[list(piece)] = points
    return found


def _lying(points: Array) -> Array:
    """Turned so that the longer extent lies across the page."""
    centred = points - points.mean(axis=0)
    if len(points) < 3:
        return centred
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return centred @ axes.T


def _apart(places: Array, halves: Array) -> Array:
    """In inches, with overlapping boxes moved apart along their smaller overlap, grounds hanging below where there is
    room."""
    placed = places * [1.35, 0.95]
    for _ in range(400):
        gap = placed[:, None, :] - placed[None, :, :]
        overlap = halves[:, None, :] + halves[None, :, :] + GAP - np.abs(gap)
        hit = (overlap > 0).all(axis=2)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        across = overlap[:, :, 0] < overlap[:, :, 1]
        side = np.where(
            gap != 0,
            np.sign(gap),
            np.sign(np.arange(len(placed))[:, None] - np.arange(len(placed))[None, :])[:, :, None],
        )
        push = np.where(hit[:, :, None], side * overlap / 2, 0.0)
        push[:, :, 0] *= across
        push[:, :, 1] *= ~across
        placed = placed + 0.6 * push.sum(axis=1) / np.maximum(hit.sum(axis=1), 1)[:, None]
    return placed


# --------------------------------------------------------------------------------------------------- the picture


def _draw(network: Network, drawing: Drawing, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    low = (drawing.places - drawing.halves).min(axis=0) - 0.25 if len(drawing.places) else np.zeros(2)
    high = (drawing.places + drawing.halves).max(axis=0) + 0.25 if len(drawing.places) else np.ones(2)
    domains = list(dict.fromkeys(node.domain.name for node in network.nodes))
    width, height = max(high[0] - low[0], 1.3 * len(domains) + 0.5), high[1] - low[1] + 0.45
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(low[0], low[0] + width)
    axes.set_ylim(low[1], low[1] + height)
    axes.axis("off")
    for a, b, terminal in drawing.lines:
        _wire(axes, network, drawing, a, b, terminal)
    for vertex, place, half in zip(drawing.vertices, drawing.places, drawing.halves):
        extent = place - drawing.places[vertex[1]] if vertex[0] == "ground" else half
        {"element": _element, "node": _node, "ground": _ground}[vertex[0]](axes, network, vertex, place, extent)
    for k, name in enumerate(domains):
        x = low[0] + 0.25 + 1.3 * k
        axes.plot([x], [low[1] + height - 0.2], "s", color=_colour(name), markersize=8)
        axes.text(x + 0.13, low[1] + height - 0.2, name, fontsize=9, va="center", color="#333333")
    figure.savefig(path, format=path.suffix.lstrip(".").lower(), dpi=110, facecolor="white")


def _colour(domain: str) -> str:
    return DOMAIN_COLOURS.get(domain, OTHER_COLOUR)


def _main_domain(instance: Instance) -> str:
    """The domain of most of an element's terminals, the first where that is a draw."""
    names = [instance.component.domain(t).name for t in instance.component.terminals]
    return max(names, key=lambda name: (names.count(name), -names.index(name))) if names else ""


def _wire(axes: Any, network: Network, drawing: Drawing, a: int, b: int, terminal: str) -> None:
    instance = network.instances[drawing.vertices[a][1]]
    colour = _colour(instance.component.domain(terminal).name)
    start, end = drawing.places[a], drawing.places[b]
    axes.plot([start[0], end[0]], [start[1], end[1]], color=colour, linewidth=1.6, zorder=1, solid_capstyle="round")
    way = end - start
    if len(instance.nodes) > 1 and np.hypot(*way) > 0:  # the terminal's name where the wire leaves the box
        inside = min(
            h / max(abs(w), 1e-9) for h, w in zip(drawing.halves[a] + [0.04 + LETTER / 3 * len(terminal), 0.08], way)
        )
        if inside < 0.7:
            x, y = start + inside * way
            axes.text(
                x,
                y,
                terminal,
                fontsize=6.5,
                color=colour,
                ha="center",
                va="center",
                zorder=6,
                bbox={"fc": "white", "ec": "none", "pad": 0.4},
            )


def _element(axes: Any, network: Network, vertex: Vertex, place: Array, half: Array) -> None:
    from matplotlib.patches import FancyBboxPatch

    instance = network.instances[vertex[1]]
    colour = _colour(_main_domain(instance))
    corner, size = place - half + 0.04, 2 * half - 0.08
    axes.add_patch(
        FancyBboxPatch(
            corner, size[0], size[1], boxstyle="round,pad=0.04", fc=_pale(colour), ec=colour, linewidth=1.3, zorder=4
        )
    )
    name, kind = _words(instance)
    axes.text(
        place[0],
        place[1] + 0.08,
        name,
        fontsize=8.5,
        weight="bold",
        ha="center",
        va="center",
        zorder=5,
        color="#1d2733",
    )
    axes.text(place[0], place[1] - 0.09, kind, fontsize=7.5, ha="center", va="center", zorder=5, color="#4a5663")


def _node(axes: Any, network: Network, vertex: Vertex, place: Array, half: Array) -> None:
    from matplotlib.patches import FancyBboxPatch

    node = network.nodes[vertex[1]]
    corner, size = place - half + 0.12, 2 * half - 0.24
    axes.add_patch(
        FancyBboxPatch(
            corner,
            size[0],
            size[1],
            boxstyle="round,pad=0.12",
            fc=_colour(node.domain.name),
            ec="white",
            linewidth=1.0,
            zorder=4,
        )
    )
    axes.text(*place, node.name, fontsize=8.5, ha="center", va="center", zorder=5, color="white", weight="bold")


def _ground(axes: Any, network: Network, vertex: Vertex, place: Array, way: Array) -> None:
    """Three bars across the wire, which comes along `way`."""
    along = way / max(float(np.hypot(*way)), 1e-9)
    across = np.array([-along[1], along[0]])
    for k, part in enumerate((1.0, 0.6, 0.25)):
        (x1, y1), (x2, y2) = (place + 0.05 * k * along + side * 0.13 * part * across for side in (-1, 1))
        axes.plot([x1, x2], [y1, y2], color="#333333", linewidth=1.6, zorder=4, solid_capstyle="butt")


def _pale(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(colour)
    return 0.86 + 0.14 * r, 0.86 + 0.14 * g, 0.86 + 0.14 * b
