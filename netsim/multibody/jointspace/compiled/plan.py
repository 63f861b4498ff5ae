"""What the compiled element works on: a plan of integers and geometry, made once, and the motion, which is written anew
at every evaluation."""

from typing import NamedTuple

import numpy as np

(
    LINKS,
    COORDINATES,
    FRAMES,
    FRAME_X,
    FRAME_CHARTS,
    ROWS,
    MULTIPLIERS,
    N_MULTIPLIERS,
    ENTRIES,
    BUFFER,
    N_BUFFER,
    N_G,
    N_OUT,
) = range(13)
PARENT, KIND, FIRST, FREEDOM, BODY, CHART, FLAT, SIGN = range(8)
AXIS, BEFORE, AFTER = 0, 3, 6
SLOT_X, SLOT_V, SLOT_A, ROW, LINK = range(5)


class Plan(NamedTuple):
    """Integers: sizes; links (L, 8): PARENT ... CHART (slot of a ball joint's chart), FLAT (a body in the plane), SIGN
    (-1: from b to a); coordinates (K, 5): slots, row, link.

    path_first, path: coordinates before the link of every body. columns_first, columns, up: the coordinates that act on
    what a link carries, and where each stands in its parent's list. target: matrix entries of (coordinate k, column),
    from target_first[k] on; -1 without an unknown. Entries in the buffer: alone (b, target, order), rows (b, component,
    body, first target), columns (b, order, pull, component), pairs (b, body, component, body, component, first place in
    columns); `places` has the lists they point to. own (b, link, component, component): of a body by itself. side: how
    every column of a link stands to it. read: bodies that entries in `rows` and `pairs` speak of. pulls (link, first
    target): what one unknown does to one body. joints (J, 5): link, body, first multiplier, how many, first of its
    columns in the wrench matrix. geometry (L, 9): axis, from the body before to the joint, from the joint to the body.
    Of joints with several coordinates (netsim.multibody.jointspace.compiled.flexible) lean (K, 6): U and D of each;
    foreshortening (B, 3): H of coordinate k from flexible_first[k] on.
    """

    sizes: np.ndarray
    links: np.ndarray
    coordinates: np.ndarray
    path_first: np.ndarray
    path: np.ndarray
    columns_first: np.ndarray
    columns: np.ndarray
    up: np.ndarray
    target_first: np.ndarray
    target: np.ndarray
    alone: np.ndarray
    by_rows: np.ndarray
    by_columns: np.ndarray
    pairs: np.ndarray
    places: np.ndarray
    joints: np.ndarray
    geometry: np.ndarray
    own: np.ndarray
    side: np.ndarray
    read: np.ndarray
    pulls: np.ndarray
    flexible_first: np.ndarray
    lean: np.ndarray
    foreshortening: np.ndarray


class Motion(NamedTuple):
    """Of links: r (L, 3), R (L, 9), V, A (L, 6), the wrench on all they carry (L, 6), the angle they have turned by
    about z (L, 1: in the plane). Of coordinates: S, S', E, E' (K, 6), and of those of one joint bend (B, 6): dS_k/dq_j.
    answer (P, 18): what a body's x, v, a do per unit of a coordinate's unknown; block (C, 6): wrenches per unit of the
    unknowns of columns. shift (K, 18): X, U, B of coordinates; behind (K, 6), carried (L, 108), pull (., 6): see
    netsim.multibody.jointspace.compiled.entries."""

    r: np.ndarray
    R: np.ndarray
    V: np.ndarray
    A: np.ndarray
    wrench: np.ndarray
    angle: np.ndarray
    S: np.ndarray
    dS: np.ndarray
    E: np.ndarray
    dE: np.ndarray
    bend: np.ndarray
    answer: np.ndarray
    block: np.ndarray
    shift: np.ndarray
    behind: np.ndarray
    carried: np.ndarray
    pull: np.ndarray
