"""Cases of a sweep computed by the workers of a dask cluster."""
