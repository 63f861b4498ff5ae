"""Elements that are alike by their text have their parameters evaluated once."""

import netsim
from netsim.network.values import Values

NETLIST = """
use electrical
param base = 2 kohm
model lead (p, n : electrical)
  param R = base
  r resistor (p, n) R = R
end
model cell (p, n : electrical)
  param factor = 1
  param share = 3*factor
  r resistor  (p, m) R = share*1 kohm
  s lead      (m, k) R = factor*1 kohm
  c capacitor (k, n) C = 1 uF
end
v voltage (a, ground) v = 1 V
x1 cell (a, ground)
x2 cell (a, ground)
x3 cell (a, ground) factor = 2
x4 cell (a, ground) factor = 2
x5 cell (a, ground) share = 3
y[k] cell (a, ground) factor = k for k in 1..3
run static()
""".replace("R = base", "R = 2 kohm")


def resistances(values, network):
    return {i.name: values.parameters(i)["R"].value for i in network.instances if i.component.name == "resistor"}


def test_copies_share_their_parameters_and_no_others_do():
    network = netsim.load(NETLIST).network
    values = Values(network)
    found = resistances(values, network)
    alone = {i.name: Values(network).parameters(i)["R"].value for i in network.instances if i.component.name == "resistor"}
    assert found == alone
    assert found["x1.r"] == 3e3 and found["x3.r"] == 6e3 and found["x5.r"] == 3e3 and found["y[3].r"] == 9e3 and found["x4.s.r"] == 2e3
    of = {i.name: values.parameters(i) for i in network.instances}
    assert (of["x1.r"] is of["x2.r"] and of["x3.s.r"] is of["x4.s.r"] and of["x1.c"] is of["y[2].c"]) or of["x1.c"] is of["x2.c"]
    assert of["x1.r"] is not of["x3.r"]


def test_an_element_with_an_override_stands_alone():
    model = netsim.load(NETLIST).with_params({"x2.factor": 5})
    found = resistances(model.machine.values, model.network)
    assert found["x1.r"] == 3e3 and found["x2.r"] == 15e3 and found["x2.s.r"] == 5e3
