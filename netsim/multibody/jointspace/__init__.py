"""Mechanisms in joint coordinates: the spatial bodies of a network as a tree whose frames follow from the coordinates
of its joints.

`joints` says what a component's joint is made of, `deflections` how the end of a link bends, `spanning` finds the tree,
`numbering` gives it unknowns, `pattern` says where forces and matrix entries of bodies go, `plan` is what the compiled
element works on, `recursion` and `flexible` are it, `entries` its step matrix, `element` joins it to a machine, `start`
translates points. See docs/recursion.md.
"""
