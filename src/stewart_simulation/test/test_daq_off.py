# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is live although it is off, and how far a leg goes while nobody sets the outputs."""

from __future__ import annotations

from pathlib import Path
import re

from card_bench import Bench
import numpy as np
import pytest
from stewart_driver.backend import Measurement
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Request, State
from stewart_driver.daq.backend import DaqBackend
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.options import DaqOptions
from stewart_driver.errors import CardError, ConfigurationError, DriverError
from stewart_driver.legs import Array
from stewart_driver.path.motion import LegMotion
from stewart_simulation.daq_card.analog_rig import Mode

pytestmark = pytest.mark.installed

ZERO = np.zeros(6)
ALL = 0b111111


def step(bench: Bench, rate: float = 0.0) -> Measurement:
    bench.wait(bench.backend.cycle_time)
    here = bench.drives.strokes.copy()
    targets = LegMotion(0.0, here, np.full(6, rate), ZERO)
    return bench.backend.exchange(targets, bench.now)


def enabled(bench: Bench) -> Bench:
    bench.backend.open(bench.now)
    bench.backend.enable()
    while not step(bench).enabled:
        assert bench.now < 101.0
    for _ in range(50):
        step(bench)
    return bench


def test_a_velocity_amplifier_with_an_offset_does_not_creep_while_off(tmp_path: Path) -> None:
    """No output of the card switches it: off is what its volts say."""
    bench = Bench(tmp_path, Mode.VELOCITY, enable_channel=-1)
    offset = float(np.abs(bench.settings.command_offsets).max())
    assert offset > 3e-3
    enabled(bench).backend.disable()
    for _ in range(50):
        step(bench)
    before = bench.drives.strokes.copy()

    for _ in range(500):
        measured = step(bench)

    creep = float(np.abs(bench.drives.strokes - before).max()) / 2.0
    print(f'\noffset {1e3 * offset:.2f} mm/s, creeps by {1e3 * creep:.3f} mm/s while off')
    assert creep < 2.5e-4
    assert measured.live == ALL


@pytest.mark.parametrize('mode', list(Mode), ids=lambda mode: mode.value)
def test_without_an_enable_output_all_is_live_and_it_is_said(tmp_path: Path, mode: Mode) -> None:
    bench = Bench(tmp_path, mode, enable_channel=-1)
    bench.backend.open(bench.now)

    assert step(bench).live == ALL
    off = {
        Mode.POSITION: 'live amplifiers that hold the last strokes',
        Mode.VELOCITY: r'live amplifiers at rate zero, calibrated within 0\.\d+ mm/s',
    }[mode]
    assert re.fullmatch(off, bench.backend.details['off means'])
    assert re.fullmatch(
        f'no output of this card switches the amplifiers: off means {off}', bench.backend.why_live
    )
    # Told after a start; who switches off is told by the node.
    assert bench.backend.notes == bench.backend.why_live


def test_with_an_enable_output_live_is_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, Mode.VELOCITY)
    bench.backend.open(bench.now)
    assert (step(bench).live, bench.backend.notes) == (0, '')
    assert bench.backend.details['off means'] == 'digital output 0 is low'
    bench.backend.enable()
    # Under voltage already, while it does not follow yet.
    measured = step(bench)
    assert (measured.live, measured.enabled) == (ALL, False)
    bench.backend.disable()
    assert step(bench).live == 0
    bench.backend.enable()
    with monkeypatch.context() as broken:
        broken.setattr(AnalogCard, 'switch', _refuse)
        with pytest.raises(CardError):
            bench.backend.disable()
    assert step(bench).live == ALL


def _refuse(*_: object, **__: object) -> None:
    raise CardError('bench', 'switching the amplifiers failed: Input/output error')


@pytest.mark.parametrize(('rate', 'runaway'), [(0.5, 0.05), (0.2, 0.05), (0.1, 0.015)])
def test_a_hang_moves_a_velocity_leg_by_what_is_allowed_at_most(
    tmp_path: Path, rate: float, runaway: float
) -> None:
    """The whole hang as it may come: a stall that is seen late, and a slow call of the rescue."""
    bench = enabled(Bench(tmp_path, Mode.VELOCITY, rate=rate, largest_runaway=runaway))
    limit = bench.backend.stall_limit
    for _ in range(20):
        step(bench, rate)
    # The last call before the hang is as slow as is just allowed.
    bench.faults.slow(0.99 * bench.options.longest_call)
    before = bench.drives.strokes.copy()

    bench.wait(limit)
    bench.wires[-1].close()
    rescuer = DaqBackend(bench.options, bench.backend._access)
    rescuer.rescue()
    bench.advance()

    moved = float(np.abs(bench.drives.strokes - before).max())
    print(f'\n{rate} m/s: a stall of {1e3 * limit:.0f} ms moves a leg by {1e3 * moved:.1f} mm')
    assert moved < runaway
    assert bench.amplified() == pytest.approx(ZERO, abs=3e-4)


