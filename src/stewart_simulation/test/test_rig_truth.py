# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One instant of the plant at a time, whatever the writer is kept from."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import numpy as np
import pytest
from stewart_simulation.errors import RigError
from stewart_simulation.rig import truth
from stewart_simulation.rig.truth import TruthReader, TruthWriter

Ends = tuple[TruthWriter, TruthReader]


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    return TruthWriter(tmp_path / 'truth'), TruthReader(tmp_path / 'truth')


def write(writer: TruthWriter, value: float) -> None:
    six = np.full(6, value)
    state = np.array([value, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *six])
    writer.write(np.concatenate([(value, 1e9, value), state, six, six, six, six, np.zeros(6)]))


def test_instant_is_read_back_and_stays_readable_when_the_file_is_gone(
    ends: Ends, tmp_path: Path
) -> None:
    writer, reader = ends
    (tmp_path / 'truth').unlink()
    write(writer, 3.0)

    now = reader.read()

    assert (now.stamp, now.position[0], now.wall_offset) == (3.0, 3.0, 1e9)
    for values in (now.strokes, now.rates, now.forces, now.angular_acceleration):
        assert values.tolist() == [3.0] * 6 or values.tolist() == [3.0] * 3


def test_reader_waits_for_a_writer_that_was_interrupted(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = ends
    write(writer, 1.0)
    writer._number[0] += np.uint64(1)  # in the middle of the next instant
    writer._values[0] = 2.0

    def go_on(_pause: float) -> None:
        writer._number[0] += np.uint64(1)

    monkeypatch.setattr(truth.time, 'sleep', go_on)
    assert reader.read().stamp == 2.0


def test_a_reader_that_was_kept_away_itself_blames_nobody(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = ends
    write(writer, 1.0)
    # Between any two lines passes more than a writer is waited for.
    monkeypatch.setattr(truth.time, 'monotonic', count(0.0, 2.0 * truth.PATIENCE).__next__)

    assert reader.read().stamp == 1.0


def test_writer_that_died_in_the_middle_is_told(
    ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth, 'PATIENCE', 0.01)
    writer, reader = ends
    with pytest.raises(RigError, match='cannot be read'):
        reader.read()
    write(writer, 1.0)
    writer._number[0] += np.uint64(1)

    with pytest.raises(RigError, match='its writer has stopped'):
        reader.read()
    with pytest.raises(RigError, match='no truth of a virtual rig at'):
        TruthReader(tmp_path / 'absent')
