"""The state of a run of the loop of given steps as a tree of numbers and arrays."""

from dataclasses import fields
from typing import Any

import numpy as np

from netsim.core.linear.factors import Factor
from netsim.initial.flat_plan import with_contents
from netsim.simulate.given import Stepping
from netsim.simulate.stored.adaptive_state import CONTENTS, Differs

Tree = dict[str, Any]
NOT_STORED = ("times", "values", "account", "summed")
"""Arrays that are rows of samples, or follow from the network."""


def stored_given(run: Stepping) -> Tree:
    """The state of a run between two blocks of steps."""
    arrays = [field.name for field in fields(run) if isinstance(getattr(run, field.name), np.ndarray)]
    stages = run.recovery.stages if run.recovery else []
    return {
        "state": {name: getattr(run, name) for name in arrays if name not in NOT_STORED},
        "totals": run.account[-1],
        "factor": None if run.factor is None else run.factor._asdict(),
        "plan": {name: getattr(run.plan, name) for name in CONTENTS},
        "stages": [[plan.factor and plan.factor._asdict(), plan.rounding] for _, plan in stages],
        "done": run.done,
        "origin": run.origin,
        "broken": list(map(list, run.broken.items())),
    }


def restored_given(run: Stepping, tree: Tree) -> None:
    """Give a run that has just begun the state that was stored, but for rows of samples. Raises `Differs`."""
    for name, values in tree["state"].items():
        present = getattr(run, name)
        if present.shape != values.shape or present.dtype != values.dtype:
            raise Differs(name)
        present[...] = values
    run.factor = None if tree["factor"] is None else Factor(**tree["factor"])
    stages = run.recovery.stages if run.recovery else []
    if len(stages) != len(tree["stages"]):
        raise Differs("stages of consistent points")
    for (_, plan), (factor, rounding) in zip(stages, tree["stages"]):
        plan.factor, plan.rounding = Factor(**factor) if factor else None, rounding
    if run.recovery:
        found = with_contents(run.recovery, tree["plan"])
        if found is None:
            raise Differs("a plan of consistent points")
        run.plan = found
    run.done, run.broken = tree["done"], {a: b for a, b in tree["broken"]}
    run.put_window(tree["origin"])
    run.account[-1] = tree["totals"]