def test_a_rate_at_which_a_hang_goes_too_far_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r'rate: expected at most 0.521 m/s: a leg may'):
        DaqOptions(mode='velocity', rate=0.6)
    with pytest.raises(ConfigurationError, match='a leg may run on by largest_runaway = 50 mm'):
        DaqOptions(mode='velocity', longest_call=0.25)
    # A position amplifier rests at its last voltage, however long that stands.
    assert DaqOptions(rate=0.6, longest_call=0.25).stall_limit == float('inf')


def test_a_reference_that_the_kernel_driver_ignores_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Mode.POSITION, reference='diff')
    with pytest.raises(ConfigurationError, match='reference: expected ground, for addi_apci_3120'):
        bench.backend.open(bench.now)


def test_calls_of_the_card_are_late_now_and_then_and_always_the_same(tmp_path: Path) -> None:
    def lateness() -> list[float]:
        bench = Bench(tmp_path, Mode.POSITION)
        bench.backend.open(bench.now)
        found = []
        for _ in range(1500):
            before = bench.now
            step(bench)
            found.append(bench.now - before - bench.backend.cycle_time)
        return found

    first = lateness()
    late = [value for value in first if value > 1e-9]
    assert 0 < len(late) < 30
    assert max(late) < 0.02
    assert first == lateness()


def stuck_after(bench: Bench, distance: float) -> Array:
    """Move all legs until the fault of leg 3, which is stuck, then rest; return the targets."""
    start = enabled(bench).drives.strokes.copy()
    bench.faults.apply('stick', leg=3)
    for share in (0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 250))).tolist() + [1.0] * 100:
        bench.wait(bench.backend.cycle_time)
        targets = start + share * distance
        measured = bench.backend.exchange(LegMotion(0.0, targets, ZERO, ZERO), bench.now)
    assert measured.fault is not None
    assert 'position sensor of leg 3' in str(measured.fault)
    return targets


def moves(bench: Bench, targets: Array) -> float:
    """Return how far legs go within half a second of following targets [m]."""
    before, most = bench.drives.strokes.copy(), 0.0
    for _ in range(125):
        bench.wait(bench.backend.cycle_time)
        bench.backend.exchange(LegMotion(0.0, targets, ZERO, ZERO), bench.now)
        most = max(most, float(np.abs(bench.drives.strokes - before).max()))
    return most


@pytest.mark.parametrize('enable_channel', [-1, 0])
def test_a_stuck_sensor_is_not_trusted_again_while_its_amplifier_holds_another_stroke(
    tmp_path: Path, enable_channel: int
) -> None:
    bench = Bench(tmp_path, Mode.POSITION, enable_channel=enable_channel)
    targets = stuck_after(bench, 0.02)

    for bring_back in (bench.backend.reset_fault, bench.backend.enable):
        with pytest.raises(DriverError, match=r'the sensor of leg 3 says .* its amplifier'):
            bring_back()
    assert moves(bench, targets) < 1e-4

    bench.faults.apply('mend')
    bench.backend.reset_fault()
    bench.backend.enable()
    assert moves(bench, targets) < 1e-4


def test_a_reset_that_would_not_hold_is_refused(tmp_path: Path) -> None:
    bench = enabled(Bench(tmp_path, Mode.VELOCITY))
    bench.faults.apply('saturate', leg=4, end='low')
    assert step(bench).fault is not None

    with pytest.raises(DriverError, match=r'position sensor of leg 4: .*; mend it first'):
        bench.backend.reset_fault()

    bench.faults.apply('mend')
    bench.backend.reset_fault()
    assert step(bench).fault is None


def test_the_loop_goes_on_measuring_where_a_sensor_kept_it_from_enabling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, Mode.POSITION, enable_channel=-1)
    bench.backend.open(bench.now)
    block = SharedBlock(SharedBlock.allocate())
    loop = ControlLoop(bench.backend, CycleConfiguration(bench.limits), block)

    def run(cycles: int) -> None:
        for _ in range(cycles):
            bench.wait(bench.backend.cycle_time)
            loop.step(bench.now)
            loop.serve()

    def contradict() -> None:
        raise DriverError('the sensor of leg 3 says another stroke')

    run(5)
    with monkeypatch.context() as patch:
        patch.setattr(bench.backend, '_require_sound', contradict)
        block.requests.push(code=Request.ENABLE)
        run(5)
        (reply,) = block.replies.pop_all()
        assert not reply['accepted']
        assert 'the sensor of leg 3 says another stroke' in reply['message']
        assert loop.state is State.FAULT
        block.samples.pop_all()
        run(20)
        assert len(list(block.samples.pop_all())) > 10
    block.requests.push(code=Request.RESET_FAULT)
    run(5)
    assert [reply['accepted'] for reply in block.replies.pop_all()] == [True]
    assert loop.state is State.DISABLED
