"""Stages of consistent points: solved by Newton's method as they stand, or laid out once as arrays and calls."""
