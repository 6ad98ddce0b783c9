# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart teleop``: move the platform with the keys of a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import math
import os
import sys
import termios
import tty
from typing import TYPE_CHECKING

import numpy as np
from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.errors import BringupError
from stewart_bringup.verbs.graph import on_the_graph
from stewart_tables.numbers import positive_up_to
from stewart_tables.progress import LiveLine

if TYPE_CHECKING:
    from stewart_bringup.nodes.teleop_operator import TeleopOperator

HELP = 'move the platform with the keys of a terminal'

DETAILS = """
  w s  x forwards, backwards     i k  pitch down, up
  a d  y left, right             j l  roll left, right
  r f  z up, down                q e  yaw left, right
  + -  faster, slower            space  rest        Ctrl-C  rest and end

The drives must be enabled (stewart drive enable), and nothing else may move the platform. A key
counts until it is repeated or for 0.6 s, since a terminal tells nobody that a key was let go;
0.1 s after this program is gone the platform comes to rest. Limits slow it down.

examples:
  stewart teleop
  stewart teleop --rate 50 --turn 5
"""

# Axis of x, y, z, roll, pitch, yaw in base_link, and direction.
KEYS = {
    **{'w': (0, 1), 's': (0, -1), 'a': (1, 1), 'd': (1, -1), 'r': (2, 1), 'f': (2, -1)},
    **{'j': (3, -1), 'l': (3, 1), 'i': (4, 1), 'k': (4, -1), 'q': (5, 1), 'e': (5, -1)},
}
FASTER, SLOWER, REST = '+', '-', ' '
# Longer than a keyboard waits before it repeats a key [s].
HOLD = 0.6
STEP, LEAST, MOST = 1.25, 0.05, 20.0
MOST_AT_ONCE = 64


class Keys:
    """Which velocity the keys ask for.

    Args:
        rate, turn: Of one key at first [m/s], [rad/s].
    """

    def __init__(self, rate: float, turn: float) -> None:
        self._fastest, self._share = np.repeat([rate, turn], 3), 1.0
        self._twist, self._until = np.zeros(6), -math.inf

    def press(self, text: str, now: float) -> None:
        """Take what was typed up to an instant [s]; keys that mean nothing are passed over."""
        for key in text:
            if key in KEYS:
                axis, sign = KEYS[key]
                self._twist = np.zeros(6)
                self._twist[axis], self._until = sign, now + HOLD
            elif key == REST:
                self._until = -math.inf
            elif key in {FASTER, SLOWER}:
                factor = STEP if key == FASTER else 1.0 / STEP
                self._share = min(max(self._share * factor, LEAST), MOST)

    def twist(self, now: float) -> np.ndarray:
        """Return the velocity (6,) in ``base_link`` at an instant [s]; 0: rest [m/s, rad/s]."""
        return self._share * self._fastest * self._twist * float(now < self._until)

    def __str__(self) -> str:
        rate, turn = self._share * self._fastest[[0, 3]]
        return f'{_three_digits(1e3 * rate)} mm/s, {_three_digits(math.degrees(turn))} deg/s'


def _three_digits(value: float) -> str:
    """Return a number with three digits, from 100 on as a whole one."""
    return f'{value:.0f}' if value >= 100.0 else f'{value:.3g}'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    for name, most, unit, default in (('rate', 1e4, 'mm/s', 20.0), ('turn', 360.0, 'deg/s', 2.0)):
        parser.add_argument(
            f'--{name}',
            type=positive_up_to(most),
            default=default,
            metavar='R',
            help=f'velocity of one key at first, up to {most:g} [{unit}] (default: %(default)g)',
        )
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Turn keys into velocities until Ctrl-C."""
    if not sys.stdin.isatty():
        raise BringupError('teleop reads the keys of a terminal, and standard input is none')
    keys, line = Keys(1e-3 * arguments.rate, math.radians(arguments.turn)), LiveLine(sys.stdout)

    async def work(operator: TeleopOperator) -> None:
        with typed(sys.stdin.fileno()) as read:
            await operator.steer(keys, read, line.show)

    try:
        on_the_graph('teleop_operator:TeleopOperator', work, arguments.namespace)
    finally:
        line.end()
    return 0


@contextmanager
def typed(terminal: int) -> Iterator[Callable[[], str]]:
    """Yield a function that returns what was typed since its last call, without waiting for it.

    The terminal gets its settings back whatever happens. Ctrl-C stays a signal.
    """
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        at_once = termios.tcgetattr(terminal)
        at_once[6][termios.VMIN] = at_once[6][termios.VTIME] = 0
        termios.tcsetattr(terminal, termios.TCSANOW, at_once)
        yield lambda: os.read(terminal, MOST_AT_ONCE).decode(errors='ignore')
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
