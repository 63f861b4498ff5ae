# ruff: noqa: E501  (a line per component reads best)
"""The direction of every source, sensor and coupling, each on a netlist of a few lines: what its documentation says, with numbers."""

import pytest

import netsim
from conftest import sampled
from library_signs import ELSEWHERE
from library_signs import SYSTEM as BREADTH
from netsim.library.files import collect, library_names
from netsim.text.parse import parse

SYSTEM = {
    # sources: what is delivered is positive
    "force": ("translational", "m mass (a) m = 2 kg; s force (a) F = 10 N", {"a.v": 5.0, "s.power": 50.0}),
    "relative_force": ("translational", "m mass (a) m = 2 kg; k mass (b) m = 1 kg; s relative_force (a, b) F = 10 N", {"a.v": 5.0, "b.v": -10.0, "s.power": 150.0}),
    "displacement": ("translational", "c spring (a, ground) c = 10 N/m; s displacement (a, ground) s = 2 m/s*time", {"a.x": 2.0, "s.push": 20.0, "s.power": 40.0, "c.f": 20.0}),
    "velocity": ("translational", "k damper (a, ground) d = 10 N.s/m; s velocity (a, ground) v = 2 m/s", {"a.v": 2.0, "s.push": 20.0, "s.power": 40.0}),
    "torque": ("rotational", "m inertia (a) J = 2 kg.m2; s torque (a) T = 10 N.m", {"a.w": 5.0, "s.power": 50.0}),
    "relative_torque": ("rotational", "m inertia (a) J = 2 kg.m2; k inertia (b) J = 1 kg.m2; s relative_torque (a, b) T = 10 N.m", {"a.w": 5.0, "b.w": -10.0}),
    "angle": ("rotational", "c torsion_spring (a, ground) c = 10 N.m/rad; s angle (a, ground) phi = 2 rad/s*time", {"a.phi": 2.0, "s.drive": 20.0, "s.power": 40.0}),
    "speed": ("rotational", "k torsion_damper (a, ground) d = 10 N.m.s/rad; s speed (a, ground) w = 2 rad/s", {"a.w": 2.0, "s.drive": 20.0, "s.power": 40.0}),
    "voltage": ("electrical", "r resistor (a, ground) R = 2 Ohm; s voltage (a, ground) v = 10 V", {"a.v": 10.0, "r.i": 5.0, "s.i": -5.0, "s.power": 50.0}),
    "current": ("electrical", "r resistor (a, ground) R = 2 Ohm; s current (a, ground) I = 5 A", {"a.v": 10.0, "s.power": 50.0}),
    "vcvs": ("electrical", "v voltage (c, ground) v = 2 V; r resistor (a, ground) R = 2 Ohm; s vcvs (a, ground, c, ground) gain = 5", {"a.v": 10.0, "s.power": 50.0}),
    "vccs": ("electrical", "v voltage (c, ground) v = 2 V; r resistor (a, ground) R = 2 Ohm; s vccs (a, ground, c, ground) g = 3 S", {"a.v": -12.0, "s.power": 72.0}),
    "ccvs": ("electrical", "v current (c, ground) I = 2 A; r resistor (a, ground) R = 2 Ohm; s ccvs (a, ground, c, ground) r = 5 Ohm", {"a.v": 10.0, "s.power": 50.0}),
    "cccs": ("electrical", "v current (c, ground) I = 2 A; r resistor (a, ground) R = 2 Ohm; s cccs (a, ground, c, ground) gain = 3", {"a.v": -12.0, "s.power": 72.0}),
    "opamp": ("electrical", "v voltage (c, ground) v = 2 V; r resistor (a, ground) R = 2 Ohm; s opamp (c, a, a)", {"a.v": 2.0, "s.power": 2.0}),
    "limited_opamp": ("electrical", "v voltage (c, ground) v = 2 V; r resistor (a, ground) R = 2 Ohm; s limited_opamp (c, ground, a) limit = 10 V", {"a.v": 10.0, "s.power": 50.0}),
    "pressure": ("hydraulic", "r pipe (a, ground) R = 2 Pa.s/m3; s pressure (a, ground) p = 10 Pa", {"a.p": 10.0, "r.q": 5.0, "s.power": 50.0}),
    "flow": ("hydraulic", "r pipe (a, ground) R = 2 Pa.s/m3; s flow (a, ground) Q = 5 m3/s", {"a.p": 10.0, "s.power": 50.0}),
    "heat_flow": ("thermal", "c heat_capacity (a) C = 2 J/K, start T = 300 K; s heat_flow (a) Q = 10 W", {"a.T": 305.0, "s.power": 10.0}),
    "temperature": ("thermal", "r thermal_resistor (a, b) R = 2 K/W; k temperature (b) T = 290 K; s temperature (a) T = 300 K", {"r.q": 5.0, "s.power": 5.0, "k.power": -5.0}),
    "cooling": ("thermal", "k temperature (a) T = 303.15 K; s cooling (a) A = 2 m2, h = 5 W/m2/K", {"s.q": 100.0, "s.power": -100.0, "k.power": 100.0}),
    # elements with a direction of their own
    "spring": ("translational", "k spring (a, ground) c = 10 N/m, l = 1 m; s displacement (a, ground) s = 3 m", {"k.f": 20.0}),
    "bumper": ("translational", "k bumper (a, ground) c = 10 N/m; s displacement (a, ground) s = -3 m", {"k.f": -30.0, "s.push": -30.0}),
    "rope": ("translational", "k rope (a, ground) c = 10 N/m; s displacement (a, ground) s = 3 m", {"k.f": 30.0}),
    "lever": ("translational", "k lever (a, b) ratio = -2; s displacement (b, ground) s = 3 m", {"a.x": -6.0}),
    "gear": ("rotational", "k gear (a, b) ratio = 3; s speed (b, ground) w = 2 rad/s", {"a.w": 6.0}),
    "planetary_gear": ("rotational", "k planetary_gear (a, b, ground) ratio = 3; s speed (b, ground) w = 2 rad/s", {"a.w": 8.0}),
    "transformer": ("electrical", "v voltage (a, ground) v = 10 V; k transformer (a, ground, b, ground) ratio = 5; r resistor (b, ground) R = 2 Ohm", {"b.v": 2.0, "v.i": -0.2}),
    "gyrator": ("electrical", "v voltage (a, ground) v = 10 V; k gyrator (a, ground, b, ground) g = 0.5 S; r resistor (b, ground) R = 2 Ohm", {"b.v": 10.0, "v.i": -5.0}),
    "check_valve": ("hydraulic", "s pressure (a, ground) p = 10 bar; k check_valve (a, ground) G = 1e-8 m3/s/Pa, soft = 1 mPa, leak = 0 m3/s/Pa", {"k.q": 1e-2}),
    "open_tank": ("hydraulic", "k open_tank (a) A = 2 m2, rho = 1000 kg/m3, g = 10 m/s2, start p = 0 Pa; s flow (a, ground) Q = 1 m3/s", {"k.level": 0.5, "a.p": 5e3}),
    "switch": ("electrical", "s voltage (a, ground) v = 10 V; k switch (a, ground) closed = 1, Ron = 2 Ohm", {"k.i": 5.0}),
    "variable_resistor": ("electrical", "s voltage (a, ground) v = 10 V; k variable_resistor (a, ground) R = 1 Ohm + 1 Ohm*time/(1 s)", {"k.i": 5.0, "k.loss": 50.0}),
    "diode": ("electrical", "s current (a, ground) I = 1 A; k diode (a, ground) Is = 1 pA, T = 300 K, Tnom = 300 K, Gmin = 0 S, Cj = 1 pF", {"a.v": 0.71431715199}),
    "coupled_inductors": ("electrical", "s voltage (a, ground) v = 1 V; k coupled_inductors (a, ground, b, ground) L1 = 1 H, L2 = 4 H, k = 0.5; r resistor (b, ground) R = 1e9 Ohm", {"k.i1": 1.0, "b.v": 1.0}),
    "valve": ("hydraulic", "s pressure (a, ground) p = 2 bar; k valve (a, ground) opening = 0.5, A = 2 m2, Cd = 1, rho = 1000 kg/m3, dpt = 1 mPa, leak = 0 m3/s/Pa", {"k.q": 20.0}),
    "orifice": ("hydraulic", "s pressure (a, ground) p = -2 bar; k orifice (a, ground) A = 1 m2, Cd = 1, rho = 1000 kg/m3, dpt = 1 mPa", {"k.q": -20.0}),
    "backlash_shaft": ("rotational", "s angle (a, ground) phi = -3 rad; k backlash_shaft (a, ground) c = 10 N.m/rad, play = 2 rad", {"k.t": -20.0}),
    "thermal_radiation": ("thermal", "s temperature (a) T = 400 K; t temperature (b) T = 300 K; k thermal_radiation (a, b) A = 1 m2", {"k.q": 992.315523325}),
    "forced_convection": ("thermal", "s temperature (a) T = 302 K; t temperature (b) T = 300 K; k forced_convection (a, b) G = 3 W/K", {"k.q": 6.0}),
    "mass": ("translational", "k mass (a) m = 2 kg; s displacement (a, ground) s = 3 m/s2*time^2", {"k.f": 12.0, "s.push": 12.0}),
    "friction": ("translational", "k friction (a, ground) F = 5 N; s velocity (a, ground) v = 2 m/s", {"k.f": 5.0}),
    # couplings
    "emf": ("electrical rotational", "v voltage (a, ground) v = 10 V; r resistor (a, b) R = 1 Ohm; k emf (b, ground, s) k = 2 V.s; m speed (s, ground) w = 3 rad/s", {"k.i": 4.0, "m.drive": -8.0}),
    "dc_motor": ("electrical rotational", "v voltage (a, ground) v = 10 V; k dc_motor (a, ground, s) R = 1 Ohm, L = 1 uH, k = 2 V.s; m speed (s, ground) w = 3 rad/s", {"k.i": 4.0, "m.drive": -8.0, "k.loss": 16.0}),
    "voice_coil": ("electrical translational", "v voltage (a, ground) v = 10 V; r resistor (a, b) R = 1 Ohm; k voice_coil (b, ground, s) k = 2 N/A; m velocity (s, ground) v = 3 m/s", {"k.i": 4.0, "m.push": -8.0}),
    "rack_pinion": ("rotational translational", "m speed (s, ground) w = 3 rad/s; k rack_pinion (s, a) r = 2 m; d damper (a, ground) d = 1 N.s/m", {"a.v": 6.0, "m.drive": 12.0}),
    "piston": ("hydraulic translational", "p pressure (a, ground) p = 10 Pa; k piston (a, s, ground) A = 2 m2; d damper (s, ground) d = 4 N.s/m", {"k.push": 20.0, "s.v": 5.0, "p.power": 100.0}),
    "cylinder": ("hydraulic translational", "p pressure (a, ground) p = 10 Pa; q pressure (b, ground) p = 5 Pa; k cylinder (a, b, s, ground) Aa = 2 m2, Ab = 1 m2; d damper (s, ground) d = 3 N.s/m", {"k.push": 15.0, "s.v": 5.0, "p.power": 100.0, "q.power": -25.0}),
    "pump": ("hydraulic rotational", "m speed (s, ground) w = 3 rad/s; k pump (a, ground, s) D = 2 m3/rad; r pipe (a, ground) R = 1 Pa.s/m3", {"a.p": 6.0, "m.drive": 12.0}),
    "heated_resistor": ("electrical thermal", "v voltage (a, ground) v = 10 V; k heated_resistor (a, ground, h) R = 2 Ohm, alpha = 0 K^-1; t temperature (h) T = 300 K", {"k.i": 5.0, "t.power": -50.0}),
    "heated_damper": ("translational thermal", "v velocity (a, ground) v = 2 m/s; k heated_damper (a, ground, h) d = 3 N.s/m; t temperature (h) T = 300 K", {"k.f": 6.0, "t.power": -12.0}),
    "heated_torsion_damper": ("rotational thermal", "v speed (a, ground) w = 2 rad/s; k heated_torsion_damper (a, ground, h) d = 3 N.m.s/rad; t temperature (h) T = 300 K", {"k.t": 6.0, "t.power": -12.0}),
    # sensors
    "position_sensor": ("translational", "s displacement (a, ground) s = 3 m; k position_sensor (a, y)", {"k.y": 3.0}),
    "distance_sensor": ("translational", "s displacement (a, ground) s = 3 m; t displacement (b, ground) s = 1 m; k distance_sensor (a, b, y)", {"k.y": 2.0}),
    "velocity_sensor": ("translational", "s velocity (a, ground) v = 3 m/s; k velocity_sensor (a, y)", {"k.y": 3.0}),
    "acceleration_sensor": ("translational", "m mass (a) m = 2 kg; s force (a) F = 6 N; k acceleration_sensor (a, y)", {"k.y": 3.0}),
    "force_sensor": ("translational", "k force_sensor (a, b, y); c spring (b, ground) c = 10 N/m; s displacement (a, ground) s = 2 m", {"k.y": 20.0}),
    "angle_sensor": ("rotational", "s angle (a, ground) phi = 3 rad; k angle_sensor (a, y)", {"k.y": 3.0}),
    "twist_sensor": ("rotational", "s angle (a, ground) phi = 3 rad; t angle (b, ground) phi = 1 rad; k twist_sensor (a, b, y)", {"k.y": 2.0}),
    "speed_sensor": ("rotational", "s speed (a, ground) w = 3 rad/s; k speed_sensor (a, y)", {"k.y": 3.0}),
    "torque_sensor": ("rotational", "k torque_sensor (a, b, y); c torsion_spring (b, ground) c = 10 N.m/rad; s angle (a, ground) phi = 2 rad", {"k.y": 20.0}),
    "potential_sensor": ("electrical", "s voltage (a, ground) v = 3 V; k potential_sensor (a, y)", {"k.y": 3.0}),
    "port": ("electrical", "o port (a, ground) Z0 = 50 Ohm, v = 3 V; r resistor (a, ground) R = 100 Ohm", {"a.v": 2.0, "o.i": -0.02, "o.power": 0.04}),
    "voltage_sensor": ("electrical", "s voltage (a, ground) v = 3 V; t voltage (b, ground) v = 1 V; k voltage_sensor (a, b, y)", {"k.y": 2.0}),
    "current_sensor": ("electrical", "s voltage (a, ground) v = 6 V; k current_sensor (a, b, y); r resistor (b, ground) R = 2 Ohm", {"k.y": 3.0}),
    "pressure_sensor": ("hydraulic", "s pressure (a, ground) p = 3 Pa; k pressure_sensor (a, y)", {"k.y": 3.0}),
    "flow_sensor": ("hydraulic", "s pressure (a, ground) p = 6 Pa; k flow_sensor (a, b, y); r pipe (b, ground) R = 2 Pa.s/m3", {"k.y": 3.0}),
    "temperature_sensor": ("thermal", "s temperature (a) T = 300 K; k temperature_sensor (a, y)", {"k.y": 300.0}),
    "heat_flow_sensor": ("thermal", "s temperature (a) T = 300 K; k heat_flow_sensor (a, b, y); r thermal_resistor (b, c) R = 2 K/W; t temperature (c) T = 290 K", {"k.y": 5.0}),
    # blocks
    "gain": ("signal", "s signal_source (u) value = 2; k gain (u, y) k = 3", {"k.y": 6.0}),
    "sum": ("signal", "s signal_source (u) value = 2; t constant (w) value = 5; k sum (u, w, y) k1 = 3, k2 = -1", {"k.y": 1.0}),
    "difference": ("signal", "s signal_source (u) value = 2; t constant (w) value = 5; k difference (u, w, y)", {"k.y": -3.0}),
    "product": ("signal", "s signal_source (u) value = 2; t constant (w) value = 5; k product (u, w, y)", {"k.y": 10.0}),
    "limiter": ("signal", "s signal_source (u) value = 2; k limiter (u, y)", {"k.y": 1.0}),
    "dead_zone": ("signal", "s signal_source (u) value = -3; k dead_zone (u, y)", {"k.y": -2.0}),
    "integrator": ("signal", "s signal_source (u) value = 2; k integrator (u, y) k = 3 Hz, start y = 1", {"k.y": 7.0}),
    "first_order": ("signal", "s signal_source (u) value = 2; k first_order (u, y) k = 3, T = 1 ms", {"k.y": 6.0}),
    "derivative": ("signal", "s signal_source (u) value = 2*time/(1 s); k derivative (u, y) k = 3 s, T = 1 ms", {"k.y": 6.0}),
    "second_order": ("signal", "s signal_source (u) value = 2; k second_order (u, y) k = 3, w0 = 1000 rad/s", {"k.y": 6.0}),
    "pi": ("signal", "s signal_source (u) value = 2; k pi (u, y) k = 3, Ti = 2 s, start z = 0 s", {"k.y": 9.0}),
    "pid": ("signal", "s signal_source (u) value = 2; k pid (u, y) k = 3, Ti = 2 s, Td = 1 ms, start z = 0 s", {"k.y": 9.0}),
    "limited_pi": ("signal", "s signal_source (u) value = 2; k limited_pi (u, y) k = 3, Ti = 2 s, upper = 4, start z = 0 s", {"k.y": 4.0}),
}  # fmt: skip
SYSTEM |= BREADTH


