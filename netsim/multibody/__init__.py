"""Trees of rigid and flexible bodies: recursive algorithms, joint coordinates of a network, superelements."""
