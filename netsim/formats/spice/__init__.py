"""Circuits in SPICE's language: read as cards (`cards`, `numbers`, `expressions`), sorted into subcircuits (`blocks`),
and written as a netlist.

What an element is called here: `devices`, `sources`, `semiconductors`; what is to be done with the circuit: `analyses`;
all of it together: `netlist`.
"""
