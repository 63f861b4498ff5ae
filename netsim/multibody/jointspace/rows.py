"""What events need of a tree: bodies that follow before relations are looked at, and states that `reinit` sets as rows
of joint coordinates."""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.equations.batches import Batch
from netsim.equations.kernels.kernel import Kernel
from netsim.equations.layout import FOLLOWING
from netsim.equations.machine import Machine
from netsim.equations.starts.rows import StartRow, kernel_scalars
from netsim.multibody.jointspace import calls
from netsim.multibody.jointspace.element import TreeElement
from netsim.multibody.jointspace.pattern import is_frame
from netsim.network.network import GROUND
from netsim.text.errors import Span

Array = np.ndarray


def frames_first(machine: Machine) -> Array:
    """The call after which g holds the frames of all bodies where the coordinates take them."""
    element: TreeElement = machine.element
    return calls.row(calls.FRAMES_ONLY, element.partials.directory)


def coordinate_row(
    machine: Machine, batch: Batch, position: int, kernel: Kernel, path: str, target: float, span: Span | None
) -> StartRow:
    """A row whose value and derivatives come from a kernel of an instance's form, by the coordinates that move the
    frames it reads."""
    element: TreeElement = machine.element
    frames, unknown = len(element.tree.frames), element.elements.unknown
    found: dict[tuple[int, int], int] = {}
    parts: list[tuple[int, int, int, int]] = []
    for e, (_, key, order) in enumerate(p for p in kernel.scatter if p[0] == "partial"):
        number = GROUND if key[0] == "differentiated" else int(batch.columns(key)[position])
        if is_frame(np.array(number), frames):
            frame, at = divmod(number - FOLLOWING, 6)
            component = element.tree.component(frame, at)
            for k in element.tree.body_paths[frame]:
                if unknown[k] >= 0:
                    parts.append((e, found.setdefault((int(unknown[k]), order), len(found)), 6 * frame + component, k))
        elif number >= 0:
            parts.append((e, found.setdefault((number, order), len(found)), GROUND, GROUND))
    variables, orders = np.array(list(found), np.int64).reshape(-1, 2).T
    return StartRow(
        path,
        "value",
        target,
        span,
        variables,
        orders,
        _ByCoordinates(kernel, batch, position, parts, len(found)),
        "",
        GROUND,
        batch,
        position,
    )


@dataclass(frozen=True, eq=False)
class _ByCoordinates:
    """A scalar of an element's kernel; of its derivatives (output, variable, 6 frame + component, coordinate), the last
    two GROUND for an unknown that the element itself reads."""

    kernel: Kernel
    batch: Batch
    position: int
    parts: list[tuple[int, int, int, int]]
    size: int

    def linearise(self, machine: Machine, g: Array, target: float) -> tuple[float, Array]:
        element: TreeElement = machine.element
        motion = element.motion
        run_table(frames_first(machine), g, np.zeros(machine.system.out_size))
        value, derivatives = kernel_scalars(machine, self.kernel, self.batch, self.position, g)
        found = np.zeros(self.size)
        for output, variable, place, k in self.parts:
            answer = 1.0
            if k >= 0:
                frame, component = divmod(place, 6)
                s, r = motion.S[k], motion.r[element.tree.body_links[frame]]
                answer = s[component] + np.cross(s[3:], r)[component] if component < 3 else s[component]
            found[variable] += derivatives[output] * answer
        return value - target, found
