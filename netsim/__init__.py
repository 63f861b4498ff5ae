"""netsim: physical systems written as text, simulated as one network.

import netsim
model = netsim.load("models/two_masses.net")
result = model.transient(stop=5, step=1e-3)      # an xarray.Dataset
"""

from typing import Any

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


def __getattr__(name: str) -> Any:
    """`load`, `Model` and `register` are imported when first used: `netsim --help` needs neither CasADi nor numba."""
    if name == "component":
        from netsim.library.files import define

        return define
    if name in ("load", "Model", "register"):
        from netsim import api as model

        return getattr(model, name)
    raise AttributeError(f"module 'netsim' has no attribute '{name}'")
