"""Texts that were read before: their syntax trees as data."""
