"""Functions of time: whether their parts fit."""
