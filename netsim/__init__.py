"""netsim: physical systems written as text, simulated as one network.

import netsim
model = netsim.load("models/two_masses.net")
result = model.transient(stop=5, step=1e-3)      # an xarray.Dataset
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsim.text.errors import InputError, NetsimError, Problem, SimulationError, Span
    from netsim.text.limits import limits
    from netsim.text.roots import allow

__version__ = "0.1.0"
__all__ = [
    "InputError",
    "Model",
    "NetsimError",
    "Problem",
    "SimulationError",
    "Span",
    "allow",
    "component",
    "limits",
    "load",
    "register",
]


_HOMES = {
    **dict.fromkeys(("InputError", "NetsimError", "Problem", "SimulationError", "Span"), "netsim.text.errors"),
    **dict.fromkeys(("load", "Model", "register"), "netsim.api"),
    "limits": "netsim.text.limits",
    "allow": "netsim.text.roots",
}


def __getattr__(name: str) -> Any:
    """Everything is imported when first used: `netsim --help` needs neither CasADi nor numba, and a command that is
    interrupted while Python starts has little to say."""
    from importlib import import_module

    if name == "component":
        return import_module("netsim.library.files").define
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'netsim' has no attribute '{name}'")
