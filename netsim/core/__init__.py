"""Everything compiled that does not depend on the model: Newton, consistent points, error scales, delays, on flat
arrays."""
