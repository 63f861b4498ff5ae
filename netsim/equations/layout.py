"""Where everything stands in the two global vectors the kernels read (`g`) and add to (`out`).

g:   [0 | uniforms | prescribed inputs at orders 0..4 | table values at orders 0..3 (4: zero) | 1 | charts
     | places | discretes | the same before the event | relations | x | v | a of kinematic unknowns | y
     | history of differentiated quantities | what only starts and recovered forces need: higher orders of x, of y, of
     the differentiated quantities | frames that follow: x | v | a | charts | places | multipliers that follow]
out: [row residuals | waste | differentiated quantities | matrix entries | waste | rows of frames that follow | what
else an element of several calls keeps]

A chart is the rotation matrix (by rows) of a rotating node where its step began; the node's x are then the chart's
coordinates psi (see netsim.core.rotation); places are reference positions. Slot 0 of g is zero for ever: ground, and
every rate of ground. The waste slots take what ground's rows and columns would get.

Frames that *follow* are no unknowns: the bodies of a tree, whose motion is that of its joint coordinates (see
netsim.multibody.jointspace). Their components have numbers from FOLLOWING on, six a frame, behind them the multipliers
that follow from the frames' balances.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from netsim.core.problem import KINEMATIC_ORDERS, PRESCRIBED_ORDERS, VALUE_ORDERS
from netsim.equations.forms.symbols import UNIFORMS
from netsim.network.network import GROUND

FOLLOWING = -(1 << 40)
"""The number of the first component of the first frame that follows: far below GROUND."""

Array = np.ndarray


@dataclass(frozen=True)
class Layout:
    """Sizes: kinematic unknowns come first (nk), then the others (ny); nq differentiated quantities, nd prescribed
    inputs, nt tables, nr rotating frames; nf frames and nm multipliers that follow; nz discretes, and relations of
    relations."""

    nk: int
    ny: int
    nq: int
    nd: int
    nt: int
    nr: int = 0
    nf: int = 0
    nm: int = 0
    nz: int = 0
    relation_count: int = 0

    @cached_property
    def n(self) -> int:
        return self.nk + self.ny

    @cached_property
    def uniforms(self) -> Array:
        """Slots of the uniforms: one array for the layout's life, since call tables point to it."""
        return np.arange(1, 1 + len(UNIFORMS), dtype=np.int32)

    @cached_property
    def prescribed_inputs(self) -> int:
        return 1 + len(UNIFORMS)

    @cached_property
    def tables(self) -> int:
        return self.prescribed_inputs + PRESCRIBED_ORDERS * self.nd

    @cached_property
    def one(self) -> int:
        """A slot that is 1 for ever: the diagonal of ground's rotation."""
        return self.tables + PRESCRIBED_ORDERS * self.nt

    @cached_property
    def charts(self) -> int:
        return self.one + 1

    @cached_property
    def places(self) -> int:
        return self.charts + 9 * self.nr

    @cached_property
    def discretes(self) -> int:
        return self.places + self.nk

    @cached_property
    def befores(self) -> int:
        """Where pre() finds discretes: equal to them except while an event is worked out."""
        return self.discretes + self.nz

    @cached_property
    def relation_values(self) -> int:
        return self.befores + self.nz

    @cached_property
    def x(self) -> int:
        return self.relation_values + self.relation_count

    @cached_property
    def v(self) -> int:
        return self.x + self.nk

    @cached_property
    def a(self) -> int:
        return self.v + self.nk

    @cached_property
    def y(self) -> int:
        return self.a + self.nk

    @cached_property
    def history(self) -> int:
        return self.y + self.ny

    @cached_property
    def step_size(self) -> int:
        """The part of g a time step uses."""
        return self.history + self.nq

    @cached_property
    def following(self) -> int:
        """Where frames that follow begin: x, v, a, charts, places."""
        higher = (KINEMATIC_ORDERS - 3) * self.nk + (VALUE_ORDERS - 1) * self.ny + (VALUE_ORDERS - 1) * self.nq
        return self.step_size + higher

    @cached_property
    def multipliers(self) -> int:
        """Where multipliers that follow begin."""
        return self.following + 33 * self.nf

    @cached_property
    def size(self) -> int:
        return self.multipliers + self.nm

    def unknown(self, unknowns: Array, order: int) -> Array:
        """Slots of unknowns at an order (0 position or value); negative unknowns are ground."""
        u = np.asarray(unknowns)
        if order < 3:
            kinematic = self.x + order * self.nk + u
        else:
            kinematic = self.step_size + (order - 3) * self.nk + u
        if order == 0:
            other = self.y + u - self.nk
        else:
            other = self.step_size + (KINEMATIC_ORDERS - 3) * self.nk + (order - 1) * self.ny + u - self.nk
        found = np.where(u < 0, 0, np.where(u < self.nk, kinematic, other))
        return (np.where(u < GROUND, self._follows(u, order), found) if self.nf or self.nm else found).astype(np.int32)

    def _follows(self, unknowns: Array, order: int) -> Array:
        """Slots of what follows at orders 0 to 2; 0 above."""
        d = unknowns - FOLLOWING
        if order > 2:
            return np.zeros_like(d)
        return np.where(d < 6 * self.nf, self.following + 6 * self.nf * order + d, self.multipliers + d - 6 * self.nf)

    def differentiated(self, differentiated: Array, order: int) -> Array:
        """Slots of differentiated quantities: order 1 is where a step keeps its history."""
        if order == 1:
            return (self.history + differentiated).astype(np.int32)
        first = self.step_size + (KINEMATIC_ORDERS - 3) * self.nk + (VALUE_ORDERS - 1) * self.ny
        return (first + max(0, order - 1) * self.nq + differentiated).astype(np.int32)

    def state(self, g: Array) -> Array:
        """[x | v | a | y | q | q'] of a global vector."""
        return np.concatenate(
            [g[self.x : self.history], g[self.differentiated(np.arange(self.nq), 0)], g[self.history : self.step_size]]
        )

    def prescribed(self, prescribed_inputs: Array, order: int) -> Array:
        return (self.prescribed_inputs + order * self.nd + prescribed_inputs).astype(np.int32)

    def table(self, tables: Array, order: int) -> Array:
        return (self.tables + order * self.nt + tables).astype(np.int32)

    def chart(self, frames: Array, entry: int) -> Array:
        """Slots of one of the nine entries of frames' charts; ground (negative) has the identity."""
        f = np.asarray(frames)
        known = np.where(f < self.nr, self.charts + 9 * f, self.following + 18 * self.nf + 9 * (f - self.nr))
        return np.where(f < 0, self.one if entry % 4 == 0 else 0, known + entry).astype(np.int32)

    def place(self, unknowns: Array) -> Array:
        """Slots of the reference positions of kinematic unknowns; ground's is the origin."""
        u = np.asarray(unknowns)
        following = self.following + 27 * self.nf + u - FOLLOWING
        return np.where(u < GROUND, following, np.where(u < 0, 0, self.places + u)).astype(np.int32)

    # ------------------------------------------------------------------------------------------- out

    def row(self, unknowns: Array) -> Array:
        u = np.asarray(unknowns)
        return np.where(u < 0, self.n, u).astype(np.int32)

    def frame_row(self, unknowns: Array, nnz: int) -> Array:
        """Rows as above, those of frames that follow behind a matrix of nnz entries."""
        u = np.asarray(unknowns)
        frames = (u < GROUND) & (u < FOLLOWING + 6 * self.nf)
        return np.where(frames, self.entries + nnz + 1 + u - FOLLOWING, self.row(u)).astype(np.int32)

    def equation(self, numbers: Array) -> Array:
        """Places of equations: rows, then (from n on) definitions of differentiated quantities; negative ones are
        thrown away."""
        e = np.asarray(numbers)
        return np.where(e < 0, self.n, e + (e >= self.n)).astype(np.int32)

    @cached_property
    def differentiated_results(self) -> int:
        return self.n + 1

    @cached_property
    def entries(self) -> int:
        return self.n + 1 + self.nq
