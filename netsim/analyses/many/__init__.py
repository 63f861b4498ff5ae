"""Many runs of one network: ranges, fits, sweeps."""
