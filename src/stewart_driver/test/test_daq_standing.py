# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Legs on a card stay where they stand, whatever is opened, switched on or off; off is off.

The amplifiers are stiff ones that take strokes and droop: a leg stands lower than it was told.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.card import CodeRange
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import CardError
from stewart_driver.rig_file import Channel, DaqCalibration, Rig, save_rig

pytestmark = pytest.mark.installed

# Stroke per volt [m/V].
GAIN = 0.016
DROOP = 1e-3


class DroopingCard:
    """A card, amplifiers and legs: also what `CardAccess` is to the back end."""

    def __init__(self, stroke: float, *, switches: bool) -> None:
        self.inputs, self.outputs = CodeRange(-10, 10, 65535), CodeRange(-10, 10, 16383)
        self.strokes, self.told = np.full(6, stroke), np.full(6, stroke + DROOP)
        self.live, self._switches = not switches, switches
        self.stamp, self.board = 0.0, 'drooping'
        self.largest_step, self.limp = 0.0, False

    def open(self, _options: Any, **_: Any) -> DroopingCard:
        return self

    def read(self) -> np.ndarray:
        return np.asarray(self.inputs.codes(self.strokes / GAIN))

    def write(self, codes: np.ndarray) -> None:
        before, self.told = self.told, GAIN * np.asarray(self.outputs.volts(codes))
        if self.live:
            self.largest_step = max(self.largest_step, float(np.abs(self.told - before).max()))
            if not self.limp:
                self.strokes = self.told - DROOP

    def switch(self, *, on: bool) -> None:
        self.live = on or not self._switches
        if self.live:
            self.strokes = self.told - DROOP

    def come_to(self, time: float) -> None:
        self.stamp = time

    def close(self) -> None:
        """Stay as it is."""


class Driven:
    """A control loop on such a card."""

    def __init__(self, folder: Path, stroke: float, *, switches: bool, upper: float) -> None:
        channels = (Channel(GAIN, 0.0, 5e-4),) * 6
        daq = DaqCalibration(channels, channels, datetime.date(2026, 11, 28), 'position')
        save_rig(folder / 'rig.yaml', Rig('ex800', daq=daq))
        options = DaqOptions(
            rig_file=str(folder / 'rig.yaml'),
            enable_channel=0 if switches else -1,
            stroke_upper=upper,
        )
        self.card = DroopingCard(stroke, switches=switches)
        backend: Any = DaqBackend(options, self.card)  # type: ignore[arg-type]
        descriptor = SharedBlock.allocate()
        self.node, block = SharedBlock(descriptor), SharedBlock(descriptor)
        os.close(descriptor)
        backend.open(0.0)
        self.card.largest_step = 0.0
        self.loop, self.now = ControlLoop(backend, CycleConfiguration(backend.limits), block), 0.0
        self.run(0.1)

    def run(self, duration: float) -> None:
        for _ in range(round(duration / 0.004)):
            self.loop.step(self.now)
            self.now += 0.004

    def ask(self, request: Request, value: float = 0.0) -> tuple[bool, str]:
        self.node.requests.push(code=request, value=value)
        self.run(0.004)
        (reply,) = self.node.replies.pop_all()
        self.run(0.5)
        return bool(reply['accepted']), reply['message']


@pytest.mark.parametrize('switches', [False, True])
def test_what_is_switched_on_and_off_again_and_again_does_not_sink(
    tmp_path: Path, *, switches: bool
) -> None:
    driven = Driven(tmp_path, 0.08, switches=switches, upper=0.16)
    places = []
    for _ in range(4):
        assert driven.ask(Request.ENABLE)[0]
        assert driven.loop.state is State.ENABLED
        places.append(float(driven.card.strokes[0]))
        assert driven.ask(Request.DISABLE)[0]
    # Where there is a switch, a leg sags when it comes on, by what it carries and no more.
    assert np.ptp(places) <= (3.0 * DROOP if switches else 0.0) + 1e-5
    assert driven.card.largest_step < 2e-5


@pytest.mark.parametrize('switches', [False, True])
def test_a_leg_outside_its_stroke_is_not_thrown_to_its_end(
    tmp_path: Path, *, switches: bool
) -> None:
    driven = Driven(tmp_path, 0.12, switches=switches, upper=0.10)
    assert np.abs(driven.card.strokes - 0.12).max() < 1.1 * DROOP
    assert driven.ask(Request.OVERRIDE, 1.0)[0]
    assert driven.ask(Request.ENABLE)[0]
    assert driven.loop.state is State.ENABLED
    assert np.abs(driven.card.strokes - 0.12).max() < 2.1 * DROOP
    assert driven.card.largest_step < 2e-5


def test_off_is_not_said_of_a_card_that_did_not_obey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = Driven(tmp_path, 0.08, switches=True, upper=0.16)
    assert driven.ask(Request.ENABLE)[0]

    def gone(*_: Any, **__: Any) -> None:
        raise CardError('/dev/comedi0', 'No such device')

    for call in ('read', 'write', 'switch'):
        monkeypatch.setattr(driven.card, call, gone)
    driven.run(0.02)
    assert driven.loop.state is State.FAULT
    accepted, said = driven.ask(Request.DISABLE)
    assert not accepted
    assert 'legs may still be under power, take the safe torque off' in said
    assert driven.card.live


def test_legs_that_fell_without_force_stay_down_once_the_amplifiers_are_off(
    tmp_path: Path,
) -> None:
    """Amplifiers that stay on would throw them up; which of the two lies nobody can tell."""
    driven = Driven(tmp_path, 0.08, switches=True, upper=0.16)
    assert driven.ask(Request.ENABLE)[0]
    driven.card.limp = True
    while driven.card.strokes[0] > 0.002:
        driven.card.strokes = driven.card.strokes - 5e-4
        driven.run(0.004)
    driven.run(0.2)
    assert driven.loop.state is State.FAULT
    accepted, said = driven.ask(Request.RESET_FAULT)
    assert not accepted
    assert said.endswith('to believe the sensor, disable first')
    assert driven.ask(Request.DISABLE)[0]
    driven.card.limp = False
    for request in (Request.RESET_FAULT, Request.ENABLE):
        accepted, said = driven.ask(request)
        assert accepted, said
    assert driven.loop.state is State.ENABLED
    assert driven.card.strokes.max() < 0.01
