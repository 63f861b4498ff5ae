"""What a run is given before its first step: formulation, start, sizes, kinds, features of prescribed inputs,
arrays."""
