"""The symbolic form of a component: its equations, Lagrange's equations, events and delays."""
