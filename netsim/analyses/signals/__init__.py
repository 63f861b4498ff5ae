"""Small signals about a point, and steady oscillations."""
