"""The picture of a network: everything is in it, nothing covers anything, and it can be read."""

import itertools

import numpy as np
import pytest

import netsim
from netsim.cli import main
from netsim.library.files import models_folder
from netsim.output.diagram import arranged, draw_network
from netsim.text.errors import InputError

MODELS = ["two_masses", "dc_motor", "tripod/stage1", "mechanisms/fourbar_spatial", "heated_wall", "train"]


def network_of(name):
    return netsim.load(models_folder() / f"{name}.net").network


@pytest.mark.parametrize("name", MODELS)
def test_boxes_do_not_overlap_and_wires_are_short(name):
    network = network_of(name)
    drawing = arranged(network)
    assert sum(v[0] == "element" for v in drawing.vertices) == len(network.instances)
    assert sum(v[0] == "node" for v in drawing.vertices) == len(network.nodes)
    assert len(drawing.lines) == sum(len(i.nodes) for i in network.instances)
    for (p, h), (q, k) in itertools.combinations(zip(drawing.places, drawing.halves), 2):
        assert (np.abs(p - q) >= h + k).any()
    lengths = [np.hypot(*(drawing.places[a] - drawing.places[b])) for a, b, _ in drawing.lines]
    assert max(lengths) < 6 * np.median(lengths)


def test_the_same_network_is_drawn_the_same_way():
    first, second = (arranged(network_of("dc_motor")).places for _ in range(2))
    assert np.array_equal(first, second)


def test_a_hundred_elements_have_room():
    model = netsim.load(
        "use electrical\ncount n = 50\nsrc voltage (t[1], ground) v = 1 V\nr[k] resistor (t[k], t[k+1]) R = 1 Ohm for k in 1..n\n"
        "c[k] capacitor (t[k+1], ground) C = 1 uF for k in 1..n\n"
    )
    drawing = arranged(model.network)
    for (p, h), (q, k) in itertools.combinations(zip(drawing.places, drawing.halves), 2):
        assert (np.abs(p - q) >= h + k).any()


def test_svg_holds_every_name(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        text = draw_network(netsim.load(models_folder() / "dc_motor.net"), tmp_path / "a.svg").read_text()
    for word in ("src", "voltage", "motor", "dc_motor", "shaft", "flange", "electrical", "rotational"):
        assert f">{word}<" in text
    with pytest.raises(InputError, match="E433"):
        draw_network(netsim.load(models_folder() / "dc_motor.net"), tmp_path / "a.txt")


def test_command_draws_networks_only(tmp_path, capsys):
    assert main(["show", "dc_motor", "-o", str(tmp_path / "n.png")]) == 0
    assert "wrote" in capsys.readouterr().out and (tmp_path / "n.png").stat().st_size > 5000
    assert main(["show", "dc_motor", "--stage", "system", "-o", str(tmp_path / "m.png")]) == 2
    assert "E423" in capsys.readouterr().err and not (tmp_path / "m.png").exists()
