"""The integration methods, one file each: `attempt`, `accepted`, `between` (netsim.core.contract)."""
