# ruff: noqa: E501  (a line per domain reads best)
"""What practical models of the Modelica Standard Library use, and what says it here; `python tests/library/test_library_coverage.py` prints the table.

`ground` is the reference node of every domain and needs no component; names with `(` are ways of saying it that need none either. An empty entry
waits for events, delays or tables of signals.
"""

from netsim.library.files import collect, library_names
from netsim.text.parse import parse

COVERAGE = {
    "Electrical.Analog": "Ground=ground Resistor=resistor Conductor=conductor Capacitor=capacitor Inductor=inductor SaturatingInductor=saturating_inductor Transformer=coupled_inductors RotationalEMF=emf TranslationalEMF=voice_coil VariableResistor=variable_resistor IdealOpAmp3Pin=opamp IdealizedOpAmpLimited=clipping_opamp,supplied_opamp,limited_opamp OpAmpDetailed=data_sheet_opamp Thyristor=thyristor SimpleTriac=triac IdealDiode=ideal_diode IdealThyristor=ideal_thyristor IdealClosingSwitch=closing_switch IdealOpeningSwitch=opening_switch IdealTwoWaySwitch=two_way_switch CloserWithArc=closer_with_arc IdealTransformer=transformer Diode=exponential_diode,diode NMOS=simple_mosfet,mosfet NPN=simple_bjt,bjt ConstantVoltage=voltage SineVoltage=voltage PulseVoltage=voltage SignalVoltage=voltage SignalCurrent=current VoltageSensor=voltage_sensor CurrentSensor=current_sensor VCV=vcvs VCC=vccs CCV=ccvs CCC=cccs TLine1=lossless_line TLine2=lossless_line TLine3=lossless_line",
    "Translational": "Fixed=ground Mass=mass Rod=weld Spring=spring Damper=damper SpringDamper=spring_damper ElastoGap=elasto_gap SupportFriction=coulomb_friction MassWithStopAndFriction=stopped_mass Brake=linear_brake IdealGearR2T=rack_pinion IdealRollingWheel=rack_pinion Force=force Position=displacement Accelerate=acceleration Sensors=position_sensor,velocity_sensor,acceleration_sensor,force_sensor,power_meter",
    "Rotational": "Fixed=ground Inertia=inertia Spring=torsion_spring Damper=torsion_damper SpringDamper=torsion_spring_damper ElastoBacklash=damped_backlash BearingFriction=dry_bearing Brake=clutch Clutch=clutch OneWayClutch=one_way_clutch,braked_freewheel IdealGear=gear LossyGear=lossy_gear IdealPlanetary=planetary_gear IdealDifferential=differential Gearbox=rigid_gearbox IdealRollingWheel=rack_pinion Torque=torque Speed=speed Position=angle ConstantTorque=torque QuadraticSpeedDependentTorque=quadratic_load Sensors=angle_sensor,speed_sensor,angular_acceleration_sensor,torque_sensor,shaft_power_meter",
    "MultiBody": "World=ground Fixed=ground Body=body BodyShape=body,link BodyBox=box_body BodyCylinder=cylinder_body PointMass=point_mass FixedTranslation=spatial_weld FixedRotation=spatial_weld Rotor1D=rotor Mounting1D=rotor Revolute=revolute,revolute_driven Prismatic=prismatic,prismatic_driven Spherical=spherical Universal=universal Planar=planar_joint Cylindrical=cylindrical FreeMotion=body RevolutePlanarLoopConstraint=revolute UniversalSpherical=rod GearConstraint=geared_revolutes RollingWheel=rolling_wheel WorldForce=world_force,world_moment Force=line_force,body_force Torque=relative_moment,body_moment Spring=line_spring Damper=line_spring SpringDamperParallel=line_spring SpringDamperSeries=line_driven LineForceWithMass=line_mass LineForceWithTwoMasses=line_driven,line_mass BevelGear1D=rotor,gear AbsoluteSensor=marker,marker_sensor RelativeSensor=relative_marker,line_sensor CutForce=spatial_weld",
    "HeatTransfer": "HeatCapacitor=heat_capacity ThermalConductor=thermal_conductor ThermalResistor=thermal_resistor Convection=forced_convection BodyRadiation=body_radiation FixedTemperature=temperature PrescribedTemperature=temperature PrescribedHeatFlow=heat_flow,temperature_dependent_heat TemperatureSensor=temperature_sensor",
    "Fluid, hydraulics": "Boundary=pressure,coolant_reservoir Pipe=round_pipe,hydraulic_line,heated_pipe Valve=valve,coolant_valve Pump=centrifugal_pump,coolant_pump VolumeFlow=flow OpenTank=open_tank,coolant_tank Cylinder=cylinder CompliantVolume=volume,aerated_volume LaminarOrifice=sharp_orifice CheckValve=check_valve,spring_check_valve ReliefValve=relief_valve SpoolValve43=valve_43 DifferentialCylinder=double_acting_cylinder Accumulator=accumulator",
    "Magnetic": "Ground=ground ElectroMagneticConverter=winding ConstantReluctance=reluctance GenericFluxTube=core,saturating_core EddyCurrent=eddy_current AirGapWithForce=air_gap PermanentMagnet=permanent_magnet",
    "Blocks": "Integrator=integrator Derivative=derivative FirstOrder=first_order SecondOrder=second_order PI=pi PID=limited_pid TransferFunction=transfer_function StateSpace=state_space Add=sum Sum=sum3 Product=product Division=quotient Gain=gain Feedback=difference Limiter=limiter DeadZone=dead_zone SlewRateLimiter=slew_limiter Delay=delay VariableDelay= PadeDelay=pade_delay Switch=signal_switch Hysteresis=hysteresis Logic=logic_and,logic_or,logic_not UnitDelay=unit_delay ZeroOrderHold=sampler Sampler=sampler Table1D=curve Table2D=surface TimeTable=signal_source Constant=constant Step=signal_source Ramp=signal_source Sine=signal_source Pulse=signal_source Trapezoid=signal_source BooleanPulse=boolean_pulse KinematicPTP=point_to_point",
}  # fmt: skip


def rows():
    """(domain, name there, names here) of the list."""
    for domain, text in COVERAGE.items():
        for entry in text.split():
            name, _, ours = entry.partition("=")
            yield domain, name, tuple(ours.split(",")) if ours else ()


def test_what_the_table_names_is_there():
    library = collect(parse("\n".join(f"use {name}" for name in library_names()), "<all>"))
    known = {*library.components, *library.models, "ground"}
    assert {name for _, _, ours in rows() for name in ours} <= known


def test_most_of_the_list_is_covered():
    covered = [bool(ours) for _, _, ours in rows()]
    assert sum(covered) / len(covered) > 0.75


def details():
    """A Markdown table of each name there and what says it here."""
    lines = ["| domain | there | here |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {domain} | {name} | {', '.join(f'`{o}`' for o in ours) or '-'} |" for domain, name, ours in rows())])


def table():
    """A Markdown table of the list and what is missing."""
    lines = ["| domain | of the list | covered | waiting |", "| --- | --- | --- | --- |"]
    for domain in COVERAGE:
        mine = [(name, ours) for d, name, ours in rows() if d == domain]
        missing = [name for name, ours in mine if not ours]
        lines.append(f"| {domain} | {len(mine)} | {len(mine) - len(missing)} | {', '.join(missing) or '-'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print("# Coverage of the Modelica Standard Library\n")
    print("What practical models use of it, and what says it here; printed by `python tests/library/test_library_coverage.py`.\n")
    print(table(), details(), sep="\n\n")
