"""A network whose bodies form a tree, handed to the recursions of `netsim.multibody.tree`, and their motion handed back
to the network.

`inertias` takes masses from the energies of components, `bodies` builds the tree with what is known of each coordinate,
`states` translates positions and velocities both ways, `runge_kutta` integrates. See docs/recursion.md.
"""
