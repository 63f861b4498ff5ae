"""The parts of a step of BDF: its backward differences, the stability of its orders."""
