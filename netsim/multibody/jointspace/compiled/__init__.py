"""The compiled element of a tree: motion of the bodies, forces and entries along joint coordinates."""
