# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Play a short sea on a whole rig in lock-step, recorded: `simulated_session.py BAG SEED RIG`.

It prints the figures of the report.
"""

from __future__ import annotations

import json
from pathlib import Path
import sys

from stewart_bringup.demo.analysis import analyse, summary
from stewart_bringup.demo.recording import read_recording
from stewart_bringup.demo.scenarios import Scenario, SIMULATED, WAVES
from stewart_bringup.demo.session import play, Played
from stewart_node_support.stop_signals import StopSignals

DURATION = 1.0
# Long enough for the sensor to be up meanwhile [s].
FADE = 1.25
SEA = WAVES['jonswap']
# A machine with simulated drives, and one behind its card and its sensor.
VIGO, EX800_DAQ = 'vigo', 'ex800_daq'


class Soon(Scenario):
    """A sea that ends sooner than one that is looked at."""

    def overrides(self) -> dict[str, dict[str, object]]:
        """Return the parameters that win over the files, by node."""
        return {SEA.node: {'seed': self.seed, 'fade_in': FADE, 'fade_out': FADE}}


def scenario_of(rig: str, seed: int) -> Scenario:
    """Return what is played; the seed is that of the sea."""
    if rig == VIGO:
        return Soon('vigo', SEA, DURATION, seed, SIMULATED)
    return Soon('ex800', SEA, DURATION, seed, 'daq', time='simulated')


def session(bag: Path, seed: int, rig: str) -> Played:
    """Play and record.

    Args:
        bag: Where to record; must not exist.
        seed: Of the sea.
        rig: `VIGO` or `EX800_DAQ`.

    Returns:
        What the process knows of it.
    """
    played = play(scenario_of(rig, seed), bag, lambda _phase, _played: None, StopSignals())
    assert played is not None
    return played


def figures(bag: Path, played: Played) -> str:
    """Return what the report says of a recording, as JSON."""
    result = analyse(read_recording(bag), played.published, played.scenario.bounds)
    traffic = [(item.topic, item.published, item.recorded) for item in result.traffic]
    checks = [(check.sentence, check.verdict) for check in result.checks]
    return json.dumps({'errors': summary(result), 'traffic': traffic, 'checks': checks})


if __name__ == '__main__':
    bag = Path(sys.argv[1])
    print(figures(bag, session(bag, int(sys.argv[2]), sys.argv[3])))
