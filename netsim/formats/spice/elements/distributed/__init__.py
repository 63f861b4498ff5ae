"""Transmission lines, single and coupled."""
