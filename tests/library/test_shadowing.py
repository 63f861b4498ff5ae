"""A program's own types may have the name of a library's type that nothing of the libraries is made of."""

import pytest

import netsim

FUSE = 'component fuse (p, n : electrical) "mine"\n  param R : Ohm > 0\n  branch p -> n : v, i\n  v = R*i\nend\n'
MODEL = "model fuse (p, n : electrical)\n  param R : Ohm\n  r resistor (p, n) R = R\nend\n"
CIRCUIT = "s voltage (a, ground) v = 1 V\nf fuse (a, ground) R = 2 Ohm\nrun transient(stop = 1 s, step = 1 s)\n"


@pytest.mark.parametrize(("own", "kind"), [(FUSE, "component"), (MODEL, "model")])
@pytest.mark.parametrize("first", [True, False])
def test_own_type_stands_in_the_place_of_a_librarys(own, kind, first):
    uses = "use electrical\n"
    model = netsim.load((own + uses if first else uses + own) + CIRCUIT)
    (note,) = (p for p in model.check() if p.code == "N221")
    assert note.is_note and note.span is not None and f"your {kind} 'fuse'" in note.message and "library electrical" in note.message
    (samples,) = model.samples()
    assert samples.series("s.power")[-1] == pytest.approx(0.5)


def test_a_type_that_the_library_is_made_of_is_refused():
    """Its own diodes would be others in the rectifier."""
    with pytest.raises(netsim.InputError, match="E221 'ideal_diode' is a type of the library electrical, of which 'three_phase_rectifier' is made"):
        netsim.load("use electrical\n" + FUSE.replace("fuse", "ideal_diode") + CIRCUIT)


def test_a_companion_of_library_types_is_refused():
    """`friction` of a hinge brings a `hinge_friction` with it."""
    own = 'component hinge_friction (a, b : spatial) "mine"\n  a.t = [0, 0, 0] N.m\n  b.t = [0, 0, 0] N.m\nend\n'
    with pytest.raises(netsim.InputError, match="E221 'hinge_friction' is a type of the library spatial"):
        netsim.load(f"use spatial\n{own}run transient(stop = 1 s)\n")


def test_two_own_types_of_one_name_are_refused():
    with pytest.raises(netsim.InputError, match="E221 type 'fuse' is defined twice"):
        netsim.load("use electrical\n" + FUSE + MODEL + CIRCUIT)


def test_nothing_is_said_of_types_of_libraries_that_are_not_used():
    own = FUSE.replace("fuse", "knot")  # a type of the library spatial
    assert not [p for p in netsim.load(f"use electrical\n{own}{CIRCUIT}".replace("f fuse", "f knot")).check() if p.code == "N221"]
