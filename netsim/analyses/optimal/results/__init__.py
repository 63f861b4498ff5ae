"""What comes of an optimisation: samples, the check by a forward run, the pointwise share."""
