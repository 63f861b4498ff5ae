"""Samples of a run: selected signals, trajectories, measures, claims, files."""
