"""The parts of a step of Radau IIA: its arrays, its complex matrix, its stages."""
