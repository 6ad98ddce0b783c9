# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
import io
import os
import termios

import numpy as np
import pytest
from stewart_bringup.errors import BringupError
from stewart_bringup.verbs.teleop import HOLD, Keys, main, typed


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The keyboard's side of a terminal, and the program's."""
    keyboard, program = os.openpty()
    yield keyboard, program
    os.close(keyboard)
    os.close(program)


def test_a_key_counts_until_it_is_repeated_or_for_its_time() -> None:
    keys = Keys(0.02, 0.1)
    keys.press('r', 1.0)
    np.testing.assert_allclose(keys.twist(1.0 + 0.9 * HOLD), [0, 0, 0.02, 0, 0, 0])
    keys.press('e', 1.0 + 0.9 * HOLD)
    np.testing.assert_allclose(keys.twist(1.0 + 1.8 * HOLD), [0, 0, 0, 0, 0, -0.1])
    assert not keys.twist(1.0 + 2.0 * HOLD).any()


def test_space_rests_at_once_and_other_keys_mean_nothing() -> None:
    keys = Keys(0.02, 0.1)
    keys.press('w?\x1b[A', 0.0)
    assert keys.twist(0.1)[0] == pytest.approx(0.02)
    keys.press(' ', 0.1)
    assert not keys.twist(0.1).any()


def test_plus_and_minus_change_the_speed_of_all_keys_within_bounds() -> None:
    keys = Keys(0.02, 0.1)
    assert str(keys) == '20 mm/s, 5.73 deg/s'
    keys.press('+w', 0.0)
    assert keys.twist(0.0)[0] == pytest.approx(0.025)
    keys.press('-' * 99, 0.0)
    assert keys.twist(0.0)[0] == pytest.approx(0.05 * 0.02)


def test_a_fast_velocity_is_shown_as_a_whole_number() -> None:
    assert str(Keys(1.2345, 2.0)) == '1234 mm/s, 115 deg/s'
    assert str(Keys(0.09996, 0.1)) == '100 mm/s, 5.73 deg/s'


def test_the_terminal_is_read_without_waiting_and_gets_its_settings_back(
    terminal: tuple[int, int],
) -> None:
    keyboard, program = terminal
    before = termios.tcgetattr(program)

    def read_and_fail() -> None:
        with typed(program) as read:
            assert not read()
            os.write(keyboard, b'wr+')
            assert read() == 'wr+'
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_and_fail()
    assert termios.tcgetattr(program) == before


def test_without_a_terminal_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('sys.stdin', io.StringIO())
    with pytest.raises(BringupError, match='standard input is none'):
        main(Namespace(rate=20.0, turn=2.0, namespace=''))
