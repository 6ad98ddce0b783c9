# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import pytest
from stewart_node_support.errors import StartUpError
from stewart_node_support.only_here import only_here


def test_of_two_rigs_that_start_at_once_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before either driver has said anything that the other could hear."""
    # Without ROS the tests have no domain of their own, and a rig may run in that of everybody.
    monkeypatch.setenv('ROS_DOMAIN_ID', f'of test {os.getpid()}')
    with only_here(''):
        there = 'another rig runs in the namespace / already'
        with pytest.raises(StartUpError, match=there), only_here('/'):
            pass
        with only_here('elsewhere'), only_here('/elsewhere' * 20):
            pass
    with only_here(''):
        pass
