# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import numpy as np
import pytest
from srs_bound import bound_rms, sensor_bound
from srs_simulated import AT_JOINT_CENTRE, simulate
from srs_study import settings_of
from stewart_estimation.replay import replay
from stewart_kinematics.errors import ConfigurationError

SETTLED = slice(1200, None)


def filtered(run, legs):
    """Return the covariances that the filter claims."""
    return replay(run.platform.geometry, settings_of(run), run.imu, legs).covariance


@pytest.mark.parametrize('mounting', [AT_JOINT_CENTRE, None])
def test_the_filter_claims_what_the_bound_allows_and_no_less(mounting):
    run = simulate('MP1', 3, mounting=mounting, duration=20.0)
    bound = bound_rms(sensor_bound(run)[SETTLED])
    claimed = filtered(run, run.legs)[SETTLED]
    # That the noise of an IMU sample acts on both sides of it the filter does not know.
    assert np.all(bound_rms(claimed) / bound > 0.99)
    assert np.all(bound_rms(claimed) / bound < 1.05)


def test_a_missing_leg_is_one_that_says_nothing():
    run = simulate('MP1', 3, mounting=AT_JOINT_CENTRE, duration=4.0)
    used = np.ones((len(run.legs), 6), dtype=bool)
    used[200:300, 1] = False
    bound, whole = sensor_bound(run, used), sensor_bound(run)
    assert np.array_equal(bound[:200], whole[:200])
    assert np.all(np.linalg.eigvalsh(bound[299] - whole[299])[-1] > 0.0)
    lengths = np.where(used, run.legs.lengths, np.nan)
    legs = type(run.legs)(run.legs.stamps, lengths)
    claimed = filtered(run, legs)[299]
    np.testing.assert_allclose(np.sqrt(np.diagonal(bound[299] / claimed)[:9]), 1.0, atol=0.06)


def test_two_clocks_are_refused():
    run = simulate('MP1', 3, mounting=AT_JOINT_CENTRE, duration=1.0, leg_offset=0.003)
    with pytest.raises(ConfigurationError, match='same instants'):
        sensor_bound(run)
