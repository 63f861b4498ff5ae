"""A run: its options, its methods, the loop around the compiled loop, and what happens where a step fails."""
