"""Equilibrium: homotopy, potentials held by a faint conductance, values behind a discontinuity."""