EVEN = """bearing_friction capacitor conductor constant convection cubic_spring damper drag fan heat_capacity inductor inertance inertia pipe resistor
rotary_weld signal_source spring_damper thermal_conductor thermal_resistor torsion_damper torsion_spring torsion_spring_damper volume weld"""
"""Linear or odd one- and two-terminal elements: their power account (stored or dissipated, never negative) leaves no choice of direction."""


VECTOR_DOMAINS = ("planar", "spatial")
"""Their components have batteries of their own (test_planar.py, test_spatial.py)."""


def test_every_component_is_here():
    library = collect(parse("\n".join(f"use {name}" for name in library_names() if name not in VECTOR_DOMAINS), "<all>"))
    assert set(library.components) == set(SYSTEM) | set(EVEN.split()) | set(ELSEWHERE.split())


@pytest.mark.parametrize("name", SYSTEM)
def test_direction(name):
    """After one second from rest the signals have the stated values."""
    used, text, wanted = SYSTEM[name]
    uses = "\n".join(f"use {word}" for word in dict.fromkeys([*used.split(), "couplings", "signal"]))
    model = netsim.load("\n".join([uses, *text.split("; "), "run transient(stop = 1 s, step = 0.01 s, from = rest, method = euler)", ""]))
    assert name in {instance.component.name for instance in model.network.instances}
    samples = sampled(model, tuple(wanted))
    found = {signal: float(samples.series(signal)[-1]) for signal in wanted}
    assert found == pytest.approx(wanted, rel=1e-6)


def test_names_of_parameters_follow_one_rule():
    """`Ron`, `Roff`, `Gon`, `Goff` of what is on or off; `Vt` is a thermal voltage and `Vto` a threshold or pinch-off."""
    library = collect(parse("\n".join(f"use {name}" for name in library_names()), "<all>"))
    for name, component in library.components.items():
        for parameter in component.definition.params:
            assert parameter.name not in ("ron", "roff", "gon", "goff", "Vth", "VT"), name
            if parameter.name in ("Vt", "Vto"):
                assert ("thermal" in parameter.doc) == (parameter.name == "Vt"), name
