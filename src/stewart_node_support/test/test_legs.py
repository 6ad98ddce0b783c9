# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One leg state message that is filled anew says what a new one says."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from rclpy.serialization import serialize_message
from stewart_node_support.conversions import header_msg
from stewart_node_support.errors import MessageError
from stewart_node_support.legs import leg_state_msg, LegStateMessage
from stewart_node_support.stamps import from_nanoseconds

SIX = np.arange(6) / 7.0


def test_filled_anew_it_is_what_a_new_one_is() -> None:
    message = LegStateMessage()
    # What a message before has said does not stay.
    said = [(SIX, -SIX, 2.0 * SIX), (SIX, -SIX, None), (None, None, SIX)]
    for number, arrays in enumerate(said):
        stamp = from_nanoseconds(1_700_000_000_000_000_000 + number)
        filled = message.filled(stamp, *arrays)
        new = leg_state_msg(header_msg(stamp, ''), *arrays)
        assert serialize_message(filled) == serialize_message(new)


def test_an_array_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(MessageError, match=r'effort of six legs has shape \(6,\), got \(5,\)'):
        LegStateMessage().filled(from_nanoseconds(0), effort=SIX[:5])
