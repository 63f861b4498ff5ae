"""SPICE's devices, sources, switches, coupled coils and semiconductors, each as elements of the library."""
