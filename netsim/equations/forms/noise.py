"""What a component states of its noise, in symbols: densities, and by how much a unit of each moves the equations.

`noise i : A2/Hz = S` adds a random term to the equation or let that gives `i`. That is an input of its own: the form is
built once more from a text in which the right side of `i` is followed by `+ i_noise`, and differentiated by it.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from netsim.equations.forms.build import build_form
from netsim.equations.forms.form import Form, differentiated
from netsim.equations.forms.symbols import nonzeros
from netsim.equations.kernels.kernel import Kernel, make_kernel
from netsim.equations.kernels.lowering import forward_jacobian
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import Component, plain_name, root_of, scalar_count, sizes_of
from netsim.text.syntax import Binary, Name, Output, Part, Quantity
from netsim.text.terms import Noise
from netsim.text.units import format_dimension


@dataclass(frozen=True, eq=False)
class NoiseForm:
    """form: with the parameters that the densities read. kernel: ('density', k) of every noise, ('partial', row, k) of
    rows and definitions of differentiated quantities, rows as those of the component's own form."""

    noises: tuple[Noise, ...]
    form: Form
    kernel: Kernel


@lru_cache(maxsize=512)
def noise_form(component: Component, counts: tuple[tuple[str, int], ...]) -> NoiseForm | None:
    """The noise of a component type; None where it states none."""
    noises = component.definition.noises
    if not noises:
        return None
    form = build_form(_driven(component), dict(counts))
    first = sum(scalar_count(sizes_of(q.size, dict(counts))) for q in component.definition.inputs)
    names = list(dict.fromkeys(noise.name for noise in noises))
    random = ca.vertcat(*(form.symbols.at(("input", first + i), 0) for i in range(len(names))))
    densities = [form.readings[_density(k)].value for k in range(len(noises))]
    jacobian = forward_jacobian(ca.vertcat(*differentiated(form, 0)[0]), random)
    outputs: list[tuple[Any, Any]] = [(("density", k), value) for k, value in enumerate(densities)]
    for row, column, value in nonzeros(jacobian):
        outputs += [(("partial", row, k), value) for k, noise in enumerate(noises) if noise.name == names[column]]
    still = [ca.substitute(ca.SX(value), random, ca.SX.zeros(len(names))) for _, value in outputs]
    kernel = make_kernel(form.symbols, [(place, value) for (place, _), value in zip(outputs, still)])
    return NoiseForm(noises, form, kernel)


def _density(k: int) -> str:
    return f"density {k}"


def _driven(component: Component) -> Component:
    """The component whose noises are inputs behind its own, and whose densities are outputs."""
    d = component.definition
    noises = {noise.name: root_of(noise) for noise in d.noises}
    inputs = [Quantity(f"{name} noise", format_dimension(unit)) for name, unit in noises.items()]

    def noisy(name: str | None, value: Any) -> Any:
        return Binary("+", value, Name((Part(f"{name} noise"),)), span=value.span) if name in noises else value

    equations = tuple(replace(e, right=noisy(plain_name(e.left), e.right)) for e in d.equations)
    lets = tuple(replace(let, value=noisy(let.name, let.value)) for let in d.lets)
    outputs = [Output(_density(k), noise.unit, noise.value) for k, noise in enumerate(d.noises)]
    changed = replace(d, inputs=(*d.inputs, *inputs), equations=equations, lets=lets, outputs=(*d.outputs, *outputs))
    return Component(changed, component.domains)
