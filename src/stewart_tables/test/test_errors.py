# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that one process raises and another one tells."""

from __future__ import annotations

import pickle

import pytest
from stewart_tables.errors import ConfigurationError, ParameterError, StewartError


@pytest.mark.parametrize(
    'error', [ConfigurationError('rate', 0.0, '1 or more'), ParameterError('rate', 'fast', 'Hz')]
)
def test_an_error_is_the_same_in_the_next_process(error: StewartError) -> None:
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
