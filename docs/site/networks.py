"""The network of a netlist as a picture that stands in a page: elements as boxes, nodes as dots, ground as its symbol.

Places come from `netsim.output.diagram`; what is drawn there with matplotlib is written here as SVG, since there is one
for every type of the library.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

import netsim
from netsim.network.network import Network
from netsim.output.diagram import DOMAIN_COLOURS, OTHER_COLOUR, Drawing, arranged

INCH = 100.0
"""Units of the drawing in an inch."""
DOWN = np.array([0.0, 8.5])
"""From the middle of a box to its second line."""
MOST = 60
"""Elements and nodes that a reader can tell apart; of a larger network nothing is drawn."""


def drawn(text: str, kind: str) -> str:
    """The network of a netlist as an SVG element, the elements of type `kind` with a stronger frame; nothing where it
    has more than `MOST` elements and nodes."""
    network = netsim.load(text).network
    if len(network.instances) + len(network.nodes) > MOST:
        return ""
    drawing = arranged(network)
    low = (drawing.places - drawing.halves).min(axis=0) - 0.15
    high = (drawing.places + drawing.halves).max(axis=0) + 0.15
    flipped = Drawing(
        drawing.vertices, drawing.halves * INCH, (drawing.places - [low[0], high[1]]) * [INCH, -INCH], drawing.lines
    )
    parts = [_wire(network, flipped, *line) for line in drawing.lines]
    parts += [_vertex(network, flipped, k, kind) for k in range(len(drawing.vertices))]
    return _svg(parts, *((high - low) * INCH), f"a network with {kind}")


def alone(kind: str, terminals: Sequence[tuple[str, str]]) -> str:
    """A type by itself, its terminals (name, domain) left and right of it."""
    half = np.array([14.0 + 4.0 * len(kind), 21.0 + 6.0 * (len(terminals) // 2)])
    centre = half + np.array([90.0, 12.0])
    parts = []
    for k, (name, domain) in enumerate(terminals):
        side, row, rows = (-1, 1)[k % 2], k // 2, (len(terminals) + 1 - k % 2) // 2
        y = centre[1] + (row - (rows - 1) / 2) * 26.0
        x, at = centre[0] + side * half[0], np.array([centre[0] + side * (half[0] + 50.0), y])
        parts.append(f'<path d="M{x:.0f} {y:.0f}L{at[0]:.0f} {y:.0f}" stroke="{_colour(domain)}" stroke-width="2"/>')
        parts.append(_box(at, np.array([8.0 + 4.0 * len(name), 11.0]), 11.0, _colour(domain), ""))
        parts.append(_text(at, name, 11, 'fill="white"'))
    parts.append(_box(centre, half, 5.0, "var(--md-code-bg-color)", 'stroke="currentColor" stroke-width="3"'))
    parts.append(_text(centre, kind, 11, 'font-weight="bold"'))
    return _svg(parts, *(2 * centre), f"{kind} and its terminals")


def _svg(parts: Sequence[str], width: float, height: float, words: str) -> str:
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    about = f'class="network" role="img" aria-label="{escape(words)}" data-search-exclude=""'
    return f"<svg {about} {size}>{''.join(parts)}</svg>"


def _colour(domain: str) -> str:
    return DOMAIN_COLOURS.get(domain, OTHER_COLOUR)


def _wire(network: Network, drawing: Drawing, a: int, b: int, terminal: str) -> str:
    """A line from an element, with the name of its terminal where that leaves the box."""
    instance = network.instances[drawing.vertices[a][1]]
    colour = _colour(instance.component.domain(terminal).name)
    start, way = drawing.places[a], drawing.places[b] - drawing.places[a]
    found = f'<path d="M{start[0]:.0f} {start[1]:.0f}l{way[0]:.0f} {way[1]:.0f}" stroke="{colour}" stroke-width="2"/>'
    if len(instance.nodes) < 2 or not way.any():
        return found
    share = min((drawing.halves[a] + [4.0 + 3.0 * len(terminal), 9.0]) / np.maximum(np.abs(way), 1e-9))
    place = start + share * way
    return found + (_text(place, terminal, 9, f'class="terminal" fill="{colour}"') if share < 0.7 else "")


def _vertex(network: Network, drawing: Drawing, k: int, kind: str) -> str:
    what, i, _ = drawing.vertices[k]
    place, half = drawing.places[k], drawing.halves[k]
    if what == "ground":
        return _ground(place, place - drawing.places[i])
    if what == "node":
        node = network.nodes[i]
        return _box(place, half, half[1], _colour(node.domain.name), "") + _text(place, node.name, 11, 'fill="white"')
    instance = network.instances[i]
    names = [instance.component.domain(t).name for t in instance.component.terminals]
    colour = _colour(max(names, key=lambda name: (names.count(name), -names.index(name))) if names else "")
    stroke = f'stroke="{colour}" stroke-width="{3 if instance.component.name == kind else 1}"'
    return (
        _box(place, half, 5.0, "var(--md-code-bg-color)", stroke)
        + _text(place - DOWN, instance.name, 11, 'font-weight="bold"')
        + _text(place + DOWN, instance.component.name, 10)
    )


def _box(place: Any, half: Any, corner: float, fill: str, more: str) -> str:
    (x, y), (w, h) = place - half, 2 * half
    return f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" rx="{corner:.0f}" fill="{fill}" {more}/>'


def _text(place: Any, words: str, size: int, more: str = "") -> str:
    return f'<text x="{place[0]:.0f}" y="{place[1]:.0f}" font-size="{size}" {more}>{escape(words)}</text>'


def _ground(place: Any, way: Any) -> str:
    """Three bars across the wire, which comes along `way`."""
    along = way / max(float(np.hypot(*way)), 1e-9)
    across = np.array([-along[1], along[0]])
    bars = []
    for k, part in enumerate((1.0, 0.6, 0.25)):
        (x, y), (dx, dy) = place + 5.0 * k * along - 13.0 * part * across, 26.0 * part * across
        bars.append(f"M{x:.1f} {y:.1f}l{dx:.1f} {dy:.1f}")
    return f'<path d="{"".join(bars)}" stroke="currentColor" stroke-width="2"/>'
