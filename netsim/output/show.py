"""Every stage of the pipeline as text: syntax, network, structure, kernels, system, pattern."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.analyses.recursion_options import RecursionOptions
from netsim.multibody.superelements import parts_of
from netsim.output.network_shown import show_network, show_syntax
from netsim.simulate.options import TransientOptions
from netsim.text.columns import columns, counted
from netsim.text.errors import InputError

if TYPE_CHECKING:
    from netsim.api import Model

MOST_UNKNOWNS = 60


def show_stage(model: "Model", stage: str) -> str:
    """The text of one stage (a name in `STAGES`) of a model, ending with a newline."""
    return _STAGES[stage](model).rstrip("\n") + "\n"


# ------------------------------------------------------------------------------------------------- structure


def show_structure(model: "Model") -> str:
    """Numbers of unknowns by kind, the index, and how often each unknown must be differentiated."""
    layout, system = model.system.layout, model.system
    kinds = {
        "kinematic (x, v, a)": layout.nk,
        "other": layout.ny,
        "differentiated": layout.nq,
        "functions of time": layout.nd,
        "tables": layout.nt,
    }
    lines = [
        counted(system.n, "unknown"),
        *columns((word, str(size)) for word, size in kinds.items()),
    ]
    try:
        structure = model.structure
    except InputError as error:
        return "\n".join([*lines, "", "structurally singular:", str(error)])
    orders = [(name, str(int(d))) for name, d in zip(system.names, structure.dynamic.d)]
    return "\n".join(
        [*lines, "", f"index {structure.index}", "", "highest derivative needed, by unknown", *columns(orders)]
    )


# -------------------------------------------------------------------------------------------- kernels, system


def show_kernels(model: "Model") -> str:
    """One line per batch (one compiled kernel): how many elements, rows, matrix entries and instructions."""
    rows: list[tuple[str, ...]] = [("type", "elements", "parameters", "rows", "entries", "residual", "Jacobian")]
    for batch in model.system.batches:
        entries = sum(place[0] == "entry" for place in batch.jacobian.scatter)
        sizes = (batch.n, batch.jacobian.program.n_parameters, len(batch.form.rows), entries)
        operations = [f"{len(k.program.instructions)} operations" for k in (batch.kernels.residual, batch.jacobian)]
        rows.append((batch.form.name, *map(str, sizes), *operations))
    prescribed_inputs = [("functions of time", "elements", "operations", "")]
    prescribed_inputs += [
        (_owner(d), str(d.n), str(len(d.kernel.program.instructions)), "table argument" if d.stage == 0 else "")
        for d in model.system.prescribed_inputs
    ]
    return "\n".join([*columns(rows), *(["", *columns(prescribed_inputs)] if model.system.prescribed_inputs else [])])


def _owner(prescribed: Any) -> str:
    instance, name = prescribed.owners[0]
    return f"{instance.name}.{name}" + (", ..." if len(prescribed.owners) > 1 else "")


def show_system(model: "Model") -> str:
    """The unknowns of the modified nodal system with their typical sizes."""
    system = model.system
    head = [counted(system.n, "unknown"), f"{system.pattern.nnz} matrix entries ({_fill(system)})", ""]
    unknowns = columns(
        [(str(i + 1), name, f"~ {size:.3g}") for i, (name, size) in enumerate(zip(system.names, system.nominals))]
    )
    return "\n".join([*head, *unknowns, *_superelements(model)])


def _superelements(model: "Model") -> list[str]:
    """The decompositions that run lines ask for."""
    options = model.run_options()
    named = next(
        (option.superelements for option in options if isinstance(option, TransientOptions) and option.superelements),
        (),
    )
    return [*(_subnetworks(model, named) if named else []), *_tree_parts(model)]


def _subnetworks(model: "Model", named: Sequence[str]) -> list[str]:
    """Subnetworks as superelements: what each keeps to itself, what it is inside of, and the unknowns outside that it
    meets."""
    system = model.system
    parts = parts_of(system, named)
    depth = [part.name.count(".") for part in parts]
    rows = []
    for k in sorted(range(len(parts)), key=lambda k: (parts[k].name.split("."), k)):
        part = parts[k]
        nodes = dict.fromkeys(
            system.names[i].rsplit(".", 2 if system.names[i][-2:-1] == "." else 1)[0] for i in part.meets
        )
        outside = ", ".join(nodes) or "nothing"
        rows.append((
            "  " * (depth[k] - min(depth)) + part.name, counted(len(part.own), "unknown"), counted(len(part.meets),
            "unknown"), outside,
        ))  # fmt: skip
    left = system.n - sum(len(part.own) for part in parts)
    title = (
        f"{counted(len(parts), 'superelement')}: unknowns inside are eliminated first; the rest sees A_RR - A_RB "
        "A_BB^-1 A_BR on what it meets"
    )
    return [
        "",
        title,
        *columns([("element", "inside", "meets", "of"), *rows, ("the rest", counted(left, "unknown"), "", "")]),
    ]


def _tree_parts(model: "Model") -> list[str]:
    """How `run recursion(...)` cuts the bodies into superelements: what each hangs on, its bodies, its coordinates by
    what is known of them."""
    options = next((option for option in model.run_options() if isinstance(option, RecursionOptions)), None)
    if options is None:
        return []
    from netsim.multibody.recursion.bodies import network_tree
    from netsim.multibody.tree.algorithms.superelements import superelements

    found = network_tree(model.machine)
    _, parts = superelements(found.tree, options.superelement)
    depth: list[int] = []
    rows = []
    for number, part in enumerate(parts, 1):
        depth.append(0 if part.parent is None else depth[part.parent] + 1)
        motions = int(found.motion[part.coordinates].sum())
        forces = len(part.coordinates) - motions
        kind = (
            "first kind"
            if motions and not forces
            else "second kind"
            if forces and not motions
            else "mixed"
            if motions
            else "rigid"
        )
        inside = counted(len(part.coordinates), "coordinate") + (f", {motions} known" if motions and forces else "")
        rows.append(
            (
                "  " * depth[-1] + f"E{number}",
                "ground" if part.parent is None else f"E{part.parent + 1}",
                ", ".join(part.bodies),
                inside,
                kind,
            )
        )
    title = (
        f"{counted(len(parts), 'superelement')}: motion outward (V, V'), forces inward (F = K V' + p), coordinates "
        "eliminated inside"
    )
    return ["", title, *columns([("element", "hangs on", "bodies", "", ""), *rows])]


def _fill(system: Any) -> str:
    return f"{100 * system.pattern.nnz / max(1, system.n) ** 2:.3g} % of {system.n} x {system.n}"


def show_pattern(model: "Model") -> str:
    """A picture of the step matrix: a row per equation, a column per unknown; squares of it, shaded by filling, for big
    systems."""
    system = model.system
    n, pattern = system.n, system.pattern
    rows, across = pattern.indices, np.repeat(np.arange(n), np.diff(pattern.indptr))
    title = f"{pattern.nnz} entries ({_fill(system)})"
    if n > MOST_UNKNOWNS:
        side = -(-n // MOST_UNKNOWNS)
        cells = np.zeros((-(-n // side),) * 2, int)
        np.add.at(cells, (rows // side, across // side), 1)
        shades = " .:+#"
        picture = ["".join(shades[min(4, int(np.ceil(4 * c / side)))] for c in row) for row in cells]
        return "\n".join(
            [
                title,
                f"a character stands for {side} x {side} entries: '.' a few, '#' {side} or more",
                "",
                *(f"  |{line}|" for line in picture),
            ]
        )
    cells = np.zeros((n, n), int)
    cells[rows, across] = 1
    width = max(map(len, system.names), default=0)
    tens = "".join(str(j // 10) if j % 10 == 0 else " " for j in range(1, n + 1))
    ones = "".join(str(j % 10) for j in range(1, n + 1))
    digits = [f"  {'':{width}s}     {line}".rstrip() for line in ([tens] if n > 9 else []) + [ones]]
    picture = [
        f"  {name:{width}s} {i + 1:3d} {''.join('#' if c else '.' for c in cells[i])}"
        for i, name in enumerate(system.names)
    ]
    return "\n".join([title, "", *digits, *picture])


_STAGES: "dict[str, Callable[[Model], str]]" = {
    "syntax": lambda model: show_syntax(model.network),
    "network": lambda model: show_network(model.network, model.values),
    "structure": show_structure, "kernels": show_kernels, "system": show_system, "pattern": show_pattern,
}  # fmt: skip
STAGES = tuple(_STAGES)
