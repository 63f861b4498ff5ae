"""Runs that cannot come to their end say so."""

import netsim

OSCILLATOR = "use electrical\nl inductor (a, ground) L = 1e-14 H\nc capacitor (a, ground) C = 1e-14 F\nstart a.v = 1 V\n"


def test_a_run_without_progress_ends_and_says_where():
    """Every step of an oscillator of 1.6e13 Hz passes the error test, and a second of it would take 1e15 of them."""
    (samples,) = netsim.load(OSCILLATOR + "run transient(stop = 1 s)\nsave a.v\n").samples()
    problem = samples.attributes["failure"]
    assert problem.code == "E508" and "makes no progress at t = " in problem.message
    assert "'c' changes fastest" in problem.message and "1e+15 steps" in problem.hint
    assert abs(samples.series("a.v")).max() < 1.001 and samples.time[-1] > 1e-12


def test_many_steps_that_lead_somewhere_are_taken():
    """More than 1e5 steps of the same oscillator in 16 000 of its periods."""
    (samples,) = netsim.load(OSCILLATOR + "run transient(stop = 1 ns)\nsave a.v\n").samples()
    assert samples.finished and len(samples.time) > 1e5
