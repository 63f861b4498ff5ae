"""One file an analysis: transient, static, modal, recursion, inverse."""
