"""Variational equations of a run."""
