"""Derivatives of a run with respect to parameters and starts."""
