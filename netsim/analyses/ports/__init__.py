"""Networks seen from their ports."""
