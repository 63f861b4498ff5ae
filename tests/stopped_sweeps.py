"""A sweep that is ended from outside and resumed."""

import pytest

from netsim.analyses.many import sweep
from netsim.analyses.many.one_case import outcome
from netsim.results.partial.recording import Recording


class Stops(Exception):
    """What ends a sweep from outside."""


def stopped_and_resumed(model, name, folder, monkeypatch):
    """Samples of a sweep that was ended at its fourth case and resumed, and the values of the parameter that were computed for it."""
    computed = []

    def stopping(task, asked, shared, values):
        computed.append(values[name])
        if len(computed) == 4:
            raise Stops
        return outcome(task, asked, shared, values)

    monkeypatch.setattr(sweep, "outcome", stopping)
    with pytest.raises(Stops):
        model.samples(recording=Recording(folder, first=0.0, every=0.0))
    (again,) = model.samples(recording=Recording(folder, resume=True))
    return again, computed
