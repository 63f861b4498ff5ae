"""Programs of a form: reference in NumPy, machine code by LLVM, and the parts that parameters alone determine."""
