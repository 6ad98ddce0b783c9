# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play a short sea on the whole simulated rig and record it: `simulated_session.py BAG SEED`."""

from __future__ import annotations

from pathlib import Path
import sys

from stewart_bringup.demo.scenarios import Scenario, SIMULATED, WAVES
from stewart_bringup.demo.session import play, Played
from stewart_node_support.stop_signals import StopSignals

DURATION = 2.0


def session(bag: Path, seed: int) -> Played:
    """
    Play and record.

    Parameters
    ----------
    bag : Path
        Where to record; must not exist.
    seed : int
        Of the sea.

    Returns
    -------
    Played
        What the process knows of it.

    """
    scenario = Scenario('vigo', WAVES['jonswap'], DURATION, seed, SIMULATED)
    played = play(scenario, bag, lambda _phase, _played: None, StopSignals())
    assert played is not None
    return played


if __name__ == '__main__':
    session(Path(sys.argv[1]), int(sys.argv[2]))
