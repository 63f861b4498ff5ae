"""Files of other programs, written as syntax trees: SPICE circuits, URDF robots."""
