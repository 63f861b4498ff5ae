"""The state space of a network follows its transient run: what a small step of a probe does to a model at rest, by the matrix exponential and by
the network's own steps, for every model of models/ that has an equilibrium.

The difference of a run from the state space is proportional to the square of the amplitude, so that beside the response it falls with the amplitude
itself, to the rounding of linear networks. Sources are held at their values at time 0, and written starts are left out.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import netsim
from netsim.library.files import models_folder
from netsim.text.errors import InputError, SimulationError

MODELS = """
benchmarks/andrews            planar        b1          w    1e-2
benchmarks/car_axis           particle      r           v.y  1e1
benchmarks/flyback            electrical    p           v    1e-2
benchmarks/nfourbar           planar        c[0]        w    1
benchmarks/transistor_amplifier  electrical y1          v    1e-4
cam_follower                  translational valve       v    1
coaxial_cable                 electrical    cable.tap[60]  v 1
cooling_circuit               thermal       m           T    1e2
coupled_coils                 electrical    b           v    1
coupled_oscillators           translational b           v    1
diode_bridge                  electrical    a           v    1e-1
diode_rectifier               electrical    anode       v    1
duffing_steady                translational a           v    1e-1
electromagnet                 electrical    q           v    1e-1
heated_resistor               thermal       body        T    1e-2
heated_wall                   thermal       layer[1]    T    1
hydraulic_cylinder            hydraulic     chamber     p    1
lever                         translational short       v    1
linear_actuator               electrical    a           v    1
manipulators/flexible_pendulum_1  planar    base1       w    1e-1
manipulators/gevorkyan2017    spatial       b[3]        w.y  1
many/tolerances               electrical    b           v    1
mechanisms/double_pendulum    spatial       lower       w.y  1e-2
mechanisms/five_bar_inverse   planar        a           w    1e-2
mechanisms/free_body          spatial       p           v.x  1
mechanisms/pendulum           spatial       rod         w.y  1e-1
mechanisms/spinning_top       spatial       top         w.z  1e-3
motor_angle                   rotational    shaft       w    1
msl/Electrical_Analog_CauerLowPassAnalog  electrical n1 v    1
msl/Electrical_Analog_ChuaCircuit  electrical  o        v    1e-3
msl/Electrical_Analog_HeatingNPN_OrGate  electrical b1  v    1
msl/Electrical_Analog_HeatingRectifier  electrical b    v    1
msl/Electrical_Analog_OpAmps_Integrator  electrical minus v  1e-3
msl/Mechanics_MultiBody_Elementary_DoublePendulum  spatial a w.z 1
msl/Mechanics_MultiBody_Elementary_ForceAndTorque  spatial b w.x 1
msl/Mechanics_MultiBody_Elementary_Pendulum  spatial b  w.z  1e-1
msl/Mechanics_MultiBody_Elementary_RollingWheel  spatial w w.x 1e-1
msl/Mechanics_MultiBody_Elementary_SpringMassSystem  spatial a v.y 1e2
msl/Mechanics_MultiBody_Loops_Engine1a  rotational shaft w   1
msl/Mechanics_MultiBody_Loops_Fourbar1  spatial b1      w.x  1
msl/Mechanics_MultiBody_Rotational3DEffects_GyroscopicEffects  spatial a w.z 1e-3
msl/Mechanics_Rotational_CompareBrakingTorque  rotational a w 1
msl/Mechanics_Rotational_EddyCurrentBrake  rotational shaft w 1
msl/Mechanics_Rotational_ElasticBearing  rotational housing w 1
msl/Mechanics_Rotational_First  rotational  motor       w    1
msl/Mechanics_Rotational_RollingWheel  rotational axle  w    1
msl/Mechanics_Translational_Damper  translational a     v    1
msl/Mechanics_Translational_Oscillator  translational a v    1
msl/Thermal_FluidHeatFlow_ParallelCooling  thermal l1   T    1
msl/Thermal_FluidHeatFlow_PumpDropOut  thermal  liquid  T    1
msl/Thermal_FluidHeatFlow_SimpleCooling  thermal liquid T    1
msl/Thermal_HeatTransfer_Motor  thermal     winding     T    1
opamp_lowpass                 electrical    a           v    1
optimal/bryson_denham         translational a           v    1
optimal/cart_pole             planar        c           v.x  1
optimal/damped_rest           translational a           v    1
optimal/double_integrator     translational a           v    1
optimal/double_integrator_time  translational a         v    1
optimal/flexible_arm          planar        h           w    1
optimal/free_elbow            planar        a           w    1
optimal/motor_arm             rotational    s           w    1
optimal/passive_elbow         planar        u1          w    1e-2
optimal/quarter_car           translational wheel       v    1
optimal/rrr_platform          planar        p           w    1
optimal/seven_axes            spatial       a           w.z  1e-4
optimal/two_link_time         planar        u           w    1
optimal/van_der_pol           translational a           v    1e-2
optimal/van_der_pol_time      translational a           v    1e-2
pump_drive                    hydraulic     outlet      p    1e-6
quarter_car                   translational wheel       v    1
rack_and_pinion               rotational    rotor       w    1
rc                            electrical    mid         v    1
rc_ladder                     electrical    tap[2]      v    1
rlc_series                    electrical    mid         v    1
sallen_key_response           electrical    a           v    1
spice/amplifier               spice         out         v    1e-5
spice/inverter                spice         out         v    1e-4
spice/measured                spice         dc          v    1
spice/oscillator              spice         osc         v    1e-3
spice/ring                    spice         a           v    1e-6
spice/sources                 spice         d           v    1
train                         translational hook[1]     v    1
transformer_supply            electrical    a           v    1
transistor_amplifier          electrical    base        v    1e-1
tripod/elastic_stage2         spatial       plate       w.z  1e-2
two_masses                    translational a           v    1
"""
"""Model, domain of the probe, its node, what is read there, and the larger amplitude of two that differ by ten."""

AT_REST_ANYWHERE = """
    hydraulic_servo msl/Blocks_PID_Controller optimal/brachistochrone pi_speed_control msl/Electrical_Analog_CauerLowPassSC
    robots/gripper"""
"""Models that rest where their starts say: nothing determines a place, a potential or an integral."""
AT_REST_NOWHERE = {
    "nothing holds it, or it stands at no place of its own": """
        battery_pulse bouncing_ball dc_motor gas_bottle many/bouncing_ball mechanisms/redundant_platform
        msl/Mechanics_MultiBody_Elementary_PointGravity msl/Mechanics_Rotational_LossyGearDemo1
        msl/Mechanics_Translational_SignConvention msl/Thermal_HeatTransfer_TwoMasses optimal/goddard optimal/landing
        screw_jack""",
    "no voltage is left for what lies between ideal sources, coils and open switches": """
        msl/Electrical_Analog_Rectifier msl/Electrical_Analog_ShowSaturatingInductor""",
    "a relay switches for ever": "msl/Thermal_HeatTransfer_ControlledTemperature",
}
"""Models whose `static` fails, by reason."""
HELD = "msl/Mechanics_Rotational_CoupledClutches msl/Mechanics_Translational_Friction optimal/dry_friction"
LEFT_OUT = {
    "friction holds it, so that a small push moves nothing": HELD,
    "no search finds its equilibrium": """
        benchmarks/bricard mechanisms/stewart_platform msl/Mechanics_MultiBody_Systems_RobotR3_FullRobot tripod/four_rods""",
    "a run takes more than ten seconds, and others have its elements": """
        manipulators/gevorkian2022 manipulators/flexible_pendulum_2 tripod/bending_stage2 two_masses_integrators""",
    "what a probe moves contains derivatives of what it pushes by": """
        benchmarks/water_tube msl/Magnetic_FluxTubes_BasicExamples_QuadraticCoreAirgap""",
    "its motion is given, and no force changes it": """
        mechanisms/delta_robot mechanisms/five_bar mechanisms/fourbar_planar mechanisms/fourbar_spatial mechanisms/slider_crank optimal/four_bar
        robots/puma tripod/stage1 tripod/stage2 tripod/inverse""",
    "it follows the result of another stage's run": """
        tripod/stage3 tripod/stage4 tripod/elastic_stage3 tripod/elastic_stage4 tripod/bending_stage3 tripod/bending_stage4""",
    "its sources switch or alternate inside their components, so that no run stays at rest": """
        buck_converter buck_response induction_motor_start pwm_inverter spice/buck""",
    "ideal amplifiers hold all nodes outside of its subcircuits": "spice/filter",
    "it has delays, and no state space": "dead_time_control spice/tline",
}
"""Models that have no response, or no state space, by reason."""

PROBES = {
    "electrical": "current (ground, {node}) I = probe*1 A",
    "translational": "force ({node}) F = probe*1 N",
    "rotational": "torque ({node}) T = probe*1 N.m",
    "thermal": "heat_flow ({node}) Q = probe*1 kW",
    "hydraulic": "flow ({node}, ground) Q = probe*1e-6 m3/s",
    "planar": "planar_force ({node}) F = [probe, 0.5*probe]*1 N, at = [0.11, 0.07] m",
    "particle": "planar_force ({node}) F = [probe, 0.5*probe]*1 N, at = [1, 0.5] m",
    "spatial": "world_force ({node}) F = [probe, 0.5*probe, 0.3*probe]*1 N, at = [0.11, 0.07, 0.05] m",
}
"""Forces act beside the origin of a body, so that they turn it."""
ROWS = {name: tuple(row) for name, *row in (line.split() for line in MODELS.strip().splitlines())}
ALL = sorted(
    str(p.relative_to(models_folder()).with_suffix("")) for s in ("net", "cir") for p in models_folder().rglob(f"*.{s}") if "broken" not in p.parts
)


def without_runs(text: str) -> str:
    """A netlist without its runs, what they save and measure, and its written starts, at time 0."""
    kept, open_ = [], 0
    for line in text.splitlines():
        body = line.split("#")[0]
        if open_ or re.match(r"(run|save|plot|measure|assert|start)\b", body):
            open_ += sum(body.count(c) for c in "([") - sum(body.count(c) for c in ")]")
        else:
            kept.append(line)
    still = re.sub(r",?\s*start [\w.]+ = (\[[^]]*\][^,\n#]*|[^,\n#]*)", "", "\n".join(kept))
    return re.sub(r"\btime\b", "(0 s)", still)


def without_analyses(text: str) -> str:
    """A circuit without what it asks for, and with its waves at 0."""
    kept = [line for line in text.splitlines() if not re.match(r"\.(tran|ac|noise|dc|meas\w*|save|print|four|step|ic|end$)", line.lower())]
    return re.sub(r"\b(sin|pulse|pwl|exp|sffm|am)\s*\([^)]*\)", "0", "\n".join(kept), flags=re.IGNORECASE)


def copied(name: str, folder: Path, more: str = "") -> netsim.Model:
    """A model at rest in a folder of its own, with lines behind it."""
    path = models_folder() / name
    source = next(p for p in (path.with_name(f"{path.name}.net"), path.with_name(f"{path.name}.cir")) if p.exists())
    for other in source.parent.iterdir():
        if other.suffix in (".inc", ".lib"):
            (folder / other.name).write_text(without_runs(other.read_text(encoding="utf-8")), encoding="utf-8")
        elif other.suffix in (".csv", ".urdf"):
            (folder / other.name).write_bytes(other.read_bytes())
    text = source.read_text(encoding="utf-8")
    still = without_runs(text) if source.suffix == ".net" else without_analyses(text)
    file = folder / source.name
    file.write_text(f"{still}\n{more}\n", encoding="utf-8")
    return netsim.load(file)


def probed(name: str, folder: Path) -> netsim.Model:
    """A model at rest with a probe that pushes by the parameter `probe`."""
    domain, node, *_ = ROWS[name]
    if domain == "spice":
        return copied(name, folder, f".param probe=0\niprobe 0 {node} {{probe}}")
    return copied(name, folder, f"use {domain.replace('particle', 'planar')}\nparam probe = 0\npushed_ {PROBES[domain].format(node=node)}")


def misses(name: str, folder: Path) -> list[float]:
    """How far a step of the probe takes the run from the state space, beside its response, for the amplitude and a tenth of it."""
    model, (_, node, read, amplitude) = probed(name, folder), ROWS[name]
    output = f"{node}.{read}"
    found = model.linearise(inputs=["probe"], save=[output])
    sizes, grows = np.abs(found.poles), found.poles.real.max()
    sizes = sizes[sizes > 1e-6 * sizes.max()]
    long = 3.0 / np.exp(np.mean(np.log(sizes))) if len(sizes) else 1.0
    times = np.linspace(0.0, min(long, 6.0 / grows) if grows > 0.0 else long, 4)[1:]
    both = np.block([[found.a, found.b], [np.zeros((1, len(found.a) + 1))]])
    wanted = np.array([(found.c @ expm(both * t)[:-1, -1]).item() + found.d.item() for t in times])
    assert np.abs(wanted).max() > 1e-9
    shares = []
    for size in (float(amplitude), 0.1 * float(amplitude)):
        run = model.simulator(inputs=["probe"], save=[output], rtol=1e-8, stop=times[-1], from_="static")
        rest, got = run[output], []
        run["probe"] = size
        for t in times:
            run.advance(t)
            got.append(run[output] - rest)
        shares.append(float(np.abs(np.array(got) - size * wanted).max() / np.abs(size * wanted).max()))
    return shares


@pytest.mark.parametrize("name", ROWS)
def test_the_error_beside_the_response_falls_with_the_amplitude(name, tmp_path):
    """By ten, by a hundred where the law has no quadratic part, or it is that of rounding."""
    large, small = misses(name, tmp_path)
    assert large < 0.3
    assert small < max(0.15 * large, 1e-8)


@pytest.mark.parametrize("name", HELD.split())
def test_what_friction_holds_stays_where_it_rests(name, tmp_path):
    model = copied(name, tmp_path)
    speeds = [f"{node.name}.{node.domain.across[0].name}" for node in model.network.nodes if node.domain.name in ("translational", "rotational")]
    found = model.transient(save=speeds, stop=1.0, from_="static")
    assert speeds and all(float(abs(found[each]).max()) < 1e-12 for each in speeds)


def test_every_model_is_tested_or_has_a_reason():
    told = [
        *ROWS,
        *AT_REST_ANYWHERE.split(),
        *(name for reasons in (AT_REST_NOWHERE, LEFT_OUT) for names in reasons.values() for name in names.split()),
    ]
    assert sorted(told) == ALL


@pytest.mark.parametrize("name", AT_REST_ANYWHERE.split())
def test_what_rests_anywhere_says_what_nothing_determines(name, tmp_path):
    found = copied(name, tmp_path).static()
    assert found.attrs["stability"] == "neutral" and found.attrs["free"]


@pytest.mark.parametrize("name", [name for names in AT_REST_NOWHERE.values() for name in names.split()])
def test_what_is_left_out_is_at_rest_nowhere(name, tmp_path):
    with pytest.raises((SimulationError, InputError), match=r"E44[01]|E30[0-9]|E509"):
        copied(name, tmp_path).static()
