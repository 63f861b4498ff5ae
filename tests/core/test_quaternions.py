"""Quaternions of rotation matrices are SciPy's, whichever component is the largest."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from netsim.core.rotation import quaternion_of


@pytest.mark.parametrize("largest", range(4))
def test_a_quaternion_is_that_of_scipy(largest):
    rng = np.random.default_rng(largest)
    for _ in range(50):
        matrix = Rotation.from_quat(np.roll(np.append(rng.uniform(-0.4, 0.4, 3), 1.0), largest)).as_matrix()
        assert np.abs(quaternion_of(matrix) - Rotation.from_matrix(matrix).as_quat(scalar_first=True)).max() < 4e-16
