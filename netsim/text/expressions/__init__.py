"""Expressions with dimensions: operations, functions of one and of several variables, shape functions of beams."""
