"""Cases of a sweep side by side in one run."""
