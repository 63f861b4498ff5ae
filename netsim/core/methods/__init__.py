"""The integration methods, one file each: `step`, `on_accept`, `dense_output` (netsim.core.contract)."""
