"""IPOPT reports after every iteration, and ends where whoever listens wants it to."""

from collections.abc import Callable
from typing import Any

import casadi as ca


class Watching(ca.Callback):  # type: ignore[misc]
    """Calls `tell(iteration)`; an exception of it ends IPOPT, and is kept in `raised` for the caller: it cannot pass
    through the library."""

    def __init__(self, variables: int, rows: int, parameters: int):
        ca.Callback.__init__(self)
        self.sizes = {"x": variables, "f": 1, "g": rows, "lam_x": variables, "lam_g": rows, "lam_p": parameters}
        self.listen(lambda iteration: None)
        self.construct("watching", {})

    def listen(self, tell: Callable[[int], object]) -> None:
        """Another solution begins, whose iterations `tell` hears of."""
        self.tell, self.iteration = tell, 0
        self.raised: BaseException | None = None

    def get_n_in(self) -> int:
        return int(ca.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self.sizes.get(ca.nlpsol_out(i), 0), 1)

    def eval(self, arg: Any) -> list[int]:
        try:
            self.tell(self.iteration)
        except BaseException as raised:
            self.raised = raised
        self.iteration += 1
        return [int(self.raised is not None)]
