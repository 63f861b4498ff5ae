"""Where the matrix entries of frames go: each entry by or of a frame is one of every coordinate that moves the frame.

Kernels leave such entries order by order in a buffer; lists of integers, made once, say where the recursion takes them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.layout import FOLLOWING, Layout
from netsim.equations.system import Pattern
from netsim.multibody.jointspace.compiled.entries import BEFORE, BEHIND, ELSEWHERE, OWN
from netsim.multibody.jointspace.numbering import Elements
from netsim.multibody.jointspace.spanning import Mechanism
from netsim.network.network import GROUND

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Places:
    """The pattern, the kernels' positions in it (behind it: in the buffer, of `room` places), and the integer lists of
    recursion.Plan."""

    pattern: Pattern
    positions: dict[int, Array]
    room: int
    lists: dict[str, Array]


@dataclass
class _Entries:
    """Entries as they are met, with codes (column n + row) of the matrix entries they need."""

    n: int
    direct: list[Array] = field(default_factory=list)
    alone: list[tuple[int, int, int]] = field(default_factory=list)
    by_rows: list[tuple[int, int, int, list[int]]] = field(default_factory=list)
    by_columns: list[tuple[int, int, int, int]] = field(default_factory=list)
    pulls: dict[tuple[int, int], tuple[int, list[int]]] = field(default_factory=dict)
    pairs: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    own: list[tuple[int, int, int, int]] = field(default_factory=list)
    count: int = 0

    def code(self, row: int, column: int) -> int:
        return column * self.n + row if row >= 0 and column >= 0 else -1


def find_places(elements: Elements, tree: Mechanism) -> Places:
    """The sparsity pattern of a system in joint coordinates."""
    layout = elements.layout
    paths = tree.body_paths
    entries = _Entries(layout.n)
    kept: list[tuple[Batch, Array]] = []
    for batch in elements.batches:
        kept.append((batch, _sorted(batch, layout, entries, elements, tree)))
    columns = _columns(tree, entries, paths)
    targets = [
        [entries.code(int(elements.row[k]), int(elements.unknown[c])) for c in columns[coordinate.link]]
        for k, coordinate in enumerate(tree.coordinates)
    ]
    lists = [*(e[3] for e in entries.by_rows), *(codes for _, codes in entries.pulls.values()), *targets]
    codes = np.concatenate([*entries.direct, [e[1] for e in entries.alone], *lists, np.zeros(0)]).astype(np.int64)
    unique = np.unique(codes[codes >= 0])
    n = layout.n
    pattern = Pattern(
        np.searchsorted(unique, np.arange(n + 1) * n).astype(np.int32), (unique % max(n, 1)).astype(np.int32)
    )

    def place(found: object) -> Array:
        wanted = np.asarray(found, np.int64)
        return np.where(wanted < 0, -1, np.searchsorted(unique, wanted))

    buffer = pattern.nnz + 1 + 6 * layout.nf
    positions = {}
    for (batch, buffered), direct in zip(kept, entries.direct):
        known = np.where(direct < 0, pattern.nnz, place(direct))
        positions[id(batch)] = np.where(buffered >= 0, buffer + buffered, known.reshape(buffered.shape)).astype(
            np.int32
        )
    return Places(pattern, positions, entries.count, _lists(tree, entries, columns, targets, paths, place))


def _sorted(batch: Batch, layout: Layout, entries: _Entries, elements: Elements, tree: Mechanism) -> Array:
    """The entries of a batch: buffer places (-1: direct), with what is direct and where the others lead noted in
    `entries`."""
    wanted = [place for place in batch.jacobian.scatter if place[0] == "entry"]
    shape_ = (len(wanted), batch.n)
    buffered = np.full(shape_, -1)
    direct = np.full(shape_, -1)
    for e, place in enumerate(wanted):
        rows, columns = batch.row(place[1]), batch.columns(place[2])
        order = place[3] if len(place) == 4 else -1
        row_frames, column_frames = is_frame(rows, layout.nf), is_frame(columns, layout.nf)
        plain = (rows >= 0) & (columns >= 0) & (order < 0)
        direct[e, plain] = columns[plain] * layout.n + rows[plain]
        for k in np.flatnonzero((row_frames | (rows >= 0)) & (column_frames | (columns >= 0)) & ~plain):
            buffered[e, k] = entries.count
            _note(entries, elements, tree, int(rows[k]), int(columns[k]), order)
            entries.count += 1
    entries.direct.append(direct.ravel())
    return buffered


def is_frame(numbers: Array, frames: int) -> Array:
    """Which numbers are coordinates of frames that follow (of so many frames)."""
    return (numbers < GROUND) & (numbers < FOLLOWING + 6 * frames)


def _note(entries: _Entries, elements: Elements, tree: Mechanism, row: int, column: int, order: int) -> None:
    """One buffered entry."""
    b, body_links, paths = entries.count, tree.body_links, tree.body_paths
    if row >= 0 and column >= 0:
        entries.alone.append((b, entries.code(row, column), order))
    elif row >= 0:
        body, component = _component(tree, column)
        targets = [entries.code(row, int(elements.unknown[k])) for k in paths[body]]
        entries.by_rows.append((b, 6 * order + component, body, targets))
    elif column >= 0:
        body, component = _component(tree, row)
        pull = body_links[body], column
        if pull not in entries.pulls:
            entries.pulls[pull] = len(entries.pulls), [entries.code(int(elements.row[k]), column) for k in paths[body]]
        entries.by_columns.append((b, order, entries.pulls[pull][0], component))
    else:
        (body, component), (other, by) = _component(tree, row), _component(tree, column)
        if body == other:
            entries.own.append((b, body_links[body], component, 6 * order + by))
        else:
            entries.pairs.append((b, body_links[body], component, other, 6 * order + by))


def _component(tree: Mechanism, number: int) -> tuple[int, int]:
    """The frame of a number, and which component of it."""
    frame, position = divmod(number - FOLLOWING, 6)
    return frame, tree.component(frame, position)


def _columns(tree: Mechanism, entries: _Entries, paths: list[list[int]]) -> list[list[int]]:
    """Of every link, the coordinates that the wrench on what it carries depends on, in order."""
    found: list[set[int]] = [set(tree.path(i)) for i in range(len(tree.links))]
    for link, body in {(link, body) for _, link, _, body, _ in entries.pairs}:
        found[link].update(paths[body])
    for i in range(len(tree.links) - 1, 0, -1):
        if tree.links[i].parent > 0:
            found[tree.links[i].parent].update(found[i])
    found[0] = set()
    return [sorted(each) for each in found]


def _lists(tree, entries, columns, targets, paths, place) -> dict[str, Array]:
    """The integer arrays of the plan that do not depend on values."""
    first = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
    up = [
        columns[link.parent].index(c) if link.parent > 0 else 0 for link, own in zip(tree.links, columns) for c in own
    ]
    places: list[int] = []
    starts: dict[tuple[int, int], int] = {}

    def listed(items: Iterator[int]) -> int:
        places.extend(items)
        return len(places)

    by_rows = [
        (b, component, body, listed(iter(place(t).tolist())) - len(t)) for b, component, body, t in entries.by_rows
    ]
    pulls = [(link, listed(iter(place(t).tolist())) - len(t)) for (link, _), (_, t) in entries.pulls.items()]
    for _, link, _, body, _ in entries.pairs:
        if (link, body) not in starts:
            starts[link, body] = len(places)
            where = {c: int(first[link]) + k for k, c in enumerate(columns[link])}
            places.extend(where[c] for c in paths[body])
    pairs = [(b, link, component, body, by, starts[link, body]) for b, link, component, body, by in entries.pairs]
    read = np.zeros(len(paths), np.int64)
    read[[e[2] for e in by_rows]] = read[[e[3] for e in pairs]] = 1
    return {
        "own": np.array(entries.own).reshape(-1, 4),
        "side": _sides(tree, columns),
        "read": read,
        "path_first": np.concatenate([[0], np.cumsum([len(p) for p in paths])]),
        "path": np.array([c for p in paths for c in p]),
        "columns_first": first,
        "columns": np.array([c for own in columns for c in own]),
        "up": np.array(up),
        "target_first": np.concatenate([[0], np.cumsum([len(t) for t in targets])]),
        "target": place([c for t in targets for c in t]),
        "alone": np.array([(b, place(code), order) for b, code, order in entries.alone]).reshape(-1, 3),
        "by_rows": np.array(by_rows).reshape(-1, 4),
        "by_columns": np.array(entries.by_columns).reshape(-1, 4),
        "pulls": np.array(pulls).reshape(-1, 2),
        "pairs": np.array(pairs).reshape(-1, 6),
        "places": np.array(places),
    }


def _sides(tree: Mechanism, columns: list[list[int]]) -> Array:
    """How the columns of every link stand to it: before, behind, its own
    (netsim.multibody.jointspace.compiled.entries), or none of these."""
    found = []
    for i, own in enumerate(columns):
        before = set(tree.path(i))
        for c in own:
            link = tree.coordinates[c].link
            if link == i:
                found.append(OWN)
            elif c in before:
                found.append(BEFORE)
            else:
                found.append(BEHIND if tree.carries(i, link) else ELSEWHERE)
    return np.array(found, np.int64)
