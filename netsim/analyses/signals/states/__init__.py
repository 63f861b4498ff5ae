"""How many states a linear network has, and its poles and state space."""
