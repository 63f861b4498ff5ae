"""Optimal motion by collocation: `run optimize(...)`."""
