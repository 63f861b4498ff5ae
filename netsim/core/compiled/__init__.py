"""Compiled functions kept on disk, call tables of kernels, arrays behind one address."""
