"""Stages of consistent points, laid out once as arrays and calls."""
