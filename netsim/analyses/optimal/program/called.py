"""Python functions that CasADi calls."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np


class Called(ca.Callback):  # type: ignore[misc]
    """A function of columns with named inputs of given patterns; every output has a pattern and a function that gives
    its entries. An exception is kept in `raised` for the caller, since it cannot pass through the library, which
    ends."""

    def __init__(self, name: str, inputs: Mapping[str, Any], outputs: Mapping[str, tuple[Any, Callable[..., Any]]]):
        ca.Callback.__init__(self)
        self.inputs, self.outputs = list(inputs.items()), list(outputs.items())
        self.raised: BaseException | None = None
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self.inputs)

    def get_n_out(self) -> int:
        return len(self.outputs)

    def get_name_in(self, i: int) -> str:
        return self.inputs[i][0]

    def get_name_out(self, i: int) -> str:
        return self.outputs[i][0]

    def get_sparsity_in(self, i: int) -> Any:
        return self.inputs[i][1]

    def get_sparsity_out(self, i: int) -> Any:
        return self.outputs[i][1][0]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Sequence[Any], wanted: Sequence[Any]) -> int:
        """Entries of the outputs that are asked for, written where the library has room for them."""
        try:
            arrays = [np.frombuffer(each, float) if each is not None else np.zeros(0) for each in given]
            for room, (_, (_, function)) in zip(wanted, self.outputs):
                if room is not None and len(room):
                    np.frombuffer(room, float)[:] = function(*arrays)
        except BaseException as raised:
            self.raised = raised
            return 1
        return 0
