# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The control loop stepped inline: same commands, same bits, and requests between two cycles."""

from __future__ import annotations

from unittest.mock import Mock

from loopback import LoopbackBackend, LoopbackOptions, Trouble
import numpy as np
import pytest
from stewart_driver.control.configuration import (
    CycleConfiguration,
    InterpolationSettings,
    SupervisionSettings,
)
from stewart_driver.control.cycle_link import Sample
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.state_machine import Request, State
from stewart_driver.errors import ConfigurationError, TransportError
from stewart_driver.path.motion import LegMotion

START = 1_000_000_000
PERIOD = 2_000_000
SPEEDS = np.array([0.10, -0.05, 0.02, 0.08, -0.10, 0.01])
REST = 0.3


class Metal(LoopbackBackend):
    """A back end that says that it moves metal."""

    simulated = False


def inline(trouble: Trouble = Trouble.NONE) -> InlineCycle:
    backend = LoopbackBackend(LoopbackOptions(trouble=trouble.value))
    configuration = CycleConfiguration(
        backend.limits, InterpolationSettings(), SupervisionSettings(), publish_every=1
    )
    return InlineCycle(backend, configuration, START)


def ride(loop: InlineCycle, duration: float) -> list[Sample]:
    """Enable, then speed all legs up for a second; setpoints come every 5 ms."""
    loop.advance(START)
    assert loop.request(Request.ENABLE)[0]
    samples = []
    for step in range(round(duration / 0.005)):
        now = 0.1 + 0.005 * step
        rise = min(now - 0.1, 1.0)
        stamp_ns = START + round(1e9 * now)
        loop.advance(stamp_ns)
        strokes = REST + SPEEDS * (0.5 * rise**2 + max(now - 1.1, 0.0))
        loop.offer(LegMotion(stamp_ns / 1e9, strokes, SPEEDS * rise))
        samples += loop.samples()
    return samples


def test_two_runs_are_the_same_to_the_bit() -> None:
    first, second = ride(inline(), 1.5), ride(inline(), 1.5)

    assert len(first) == len(second) > 700
    for one, other in zip(first, second, strict=True):
        assert one.stamp == other.stamp
        assert one.strokes.tobytes() == other.strokes.tobytes()
        assert one.rates.tobytes() == other.rates.tobytes()


def test_the_path_is_played_a_playout_delay_later() -> None:
    samples = ride(inline(), 1.5)
    late = InterpolationSettings().playout_delay

    told = [sample for sample in samples[400:] if sample.commanded_strokes is not None]
    assert len(told) > 200
    for sample in told:
        rise = sample.stamp - START / 1e9 - 0.1 - late
        expected = REST + SPEEDS * (0.5 * min(rise, 1.0) ** 2 + max(rise - 1.0, 0.0))
        np.testing.assert_allclose(sample.commanded_strokes, expected, atol=2e-6)


def test_requests_are_answered_between_two_cycles() -> None:
    loop = inline()

    accepted, why = loop.request(Request.ENABLE)
    assert not accepted
    assert 'not been measured' in why
    loop.advance(START + 10 * PERIOD)
    assert loop.cycles == 11
    assert loop.request(Request.ENABLE)[0]
    loop.advance(START + 12 * PERIOD)
    assert [change.state for change in loop.state_changes()][-1] is State.ENABLED


def test_drives_that_cannot_be_asked_to_come_on_are_a_fault_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = inline()
    loop.advance(START)
    monkeypatch.setattr(LoopbackBackend, 'enable', Mock(side_effect=TransportError('no wire')))

    assert loop.request(Request.ENABLE) == (False, 'no wire')
    changes = loop.state_changes()
    assert changes[-1].state is State.FAULT
    assert changes[-1].reason == 'no wire'


def test_the_back_end_knows_before_it_is_opened_to_what_the_legs_are_kept() -> None:
    """Drives have ends of their own (607Dh), which were those of the drive type."""
    with pytest.raises(TransportError, match=r'kept to 0\.6 m/s'):
        inline(Trouble.NOT_OPENED)


def test_silence_stops_the_legs_and_end_switches_them_off() -> None:
    loop = inline()
    ride(loop, 1.2)
    loop.end()

    told = [change.state for change in loop.state_changes()]
    assert State.STOPPING in told[-3:]
    assert told[-1] is State.DISABLED
    last = list(loop.samples())[-1]
    assert np.all(np.abs(last.rates) < 1e-12)
    assert not loop.alive
    cycles = loop.cycles
    loop.advance(START + 10_000 * PERIOD)
    assert loop.cycles == cycles


def test_a_gentle_stop_takes_the_time_that_it_needs() -> None:
    """At 0.25 m/s and 0.3 m/s² legs come to rest after 1.25 s, and have power until then."""
    backend = LoopbackBackend(LoopbackOptions(start=0.5))
    limits = backend.limits.narrowed(acceleration=0.6)
    loop = InlineCycle(backend, CycleConfiguration(limits), START)
    loop.advance(START)
    assert loop.request(Request.ENABLE)[0]
    for step in range(300):
        now = 0.1 + 0.005 * step
        stamp_ns = START + round(1e9 * now)
        loop.advance(stamp_ns)
        rise = min(now - 0.1, 1.0)
        strokes = 0.5 - 0.25 * np.ones(6) * (0.5 * rise**2 + max(now - 1.1, 0.0))
        loop.offer(LegMotion(stamp_ns / 1e9, strokes, -0.25 * rise * np.ones(6)))
    moving = len(backend.targets)
    loop.end()

    stop = np.array([target.strokes for target in backend.targets[moving - 2 :]])
    rates = np.diff(stop, axis=0) / 0.002
    assert np.abs(rates[0]).max() == pytest.approx(0.25, rel=1e-3)
    assert np.abs(rates[-1]).max() == 0.0
    assert np.abs(np.diff(rates, axis=0)).max() / 0.002 <= 0.3 * (1 + 1e-6)
    assert len(stop) * 0.002 == pytest.approx(1.25 + 0.1, abs=0.02)
    assert loop.state_changes()[-1].state is State.DISABLED


def test_a_quick_stop_is_obeyed_at_once() -> None:
    loop = inline()
    ride(loop, 1.2)

    assert loop.quick_stop()[0]
    assert [change.state for change in loop.state_changes()][-1] is State.STOPPING


def test_time_that_jumps_is_not_made_up_for() -> None:
    loop = inline()
    loop.advance(START)
    loop.advance(START + 60_000_000_000)

    assert loop.cycles == 2
    assert loop.counters().overruns == 29_999


def test_metal_follows_no_simulated_time() -> None:
    backend = Metal(LoopbackOptions())

    with pytest.raises(ConfigurationError, match='simulated back end'):
        InlineCycle(backend, CycleConfiguration(backend.limits), START)
